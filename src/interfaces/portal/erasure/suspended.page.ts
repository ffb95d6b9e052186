import type { Context } from '../../../domain/context.ts'
import { type Html, html } from '../../../html/html.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { time } from '../kit/formatting.ts'
import { type Page, pathOf } from '../kit/layout.ts'

type Facts = {
  ctx: Context
  erasesAt: Date
  /** For owners: assessments that they can still export. Null for other members, who can do nothing. */
  assessments: readonly { id: string; name: string }[] | null
}

/** Shown instead of every page of a suspended organization. */
export const suspendedPage = ({ ctx, erasesAt, assessments }: Facts): Page => ({
  title: `${ctx.organization.name} will be erased`,
  body: html`<p>This organization and everything in it will be erased on ${time(erasesAt)}. Until then it is suspended.</p>
${assessments ? ownersPart(ctx, assessments) : html`<p>Its owners have been emailed, and can still keep it.</p>`}
<p><a href="${PORTAL_PREFIX}">Go to the portal</a></p>`,
})

const ownersPart = (ctx: Context, assessments: readonly { id: string; name: string }[]): Html =>
  html`<form method="post" action="${pathOf(ctx, 'hold/keep')}"><button class="btn btn-primary">Keep the organization</button></form>
<p class="hint">Then everything works as before.</p>
<h2>Export first</h2>
<ul class="space-y-2">
${exportItem(ctx, 'invites/export', 'Invites')}${exportItem(ctx, 'members/export', 'Members')}${exportItem(ctx, 'settings/audit-log/export', 'Audit log')}${assessments.map(({ id, name }) => exportItem(ctx, `results/assessments/${id}/export`, `Grades: ${name}`))}</ul>`

const exportItem = (ctx: Context, path: string, label: string): Html =>
  html`<li><form method="post" action="${pathOf(ctx, path)}"><button class="btn btn-sm">${label}, as CSV</button></form></li>\n`
