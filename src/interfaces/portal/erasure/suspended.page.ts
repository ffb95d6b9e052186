import type { Context } from '../../../domain/context.ts'
import { type Html, html } from '../../../html/html.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { time } from '../kit/formatting.ts'
import { type Page, pathOf } from '../kit/layout.ts'

type Suspension = { reason: string; erasesAt: Date | null; movedTo: string | null }
type Facts = {
  ctx: Context
  suspension: Suspension
  /** For owners: assessments that they can still export. Null for other members, who can do nothing. */
  assessments: readonly { id: string; name: string }[] | null
}

/** Shown instead of every page of a suspended organization. */
export function suspendedPage({ ctx, suspension, assessments }: Facts): Page {
  const { title, body } = explain(ctx, suspension, assessments !== null)
  return {
    title,
    body: html`${body}
${assessments && exportsOf(ctx, assessments)}
<p><a href="${PORTAL_PREFIX}">Go to the portal</a></p>`,
  }
}

function explain(ctx: Context, { reason, erasesAt, movedTo }: Suspension, isOwner: boolean): Page {
  const { name } = ctx.organization
  if (erasesAt)
    return {
      title: `${name} will be erased`,
      body: html`<p>This organization and everything in it will be erased on ${time(erasesAt)}. Until then it is suspended.</p>
${isOwner ? keepForm(ctx) : html`<p>Its owners have been emailed, and can still keep it.</p>`}`,
    }
  if (reason === 'moved')
    return {
      title: `${name} has moved`,
      body: html`<p>This organization has moved to ${movedTo}. The data here is kept, and nobody can change it.</p>`,
    }
  return {
    title: `${name} is not open yet`,
    body: html`<p>This organization has just been imported. The operator opens it after checking it.</p>`,
  }
}

const keepForm = (ctx: Context): Html =>
  html`<form method="post" action="${pathOf(ctx, 'hold/keep')}"><button class="btn btn-primary">Keep the organization</button></form>
<p class="hint">Then everything works as before.</p>`

const exportsOf = (ctx: Context, assessments: readonly { id: string; name: string }[]): Html =>
  html`<h2>Export</h2>
<ul class="space-y-2">
<li><a class="btn btn-sm" href="${pathOf(ctx, 'settings/export')}">Everything, as a ZIP</a></li>
${exportItem(ctx, 'invites/export', 'Invites')}${exportItem(ctx, 'members/export', 'Members')}${exportItem(ctx, 'settings/audit-log/export', 'Audit log')}${assessments.map(({ id, name }) => exportItem(ctx, `results/assessments/${id}/export`, `Grades: ${name}`))}</ul>`

const exportItem = (ctx: Context, path: string, label: string): Html =>
  html`<li><form method="post" action="${pathOf(ctx, path)}"><button class="btn btn-sm">${label}, as CSV</button></form></li>\n`
