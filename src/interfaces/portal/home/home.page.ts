import { may } from '../../../domain/access/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { InviteStatus } from '../../../domain/invites/invites.ts'
import {
  type DayCounts,
  type ExpiringInvite,
  type FailedMail,
  OVERVIEW_ROWS,
  type Overview,
} from '../../../domain/invites/overview/read-overview.ts'
import { type Html, html, type Value } from '../../../html/html.ts'
import { bar, chart } from '../kit/chart.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { time } from '../kit/wording.ts'

export const homePage = (body: Html, notice?: string): Page => ({ title: 'Home', body, notice })

/** The first page of those who run the organization. */
export function organizationHome(ctx: Context, overview: Overview): Html {
  const total = [...overview.states.values()].reduce((sum, count) => sum + count, 0)
  if (total === 0) return firstSteps(ctx, overview)
  const { states, days, failedMails, expiring, mailsWaitSince } = overview
  return html`${mailsWaitSince && outage(mailsWaitSince)}${failedMails.length > 0 && failures(ctx, failedMails)}${expiring.length > 0 && soon(ctx, expiring)}
<section class="panel" aria-labelledby="states-heading">
<h2 class="mb-4" id="states-heading">Invites</h2>
${stateTable(ctx, states, total)}
</section>
${byDay(days)}`
}

/** Why, is for whoever runs the service, who is told. */
const outage = (since: Date): Html => html`<section class="panel" aria-labelledby="outage-heading">
<h2 class="mb-4" id="outage-heading">Mails are waiting</h2>
<p>Since ${time(since)} the mail server has taken no mails from this service. None is lost: all go out when it does again. Whoever runs the
service has been told.</p>
</section>
`

const firstSteps = (
  ctx: Context,
  { hasAssessments, hasKeys }: Overview,
): Html => html`<section class="panel" aria-labelledby="steps-heading">
<h2 class="mb-4" id="steps-heading">First steps</h2>
<ol>
<li><a href="${pathOf(ctx, 'assessments/new')}">Make an assessment</a>. ${hasAssessments && done}</li>
<li>${
  may(ctx, 'manage_keys')
    ? html`<a href="${pathOf(ctx, 'settings/integrations')}">Generate an API key</a> for your own system`
    : 'Generate an API key for your own system'
}. ${hasKeys && done}</li>
<li><a href="${pathOf(ctx, 'invites/new')}">Invite a candidate</a>.</li>
</ol>
</section>`

const done = html`${badge('done')}`

/** How far candidates have come, and where they were lost. */
function stateTable(ctx: Context, states: Map<InviteStatus, number>, total: number): Html {
  const sum = (...names: InviteStatus[]) => names.reduce((all, name) => all + (states.get(name) ?? 0), 0)
  // To the list of those that a row counts, where one state is what it counts.
  const listed = (label: string, state = '') => html`<a href="${`${pathOf(ctx, 'invites')}?state=${state}`}">${label}</a>`
  const rows: [Value, number][] = [
    [listed('Invited'), total],
    ['Accepted, or further', sum('accepted', 'started', 'completed')],
    ['Started, or further', sum('started', 'completed')],
    [listed('Completed', 'completed'), sum('completed')],
    [listed('Not answered yet', 'pending'), sum('pending')],
    [listed('Expired', 'expired'), sum('expired')],
    [listed('Revoked or declined', 'revoked'), sum('revoked')],
  ]
  const share = (count: number) => `${Math.round((count / total) * 100)} %`
  return table(
    'states-heading',
    ['State', 'Invites', 'Of all'],
    rows.map(([label, count]) => [label, count, html`${share(count)}${bar(count / total)}`]),
  )
}

const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })

const byDay = (days: DayCounts[]): Html => html`<section class="panel" aria-labelledby="days-heading">
<h2 class="mb-4" id="days-heading">The last ${days.length} days</h2>
<p class="text-base-content/70 mb-2 flex gap-3 text-sm"><span class="flex items-center gap-1.5"><span class="bg-primary size-2.5 rounded-sm"></span>Invited</span><span class="flex items-center gap-1.5"><span class="bg-primary/30 size-2.5 rounded-sm"></span>Completed</span></p>
${chart(days.map(({ invited, completed }) => [invited, completed] as const))}
<details>
<summary class="py-2 text-sm font-medium">The same as a table</summary>
${table(
  'days-heading',
  ['Day, in UTC', 'Invited', 'Completed'],
  days.map(({ day, invited, completed }) => [format.format(day), invited, completed]),
)}
</details>
</section>`

const inviteLink = (ctx: Context, { inviteId, recipientEmail }: { inviteId: string; recipientEmail: string }): Html =>
  html`<a href="${pathOf(ctx, `invites/${inviteId}`)}">${recipientEmail}</a>`

const failures = (ctx: Context, mails: FailedMail[]): Html => html`<section class="panel" aria-labelledby="failed-heading">
<h2 class="mb-4" id="failed-heading">Mails that reached nobody</h2>
${table(
  'failed-heading',
  ['To', 'Assessment', 'When', 'What the mail server said'],
  mails.slice(0, OVERVIEW_ROWS).map((mail) => [inviteLink(ctx, mail), mail.assessment, time(mail.createdAt), mail.reason]),
)}
${mails.length > OVERVIEW_ROWS && html`<p>There are more.</p>`}
</section>
`

const soon = (ctx: Context, invites: ExpiringInvite[]): Html => html`<section class="panel" aria-labelledby="expiring-heading">
<h2 class="mb-4" id="expiring-heading">About to expire</h2>
${table(
  'expiring-heading',
  ['To', 'Assessment', 'State', 'Expires'],
  invites
    .slice(0, OVERVIEW_ROWS)
    .map((invite) => [inviteLink(ctx, invite), invite.assessment, badge(invite.status), time(invite.expiresAt)]),
)}
${invites.length > OVERVIEW_ROWS && html`<p>There are more. <a href="${pathOf(ctx, 'invites')}?sort=expires">All, by when they expire</a></p>`}
</section>
`
