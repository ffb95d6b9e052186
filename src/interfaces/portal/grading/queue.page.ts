import { candidateName } from '../../../domain/assessments/blind-grading.ts'
import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { ListPage } from '../../../domain/lists/page.ts'
import { mayGrade } from '../../../domain/members/graders.ts'
import { isSlotOpen } from '../../../domain/submissions/grading/graded-submission.ts'
import { type NextTask, nextTask, type Task } from '../../../domain/submissions/grading/next-task.ts'
import type { GradingProgress } from '../../../domain/submissions/grading/progress.ts'
import { MAX_WAITING, type QueuedSubmission } from '../../../domain/submissions/grading/queue.ts'
import type { QueueFilter, QueueName } from '../../../domain/submissions/grading/waiting-submissions.ts'
import { displayNameOf } from '../../../domain/text/display-name.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount } from '../../../http/pages/candidate-view.ts'
import { nameFilterField, readNameFilter } from '../kit/choices.ts'
import { timeAgo } from '../kit/formatting.ts'
import { choice, type Form, mistakes } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { sizedPager } from '../kit/paging.ts'
import { avatar, empty, linkButton, tabs } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { searchForm } from '../submissions/transcript-search.page.ts'
import { questionsPath } from './by-question.page.ts'
import { problemBadges } from './recording-problems.ts'
import { DECIDERS } from './sheet.parts.ts'
import { queueQuery } from './worked-queue.ts'

export const QUEUE_LABELS: Record<QueueName, string> = {
  mine: 'Assigned to me',
  nobody: 'No grader yet',
  others: 'Waiting for others',
  all: 'All',
  release: 'Auto-scored',
}
/** Length of a queue. Above the counted maximum, a lower limit with a plus sign. */
export const formatLength = (count: number): string =>
  count > MAX_WAITING ? `${MAX_WAITING.toLocaleString('en')}+` : count.toLocaleString('en')

const NOTHING: Record<QueueName, string> = {
  mine: 'No submissions wait for you.',
  nobody: 'No submissions wait for a grader.',
  others: 'None of your submissions wait for another grader.',
  all: 'No submissions wait to be graded.',
  release: 'No auto-scored results wait to be released.',
}

type Facts = {
  ctx: Context
  filter: QueueFilter
  /** True if the member has grading languages. */
  canFilter: boolean
  queues: { queue: QueueName; count: number }[]
  assessments: { id: string; name: string }[]
  list: ListPage<QueuedSubmission>
  /** Notice about the last action. */
  done: string | null
  /** True if the member may search the answers of the chosen assessment. */
  canSearch: boolean
}

export function gradingPage(form: Form, { ctx, filter, canFilter, queues, assessments, list, done, canSearch }: Facts): Page {
  const { queue, myLanguages } = filter
  const address = pathOf(ctx, 'grading')
  const assessment = form.values.get('assessment') ?? ''
  const languages: Record<string, string> = canFilter ? { languages: myLanguages ? 'mine' : 'all' } : {}
  const query = new URLSearchParams({ queue, ...(assessment && { assessment }), ...languages })
  return {
    title: 'Grading',
    actions: actions(ctx, assessment),
    tabs: tabs(
      'Queues',
      queues.map(({ queue: name, count }) => ({
        label: QUEUE_LABELS[name],
        address: `${address}?${new URLSearchParams({ queue: name, ...languages })}`,
        isCurrent: name === queue,
        count: formatLength(count),
      })),
    ),
    notice: done === 'handed-on' ? 'The grader is assigned.' : undefined,
    body: html`${mistakes(form)}<section class="panel" aria-labelledby="queue-heading">
<h2 class="sr-only" id="queue-heading">Submissions, longest waiting first</h2>
<form class="filters" method="get" action="${address}">
<input type="hidden" name="queue" value="${queue}">
${choice(form, { name: 'assessment', label: 'Assessment', options: [['', 'Every assessment'], ...assessments.map(({ id, name }): [string, string] => [id, name])] })}
${
  canFilter &&
  choice(form, {
    name: 'languages',
    label: 'Languages',
    options: [
      ['mine', 'My languages'],
      ['all', 'Every language'],
    ],
    value: myLanguages ? 'mine' : 'all',
  })
}
${nameFilterField(readNameFilter(form.values), [assessments])}<button class="btn">Apply</button>
${assessment && html`<a class="btn btn-ghost" href="${`${address}?${new URLSearchParams({ queue, ...languages })}`}">Reset</a>`}
<p class="hint ml-auto">Submissions, longest waiting first</p>
</form>
${canSearch && searchForm(ctx, assessment)}
${list.items.length > 0 ? waitingRows(ctx, list.items, queueQuery({ ...filter, assessmentId: assessment })) : empty('circle-check', list.total > 0 ? 'No submissions match.' : NOTHING[queue])}
${sizedPager(address, query, list, ['submission', 'submissions'])}
</section>`,
  }
}

const actions = (ctx: Context, assessment: string): Html =>
  html`${assessment && may(ctx, 'grade') && linkButton(questionsPath(ctx, assessment), 'Grade by question', 'list-checks')}${may(ctx, 'release_results') && linkButton(pathOf(ctx, 'grading/release-many'), 'Release results', 'check')}${may(ctx, 'read') && linkButton(pathOf(ctx, 'results'), 'Released results', 'chart-column')}`

/** The grading view or, for members who do not grade, the submission below the invite. */
export const answersPath = (ctx: Context, { id, inviteId }: Pick<QueuedSubmission, 'id' | 'inviteId'>): string =>
  pathOf(ctx, may(ctx, 'grade') ? `grading/${id}` : `invites/${inviteId}/submission`)

/**
 * Rows that this member can work on come first; the others have their own heading. Headings differ from queue names, because their counts
 * differ.
 */
function waitingRows(ctx: Context, items: QueuedSubmission[], queue: string): Html {
  const rows = items.map((submission): [QueuedSubmission, NextTask | null] => [submission, nextTask(ctx, submission)])
  const [inbound, otherRows] = [rows.filter(([, next]) => next?.isInbound), rows.filter(([, next]) => !next?.isInbound)]
  if (inbound.length === 0 || otherRows.length === 0) return rowsOf(ctx, 'queue-heading', rows, queue)
  return html`<h2 class="mb-2" id="theirs-heading">Assigned to you or open</h2>
${rowsOf(ctx, 'theirs-heading', inbound, queue)}
<h2 class="mt-6 mb-2" id="others-heading">Assigned to others</h2>
${rowsOf(ctx, 'others-heading', otherRows, queue)}`
}

/** @param queue query string with the filter. */
const rowsOf = (ctx: Context, heading: string, rows: [QueuedSubmission, NextTask | null][], queue: string): Html =>
  table(
    heading,
    ['Candidate', 'Assessment', 'Waiting since', 'Grader', 'Progress', '(Actions)'],
    rows.map(([submission, next]) => {
      const { id, assessment, submittedAt, progress } = submission
      const name = candidateName(ctx, submission)
      const address = pathOf(ctx, `grading/${id}`)
      const readAddress = may(ctx, 'grade') ? `${address}${queue}` : answersPath(ctx, submission)
      return [
        progress === null
          ? name
          : html`<a class="flex items-center gap-3 lg:min-w-44" href="${readAddress}">${avatar(name)}<span class="named">${name}</span></a>`,
        assessment.name,
        submittedAt && timeAgo(ctx, submittedAt),
        formatGraders(submission),
        progress && formatProgress(progress, submission),
        nextTaskButton({ next, name, address, queue, readAddress: progress !== null && readAddress }),
      ]
    }),
  )

/** @property readAddress page to read the submission on; false for members who may not (yet). */
type NextTaskFacts = { next: NextTask | null; name: string; address: string; queue: string; readAddress: string | false }

function nextTaskButton({ next, name, address, queue, readAddress }: NextTaskFacts): Html | false {
  if (next === null)
    return readAddress !== false && html`<a class="btn btn-sm" href="${readAddress}" aria-label="${`View ${name}`}">View</a>`
  if (next.task === 'take')
    return html`<form method="post" action="${`${address}/take-over${queue}`}"><button class="btn btn-sm whitespace-nowrap" aria-label="${`Take over ${name}`}">Take over</button></form>`
  const [label, subpath] = TASKS[next.task]
  const place = next.question === undefined ? `${subpath}${queue}` : `${queue}#question-${next.question}`
  return html`<a class="${next.isInbound ? 'btn btn-sm btn-outline btn-primary' : 'btn btn-sm'}" href="${`${address}${place}`}" aria-label="${`${label} ${name}`}">${label}</a>`
}

const TASKS: Record<Exclude<Task, 'take'>, [label: string, to: string]> = {
  grade: ['Grade', ''],
  decide: ['Decide', ''],
  release: ['Release', '/release'],
}

function formatGraders(queued: QueuedSubmission): string {
  const { assessment, grader, secondGrader } = queued
  const graders = assessment.secondGrader ? [grader, secondGrader] : [grader]
  const names = graders.map((member, i) => nameOf(member) ?? nameGradersOfAnswers(queued, i + 1))
  if (names.every((name) => name === null)) return 'nobody yet'
  return names.map((name) => name ?? 'no second grader yet').join(', ')
}

const nameOf = (member: QueuedSubmission['gradingAssignments'][number]['grader']): string | null =>
  member && `${displayNameOf(member.user)}${mayGrade(member) ? '' : ' (no longer grades)'}`

/** Members to whom single answers of a round are assigned. */
function nameGradersOfAnswers({ gradingAssignments }: QueuedSubmission, wantedRound: number): string | null {
  const names = gradingAssignments.flatMap(({ round, grader }) => (round === wantedRound ? [nameOf(grader)] : []))
  if (names.every((name) => name === null)) return null
  return list.format(new Set(names.map((name) => name ?? 'nobody yet')))
}
const list = new Intl.ListFormat('en-GB')

/** Progress, including who has to act next. */
function formatProgress(progress: GradingProgress, queued: QueuedSubmission): Html {
  const open = formatOpenQuestions(progress, queued)
  if (!queued.releasedAt && queued.flagged.length === 0) return open
  return html`<span class="flex flex-wrap gap-1">${queued.releasedAt && badge('reopened')}${open}${problemBadges(queued.flagged)}</span>`
}

function formatWaiting(queued: QueuedSubmission): string {
  if (queued.gradingAssignments.length > 0) return 'waiting for other graders'
  return isSlotOpen(queued, 'first') || isSlotOpen(queued, 'second')
    ? 'waiting for a second grader'
    : 'waiting for the other grader'
}

function formatOpenQuestions({ isOwnPart, questions, ungraded, undecided }: GradingProgress, queued: QueuedSubmission): Html {
  const graded = questions - ungraded.length - undecided.length
  if (ungraded.length > 0) return html`${graded} of ${formatCount(questions, 'question')}`
  if (undecided.length > 0)
    return html`${badge(`${DECIDERS[queued.assessment.thirdGrader ? 'third_grader' : 'admin']} has to decide`)}`
  if (isOwnPart) return html`${formatWaiting(queued)}`
  return html`${badge('ready to release')}`
}
