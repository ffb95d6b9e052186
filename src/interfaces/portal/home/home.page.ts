import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { InviteStatus } from '../../../domain/invites/invites.ts'
import {
  type DayCounts,
  type ExpiringInvite,
  type FailedMail,
  OVERVIEW_ROWS,
  type Overview,
} from '../../../domain/invites/overview/read-overview.ts'
import type { AnswersWithoutGrader } from '../../../domain/submissions/grading/answers-without-grader.ts'
import type { QueueName } from '../../../domain/submissions/grading/waiting-submissions.ts'
import { type Html, html, type Value } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'
import { formatLength, QUEUE_LABELS } from '../grading/queue.page.ts'
import { bar, lineChart, scaledChart } from '../kit/chart.ts'
import { labelLanguage, time, timeAgo } from '../kit/formatting.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { type AttentionItem, attentionList, countCell, figure, linkButton } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { SUPPRESSIONS } from '../organization/suppressions.page.ts'

type HomeFacts = { name: string; subtitle: string | undefined; actions: Html | false; body: Html; notice: string | undefined }

/** @param name display name of the member. */
export const homePage = ({ name, ...pageParts }: HomeFacts): Page => ({
  title: 'Home',
  heading: name ? `Welcome, ${name}` : 'Home',
  ...pageParts,
})

/** @property deadAddresses bounces among the newest mails, if there are many. */
type OverviewFacts = Overview & { deadAddresses: { dead: number; of: number } | null; withoutGrader: AnswersWithoutGrader[] }

export const inviteButton = (ctx: Context): Html | false =>
  may(ctx, 'invite') && linkButton(pathOf(ctx, 'invites/new'), 'Invite a candidate', 'send', 'main')

/** Submissions to grade per visible queue, and the time of the oldest. */
export type Waiting = { queues: { queue: QueueName; count: number }[]; count: number; since: Date | null }

/** @param waiting null for members who do not grade. */
export function organizationHome(ctx: Context, overview: OverviewFacts, waiting: Waiting | null): Html {
  const total = sum([...overview.states.values()])
  if (total === 0) return firstSteps(ctx, overview)
  const { states, days } = overview
  return html`${attentionPanel(ctx, overview, waiting)}${figures(overview, total)}
<div class="grid items-start gap-6 xl:grid-cols-5"><div class="xl:col-span-3">${byDay(days)}</div>
<div class="xl:col-span-2">${panel('states', 'Candidate progress', stateTable(ctx, states, total))}</div></div>`
}

/** Problems that need attention, most urgent first. */
function attentionPanel(
  ctx: Context,
  { failedMails, expiring, mailsWaitSince, deadAddresses, withoutGrader }: OverviewFacts,
  waiting: Waiting | null,
): Html {
  const linkTo = (address: string, label: string, name = label) =>
    html`<a class="btn btn-sm" href="${address}" aria-label="${name}">${label}</a>`
  const toGrade = waiting?.queues.filter(({ queue, count }) => queue !== 'release' && (queue !== 'others' || count > 0)) ?? []
  const toBeReleased = waiting?.queues.find(({ queue }) => queue === 'release')?.count ?? 0
  const items: (AttentionItem | false | null)[] = [
    mailsWaitSince && {
      icon: 'mail-x',
      look: 'error',
      text: 'Emails are waiting',
      // The cause is reported to the operator, and not shown here.
      detail: html`Since ${time(mailsWaitSince)} the mail server has not accepted emails from this service. No email is lost: they are sent as soon as it accepts them again. The operator of this service has been notified.`,
      action: false,
    },
    deadAddresses && {
      icon: 'mail-x',
      look: 'error',
      text: 'Many emails go to mailboxes that don’t exist',
      detail: `${deadAddresses.dead} of the last ${deadAddresses.of} bounced. Mail servers may then treat your other emails as spam. Check where your lists of candidates come from.`,
      action: linkTo(pathOf(ctx, SUPPRESSIONS), 'Review', 'Review blocked addresses'),
    },
    failedMails.length > 0 && {
      icon: 'mail-x',
      look: 'error',
      text: `${countLabel(failedMails.length)} ${failedMails.length === 1 ? 'invitation was' : 'invitations were'} not delivered`,
      detail: firstOf(failedMails),
      rows: failures(ctx, failedMails),
    },
    expiring.length > 0 && {
      icon: 'clock-alert',
      look: 'warning',
      text: `${countLabel(expiring.length)} ${expiring.length === 1 ? 'invite expires' : 'invites expire'} within three days`,
      detail: firstOf(expiring),
      rows: expiringTable(ctx, expiring),
    },
    ...withoutGraderNeeds(ctx, withoutGrader),
    waiting !== null &&
      waiting.count > 0 && {
        icon: 'pencil-line',
        look: 'info',
        text: `${formatLength(waiting.count)} ${waiting.count === 1 ? 'submission waits' : 'submissions wait'} for a grade`,
        detail: html`${toGrade.map(({ queue, count }, i) => html`${i > 0 && ' · '}<a href="${`${pathOf(ctx, 'grading')}?queue=${queue}&languages=all`}">${QUEUE_LABELS[queue]}</a>: ${formatLength(count)}`)}${waiting.since && html` · the oldest ${timeAgo(ctx, waiting.since)}`}`,
        action: linkTo(pathOf(ctx, 'grading?queue=all&languages=all'), 'Grade'),
      },
    toBeReleased > 0 && releaseNeed(ctx, toBeReleased),
  ]
  const open = items.filter((item): item is AttentionItem => Boolean(item))
  return panel(
    'attention',
    'Needs attention',
    open.length > 0 ? attentionList(open) : nothingToDo('Nothing needs your attention.'),
  )
}

/** Languages with their own line. */
const LANGUAGES_SHOWN = 3

/** Answers that no member fits, by language. */
function withoutGraderNeeds(ctx: Context, answers: AnswersWithoutGrader[]): AttentionItem[] {
  const further = answers.slice(LANGUAGES_SHOWN)
  const lines = answers
    .slice(0, LANGUAGES_SHOWN)
    .map(({ language, count }) => ({ count, where: language === null ? '' : ` in ${labelLanguage(language)}` }))
  if (further.length > 0)
    lines.push({ count: sum(further.map(({ count }) => count)), where: ` in ${further.length} more languages` })
  return lines.map(({ count, where }) => ({
    icon: 'languages',
    look: 'warning',
    text: `${count.toLocaleString('en')} ${count === 1 ? 'answer' : 'answers'}${where} ${count === 1 ? 'has' : 'have'} no grader`,
    detail: where === '' ? 'No other grader is free to grade them' : 'Give a grader this language, or take the submissions over',
    action: html`<a class="btn btn-sm" href="${may(ctx, 'manage_members') ? pathOf(ctx, 'members?role=grader') : pathOf(ctx, 'grading?queue=nobody&languages=all')}" aria-label="${`Find graders for answers${where}`}">Find graders</a>`,
  }))
}

/** Submissions that score themselves are in no grading queue. */
export const releaseNeed = (ctx: Context, count: number): AttentionItem => ({
  icon: 'circle-check',
  look: 'info',
  text: `${formatLength(count)} to release`,
  detail: 'All their questions are auto-scored',
  action: html`<a class="btn btn-sm" href="${`${pathOf(ctx, 'grading')}?queue=release`}" aria-label="View submissions to release">View</a>`,
})

export const nothingToDo = (text: string): Html =>
  html`<p class="text-base-content/70 flex items-center gap-3"><span class="text-success">${icon('circle-check', 'size-5')}</span>${text}</p>`

/** One row more than shown is read, so the number is a lower limit. */
const countLabel = (length: number): string => (length > OVERVIEW_ROWS ? `More than ${OVERVIEW_ROWS}` : String(length))

function figures({ days, before, medianTime, states }: Overview, total: number): Html {
  const invited = days.map((day) => day.invited)
  const completed = days.map((day) => day.completed)
  const completedCount = states.get('completed') ?? 0
  return html`<div class="grid gap-3 sm:grid-cols-3 sm:gap-4">${figure(`Invited, ${days.length} days`, sum(invited), trend(sum(invited), before.invited), lineChart(invited))}
${figure('Completion rate', percent(completedCount / total), `${completedCount.toLocaleString('en')} of ${total.toLocaleString('en')} completed`, lineChart(completionShares(completed, invited)))}
${figure('Median time to complete', medianTime.last === null ? '–' : formatSpan(medianTime.last), formatMedian(medianTime))}</div>
`
}

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0)

/** Running completion rate: for each day, all completed of all invited since the first day. */
const completionShares = (completed: number[], invited: number[]): number[] =>
  completed.map((_count, day) => sum(completed.slice(0, day + 1)) / Math.max(1, sum(invited.slice(0, day + 1))))

/** Compares with the 30 days before. */
function trend(last: number, before: number): Html {
  if (before === 0) return html`${last === 0 ? 'None in the previous 30 days either' : 'None in the previous 30 days'}`
  const change = Math.round((last / before - 1) * 100)
  const look = change > 0 ? 'text-success font-medium' : 'font-medium'
  return html`<span class="${look}">${change > 0 && '+'}${change} %</span> vs. the previous 30 days`
}

const formatMedian = ({ last, before }: Overview['medianTime']): string => {
  if (last === null) return 'No completed invites in 30 days'
  return before === null ? 'From invitation to completion' : `${formatSpan(before)} in the previous 30 days`
}

const HOUR_MS = 3_600_000
/** "12 min", "5 h", "1.8 days". */
function formatSpan(milliseconds: number): string {
  if (milliseconds < HOUR_MS) return `${Math.max(1, Math.round(milliseconds / 60_000))} min`
  if (milliseconds < 24 * HOUR_MS) return `${Math.round(milliseconds / HOUR_MS)} h`
  return `${(milliseconds / (24 * HOUR_MS)).toFixed(1)} days`
}

const percent = (share: number): string => `${Math.round(share * 100)} %`

const firstSteps = (
  ctx: Context,
  { hasAssessments, hasKeys }: Overview,
): Html => html`<section class="panel" aria-labelledby="steps-heading">
<h2 class="mb-4" id="steps-heading">First steps</h2>
<ol class="list-decimal space-y-3 pl-5">
<li><a href="${pathOf(ctx, 'assessments/new')}">Create an assessment</a>. ${hasAssessments && doneStep}</li>
<li>${
  may(ctx, 'manage_keys')
    ? html`<a href="${pathOf(ctx, 'settings/integrations')}">Generate an API key</a> for your own system`
    : 'Generate an API key for your own system'
}. ${hasKeys && doneStep}</li>
<li><a href="${pathOf(ctx, 'invites/new')}">Invite a candidate</a>.</li>
</ol>
</section>`

const doneStep = html`${badge('done')}`

function stateTable(ctx: Context, states: Map<InviteStatus, number>, total: number): Html {
  const sum = (...names: InviteStatus[]) => names.reduce((subtotal, name) => subtotal + (states.get(name) ?? 0), 0)
  // Rows that count one status link to the list of its invites.
  const listed = (label: string, state = '') => html`<a href="${`${pathOf(ctx, 'invites')}?state=${state}`}">${label}</a>`
  const rows: [Value, number][] = [
    [listed('Invited'), total],
    ['Accepted or further', sum('accepted', 'started', 'completed')],
    ['Started or further', sum('started', 'completed')],
    [listed('Completed', 'completed'), sum('completed')],
    [listed('Not answered yet', 'pending'), sum('pending')],
    [listed('Expired', 'expired'), sum('expired')],
    [listed('Revoked or declined', 'revoked'), sum('revoked')],
  ]
  const share = (count: number) => `${Math.round((count / total) * 100)} %`
  return table(
    'states-heading',
    ['Status', 'Invites', 'Share'],
    rows.map(([label, count]) => [
      count === 0 ? html`<span class="quiet">${label}</span>` : label,
      countCell(count),
      html`${share(count)}${bar(count / total)}`,
    ]),
  )
}

const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })

const byDay = (days: DayCounts[]): Html => html`<section class="panel" aria-labelledby="days-heading">
<div class="mb-4 flex flex-wrap items-center gap-3"><h2 id="days-heading">Last ${days.length} days</h2>
<p class="text-base-content/70 ml-auto flex gap-3 text-sm"><span class="flex items-center gap-1.5"><span class="bg-primary size-2.5 rounded-sm"></span>Invited</span><span class="flex items-center gap-1.5"><span class="bg-primary/30 size-2.5 rounded-sm"></span>Completed</span></p></div>
${scaledChart(days.map(({ invited, completed }) => [invited, completed] as const))}
<p class="text-base-content/70 mt-1 flex justify-between pr-8 text-xs"><span>${format.format(days[0]!.day)}</span><span>${format.format(days.at(-1)!.day)}</span></p>
<details>
<summary class="py-2 text-sm font-medium">Show as a table</summary>
${table(
  'days-heading',
  ['Day (UTC)', 'Invited', 'Completed'],
  days.map(({ day, invited, completed }) => [format.format(day), invited, completed]),
)}
</details>
</section>`

const inviteLink = (ctx: Context, { inviteId, recipientEmail }: { inviteId: string; recipientEmail: string }): Html =>
  html`<a href="${pathOf(ctx, `invites/${inviteId}`)}">${recipientEmail}</a>`

function firstOf([first, ...otherMails]: { recipientEmail: string; assessment: string }[]): string {
  const more = otherMails.length < OVERVIEW_ROWS ? `${otherMails.length} more` : 'more'
  return `${first!.recipientEmail}, ${first!.assessment}${otherMails.length > 0 ? `, and ${more}` : ''}`
}

const failures = (ctx: Context, mails: FailedMail[]): Html =>
  html`${table(
    'attention-heading',
    ['Candidate', 'Assessment', 'When', 'Reply from the mail server'],
    mails
      .slice(0, OVERVIEW_ROWS)
      .map((mail) => [inviteLink(ctx, mail), mail.assessment, timeAgo(ctx, mail.createdAt), mail.reason]),
  )}${mails.length > OVERVIEW_ROWS && html`<p class="px-5 py-3 text-sm">There are more.</p>`}`

const expiringTable = (ctx: Context, invites: ExpiringInvite[]): Html =>
  html`${table(
    'attention-heading',
    ['Candidate', 'Assessment', 'Status', 'Expires'],
    invites
      .slice(0, OVERVIEW_ROWS)
      .map((invite) => [inviteLink(ctx, invite), invite.assessment, badge(invite.status), timeAgo(ctx, invite.expiresAt)]),
  )}${invites.length > OVERVIEW_ROWS && html`<p class="px-5 py-3 text-sm">There are more. <a href="${pathOf(ctx, 'invites')}?sort=expires">All invites by expiry date</a></p>`}`
