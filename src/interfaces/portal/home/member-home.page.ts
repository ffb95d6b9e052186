import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { INVITE_STATUSES, type InviteStatus } from '../../../domain/invites/invites.ts'
import type { StateCounts } from '../../../domain/invites/overview/count-states.ts'
import type { OwnOverview } from '../../../domain/invites/overview/read-own-overview.ts'
import type { QueueName } from '../../../domain/submissions/grading/waiting-submissions.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount } from '../../../http/pages/candidate-view.ts'
import { formatLength } from '../grading/queue.page.ts'
import { timeAgo } from '../kit/formatting.ts'
import { panel, pathOf } from '../kit/layout.ts'
import { type AttentionItem, attentionList, countCell, empty, figure, linkButton } from '../kit/parts.ts'
import { table } from '../kit/table.ts'
import { nothingToDo, releaseNeed } from './home.page.ts'

/** @property results number of released results that the member sees, and time of the newest. */
type MemberHomeFacts = OwnOverview & {
  waiting: { queues: { queue: QueueName; count: number }[]; since: Date | null } | null
  results: { count: number; newest: Date } | null
}

/** Subtitle for members who do not run the organization. */
export function memberSubtitle({ assigned, assessments }: MemberHomeFacts): string | undefined {
  const sentences = [
    assigned && 'You grade what candidates submit.',
    assessments && 'You see who is invited to your assessments, and the results that are released.',
  ]
  return sentences.filter(Boolean).join(' ') || undefined
}

/** Main action: grading if submissions wait, else results. */
export function memberAction(ctx: Context, { assessments, waiting }: MemberHomeFacts): Html | false {
  const isWaiting = waiting?.queues.some(({ queue, count }) => queue !== 'others' && count > 0) ?? false
  if (isWaiting) return linkButton(pathOf(ctx, 'grading'), 'Start grading', 'pencil-line', 'main')
  return (
    assessments !== null && assessments.length > 0 && linkButton(pathOf(ctx, 'results'), 'See results', 'chart-column', 'main')
  )
}

/** First page of members who do not run the organization. */
export function memberHome(ctx: Context, { assigned, assessments, waiting, results }: MemberHomeFacts): Html {
  const writes = may(ctx, 'write_assessments')
  if (assigned === null && assessments === null && !writes) return noRolePanel(ctx)
  return html`${writes && panel('authoring', 'Assessments and questions', authoring(ctx))}${waiting && panel('waiting', 'Needs attention', waitingNeeds(ctx, waiting))}${results && panel('results', 'Results', attentionList([seeResults(ctx, results)]))}${assigned && toGrade(ctx, assigned)}${assessments && asClient(ctx, assessments)}`
}

const authoring = (ctx: Context): Html =>
  html`<p class="mb-4">Write assessments, and save questions in the library to use them again.</p>
<div class="flex flex-wrap gap-2">${linkButton(pathOf(ctx, 'assessments'), 'Assessments', 'clipboard-list')}${linkButton(pathOf(ctx, 'questions'), 'Questions', 'book-open')}</div>`

type Queue = { queue: QueueName; count: number }

function waitingNeeds(ctx: Context, { queues, since }: NonNullable<MemberHomeFacts['waiting']>): Html {
  const open = queues.filter(({ queue, count }) => queue !== 'others' && count > 0)
  if (open.length === 0) return nothingToDo('Nothing waits to be graded.')
  return attentionList(
    open.map((entry) => (entry.queue === 'release' ? releaseNeed(ctx, entry.count) : toBeGraded(ctx, entry, since))),
  )
}

function toBeGraded(ctx: Context, { queue, count }: Queue, since: Date | null): AttentionItem {
  const wait = count === 1 ? 'submission waits' : 'submissions wait'
  const isMine = queue === 'mine'
  return {
    icon: 'pencil-line',
    look: isMine ? 'warning' : 'info',
    text: `${formatLength(count)} ${wait} ${isMine ? 'for you' : 'without a grader'}`,
    detail: isMine ? html`${since && html`The oldest was submitted ${timeAgo(ctx, since)}`}` : 'Take one over to grade it',
    action: html`<a class="${isMine ? 'btn btn-sm btn-primary' : 'btn btn-sm'}" href="${`${pathOf(ctx, 'grading')}?queue=${queue}`}" aria-label="${isMine ? 'Grade submissions that wait for you' : 'View submissions without a grader'}">${isMine ? 'Grade' : 'View'}</a>`,
  }
}

const seeResults = (ctx: Context, { count, newest }: NonNullable<MemberHomeFacts['results']>): AttentionItem => ({
  icon: 'chart-column',
  look: 'info',
  text: `${count.toLocaleString('en')} ${count === 1 ? 'result is' : 'results are'} released`,
  detail: html`The newest ${timeAgo(ctx, newest)}`,
  action: linkButton(pathOf(ctx, 'results'), 'See them', undefined, 'small'),
})

const noRolePanel = (ctx: Context): Html => html`<section class="panel">
<p>You are a member of ${ctx.organization.name}, but you have no role yet.</p>
<p>Ask an admin of your organization for one. They find you under Members.</p>
<p>Your name, password and sessions are under <a href="${pathOf(ctx, 'account')}">My account</a>.</p>
</section>`

function toGrade(ctx: Context, assigned: StateCounts): Html {
  const path = pathOf(ctx, 'invites')
  const rows = INVITE_STATUSES.filter((status) => assigned.has(status))
  return panel(
    'assigned',
    'Assigned to you',
    rows.length === 0
      ? empty('pencil-line', 'No invites are assigned to you yet. Those that an admin assigns to you for grading appear here.')
      : table(
          'assigned-heading',
          ['Status', 'Invites'],
          rows.map((status) => [html`<a href="${path}?state=${status}">${capitalize(status)}</a>`, assigned.get(status)]),
        ),
  )
}

function asClient(ctx: Context, assessments: NonNullable<OwnOverview['assessments']>): Html {
  if (assessments.length === 0)
    return panel(
      'assessments',
      'Your assessments',
      empty(
        'clipboard-list',
        'No assessments are shared with you yet. When an admin makes you a client of one, its invites appear here.',
      ),
    )
  const sum = (...statuses: InviteStatus[]) =>
    assessments.reduce(
      (total, { states }) => total + statuses.reduce((subtotal, status) => subtotal + (states.get(status) ?? 0), 0),
      0,
    )
  const [invited, completed] = [sum(...INVITE_STATUSES), sum('completed')]
  return html`<div class="grid grid-cols-2 gap-3 sm:grid-cols-3 sm:gap-4">${figure('Invited', invited, formatCount(assessments.length, 'assessment'))}${figure('Under way', sum('pending', 'accepted', 'started'), 'can still complete')}${figure('Completed', completed, invited > 0 && `${Math.round((completed / invited) * 100)} % of the invited`)}</div>
${panel(
  'assessments',
  'Your assessments',
  table(
    'assessments-heading',
    ['Assessment', ...INVITE_STATUSES.map(capitalize)],
    assessments.map(({ id, name, states }) => [
      html`<a class="named" href="${pathOf(ctx, 'invites')}?assessment=${id}">${name}</a>`,
      ...INVITE_STATUSES.map((status) => countCell(states.get(status) ?? 0)),
    ]),
  ),
)}`
}

const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
