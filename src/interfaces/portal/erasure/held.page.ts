import type { Context } from '../../../domain/context.ts'
import { type Html, html } from '../../../html/html.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { time } from '../kit/wording.ts'

type Facts = {
  ctx: Context
  erasesAt: Date
  /** Of an owner: what they can export meanwhile. Null: others can do nothing. */
  assessments: readonly { id: string; name: string }[] | null
}

/** What stands in the stead of each page of an organization on hold. */
export const heldPage = ({ ctx, erasesAt, assessments }: Facts): Page => ({
  title: `${ctx.organization.name} will be erased`,
  body: html`<p>This organization and everything in it will be erased on ${time(erasesAt)}. Until then it is on hold.</p>
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
