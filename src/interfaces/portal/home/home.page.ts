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
import type { Whose } from '../../../domain/submissions/grading/queue.ts'
import { type Html, html, type Value } from '../../../html/html.ts'
import { LABELS } from '../grading/queue.page.ts'
import { bar, chart, curve } from '../kit/chart.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { figure, linkButton, type Need, needs } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { ago, time } from '../kit/wording.ts'

/** @param name of who looks, as they are called. */
export const homePage = (ctx: Context, name: string, body: Html, notice?: string): Page => ({
  title: 'Home',
  notice,
  heading: name ? `Welcome back, ${name}` : 'Home',
  actions: may(ctx, 'invite') && linkButton(pathOf(ctx, 'invites/new'), 'Invite a candidate', 'send', 'main'),
  body,
})

type Queues = { whose: Whose; count: number }[] | null

/** @param queues how many submissions wait for a grade; null for who does not grade. */
export function organizationHome(ctx: Context, overview: Overview, queues: Queues): Html {
  const total = [...overview.states.values()].reduce((sum, count) => sum + count, 0)
  if (total === 0) return firstSteps(ctx, overview)
  const { states, days, failedMails, expiring } = overview
  return html`${attention(ctx, overview, queues)}${figures(overview, total, waitingIn(queues))}
<div class="grid items-start gap-6 xl:grid-cols-5"><div class="xl:col-span-3">${byDay(days)}</div>
<div class="xl:col-span-2">${panel('states', 'How far candidates come', stateTable(ctx, states, total))}</div></div>
${failedMails.length > 0 && failures(ctx, failedMails)}${expiring.length > 0 && soon(ctx, expiring)}`
}

/** What needs somebody today, most urgent first; nothing where nothing does. */
function attention(ctx: Context, { failedMails, expiring, mailsWaitSince }: Overview, queues: Queues): Html | false {
  const waiting = waitingIn(queues)
  const to = (address: string, label: string) => linkButton(address, label, undefined, 'small')
  const items: (Need | false | null)[] = [
    mailsWaitSince && {
      icon: 'mail-x',
      look: 'error',
      text: 'Mails are waiting',
      // Why, is for whoever runs the service, who is told.
      detail: html`Since ${time(mailsWaitSince)} the mail server has taken no mails from this service. None is lost: all go out when it does again. Whoever runs the service has been told.`,
      action: html``,
    },
    failedMails.length > 0 && {
      icon: 'mail-x',
      look: 'error',
      text: `${counted(failedMails.length)} ${failedMails.length === 1 ? 'invitation was' : 'invitations were'} not delivered`,
      detail: `${failedMails[0]!.recipientEmail}: ${failedMails[0]!.reason}`,
      action: to('#failed-heading', 'Review'),
    },
    expiring.length > 0 && {
      icon: 'clock-alert',
      look: 'warning',
      text: `${counted(expiring.length)} ${expiring.length === 1 ? 'invite expires' : 'invites expire'} within three days`,
      detail: `${expiring[0]!.recipientEmail}, ${expiring[0]!.assessment}`,
      action: to('#expiring-heading', 'Review'),
    },
    waiting !== null &&
      waiting > 0 && {
        icon: 'pencil-line',
        look: 'info',
        text: `${waiting.toLocaleString('en')} ${waiting === 1 ? 'submission waits' : 'submissions wait'} for a grade`,
        detail: html`${queues?.map(({ whose, count }, i) => html`${i > 0 && ' · '}<a href="${`${pathOf(ctx, 'grading')}?whose=${whose}`}">${LABELS[whose]}</a>: ${count}`)}`,
        action: to(pathOf(ctx, 'grading?whose=all'), 'Grade'),
      },
  ]
  const open = items.filter((item): item is Need => Boolean(item))
  return open.length > 0 && panel('attention', 'Needs attention', needs(open))
}

const waitingIn = (queues: Queues): number | null => queues?.find(({ whose }) => whose === 'all')?.count ?? null

/** More are counted than are shown. */
const counted = (length: number): string => (length > OVERVIEW_ROWS ? `More than ${OVERVIEW_ROWS}` : String(length))

function figures({ days, states }: Overview, total: number, waiting: number | null): Html {
  const sum = (values: number[]) => values.reduce((all, value) => all + value, 0)
  const half = Math.floor(days.length / 2)
  const of = (name: 'invited' | 'completed', label: string) => {
    const values = days.map((day) => day[name])
    const [before, last] = [sum(values.slice(0, half)), sum(values.slice(half))]
    return figure(`${label}, ${days.length} days`, sum(values), `${last} in the last ${half}, ${before} before`, curve(values))
  }
  const completed = states.get('completed') ?? 0
  const share = Math.round((completed / total) * 100)
  return html`<div class="grid gap-4 sm:grid-cols-2 xl:grid-cols-4">${of('invited', 'Invited')}${of('completed', 'Completed')}${figure('Completion rate', `${share} %`, `${completed.toLocaleString('en')} of ${total.toLocaleString('en')} completed`)}${waiting !== null && figure('Waiting for a grade', waiting, waiting === 0 ? 'All is graded' : 'Handed in, not released')}</div>
`
}

const firstSteps = (
  ctx: Context,
  { hasAssessments, hasKeys }: Overview,
): Html => html`<section class="panel" aria-labelledby="steps-heading">
<h2 class="mb-4" id="steps-heading">First steps</h2>
<ol class="list-decimal space-y-3 pl-5">
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
<p class="text-base-content/70 mb-3 flex gap-3 text-sm"><span class="flex items-center gap-1.5"><span class="bg-primary size-2.5 rounded-sm"></span>Invited</span><span class="flex items-center gap-1.5"><span class="bg-primary/30 size-2.5 rounded-sm"></span>Completed</span></p>
${chart(days.map(({ invited, completed }) => [invited, completed] as const))}
<p class="text-base-content/70 mt-1 flex justify-between text-xs"><span>${format.format(days[0]!.day)}</span><span>${`At most ${Math.max(...days.map(({ invited, completed }) => Math.max(invited, completed)))} a day`}</span><span>${format.format(days.at(-1)!.day)}</span></p>
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
<h2 class="mb-4" id="failed-heading">Invitations that were not delivered</h2>
${table(
  'failed-heading',
  ['Candidate', 'Assessment', 'When', 'What the mail server said'],
  mails.slice(0, OVERVIEW_ROWS).map((mail) => [inviteLink(ctx, mail), mail.assessment, ago(ctx, mail.createdAt), mail.reason]),
)}
${mails.length > OVERVIEW_ROWS && html`<p>There are more.</p>`}
</section>
`

const soon = (ctx: Context, invites: ExpiringInvite[]): Html => html`<section class="panel" aria-labelledby="expiring-heading">
<h2 class="mb-4" id="expiring-heading">About to expire</h2>
${table(
  'expiring-heading',
  ['Candidate', 'Assessment', 'Status', 'Expires'],
  invites
    .slice(0, OVERVIEW_ROWS)
    .map((invite) => [inviteLink(ctx, invite), invite.assessment, badge(invite.status), ago(ctx, invite.expiresAt)]),
)}
${invites.length > OVERVIEW_ROWS && html`<p>There are more. <a href="${pathOf(ctx, 'invites')}?sort=expires">All, by when they expire</a></p>`}
</section>
`
