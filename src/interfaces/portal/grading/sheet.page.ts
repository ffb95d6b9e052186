import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { Choice } from '../../../domain/invites/form-options.ts'
import { effectiveGraderOf, type GraderSlot } from '../../../domain/submissions/grading/graded-submission.ts'
import type { SubmissionGradingView } from '../../../domain/submissions/grading/grading-view.ts'
import type { QueuePlace } from '../../../domain/submissions/grading/queue-place.ts'
import { findFreeGraderSlot, GRADER_FIELDS } from '../../../domain/submissions/grading/reassign-grader.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount, formatDuration, plainQuestionText } from '../../../http/pages/candidate-view.ts'
import { type IconName, icon } from '../../../http/pages/icon.ts'
import { limitHint, nameFilterForm } from '../kit/choices.ts'
import { timeAgo } from '../kit/formatting.ts'
import { choice, type Form, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { questionBody } from '../submissions/answers.parts.ts'
import { mediaPanel, notes, screenHeadline } from '../submissions/submission.page.ts'
import { answerAndKey } from './answer-and-key.ts'
import { type GradeFormFacts, gradeForm } from './grade-form.ts'
import { recordingNotes } from './note.parts.ts'
import { recordingProblems } from './recording-problems.ts'
import {
  gradeHistory,
  graderFacts,
  gradingProgress,
  gradingStatus,
  nextAction,
  otherGraders,
  questionStatus,
  resultPart,
} from './sheet.parts.ts'
import { gradingTools } from './sheet-tools.ts'

type Facts = {
  ctx: Context
  sheet: SubmissionGradingView
  graders: Choice[]
  /** Categories of notes. */
  categories: readonly string[]
  place: QueuePlace
  /** Query string with the filter of the queue. */
  queue: string
  /** Text that narrows the list of graders. */
  named: string
  /** Notices about the last action. */
  done: { saved?: number | undefined; isShared?: boolean; done?: string | undefined }
  /** Number of the question whose form was refused. */
  failed?: number
}

const NOTICES = new Map([
  ['taken', 'You are now the grader.'],
  ['released', 'The result is released.'],
  ['reopened', 'The result is reopened for grading. The released version stays visible until you release again.'],
])

export function sheetPage(form: Form, { ctx, sheet, place, queue, graders, categories, named, done, failed }: Facts): Page {
  const { candidate, submission, detail, questions } = sheet
  const address = pathOf(ctx, `grading/${submission.id}`)
  const me = ctx.actor.kind === 'member' ? ctx.actor.id : ''
  const folded = findFoldedQuestions(sheet, failed)
  return {
    title: `Grade ${candidate}`,
    heading: candidate,
    state: html`<span data-part="state">${gradingStatus(sheet)}</span>`,
    subtitle: subtitle(ctx, sheet, place),
    trail: [['Grading', `${pathOf(ctx, 'grading')}${queue}`]],
    actions: html`${neighbours(ctx, place, queue)}${takeOver(ctx, sheet, address, queue)}<span data-part="action">${nextAction(sheet, address, queue)}</span>`,
    notice: noticeOf(done),
    body: html`${mistakes(form)}<div class="empty:hidden" role="status" data-part="others">${otherGraders(sheet)}</div>
<div class="empty:hidden" data-part="who">${graderFacts(sheet)}</div>
${screenHeadline(detail)}${recordingProblems(ctx, sheet)}${gradingTools(gradingProgress(sheet), 'all')}
<div class="space-y-4" data-sheet="${address}" data-drafts="${`grade ${me} ${submission.id}`}">
${questions.map((question) => questionSection(form, { sheet, question, address, queue, isFailed: question.number === failed }, { ctx, isFolded: folded.has(question.number), categories }))}
</div>
${end(form, { ctx, sheet, address, queue, graders, named })}
${mediaPanel(ctx, detail, address)}
${notes(detail)}`,
  }
}

function subtitle(ctx: Context, { submission }: SubmissionGradingView, { queue, position, length }: QueuePlace): Html {
  const { assessment, startedAt, submittedAt } = submission
  const seconds = startedAt && submittedAt && Math.round((submittedAt.getTime() - startedAt.getTime()) / 1_000)
  return html`${assessment.name}${submittedAt && html` · submitted ${timeAgo(ctx, submittedAt)}`}${seconds !== null && seconds > 0 && ` · took ${formatApproximateDuration(seconds)}`}${position !== null && ` · ${position} of ${length} ${QUEUES[queue]}`}`
}

/** Rounded to minutes or hours. */
function formatApproximateDuration(seconds: number): string {
  const minutes = Math.round(seconds / 60)
  if (minutes < 1) return formatDuration(seconds)
  return minutes < 120 ? formatCount(minutes, 'minute') : formatCount(Math.round(minutes / 60), 'hour')
}

const QUEUES: Record<QueuePlace['queue'], string> = {
  mine: 'in your queue',
  nobody: 'without a grader',
  others: 'waiting for others',
  all: 'to be graded',
  release: 'to be released',
}

const neighbours = (ctx: Context, { position, before, after }: QueuePlace, queue: string): Html => {
  const link = (id: string, label: string, name: IconName, key: string) =>
    html`<a class="btn btn-ghost btn-square" href="${`${pathOf(ctx, `grading/${id}`)}${queue}`}" aria-label="${label}" title="${label}" data-go="${key}">${icon(name, 'size-5')}</a>`
  if (position === null)
    return html`${after && html`<a class="btn" href="${`${pathOf(ctx, `grading/${after}`)}${queue}`}" data-go="next">Next submission${icon('chevron-right')}</a>`}`
  return html`${before && link(before, 'Previous submission', 'chevron-left', 'previous')}${after && link(after, 'Next submission', 'chevron-right', 'next')}`
}

const takeOver = (ctx: Context, { submission }: SubmissionGradingView, address: string, queue: string): Html | false =>
  submission.state !== 'released' &&
  findFreeGraderSlot(ctx, submission) !== null &&
  html`<form method="post" action="${`${address}/take-over${queue}`}"><button class="btn">Take over</button></form>`

type SectionFacts = { ctx: Context; isFolded: boolean; categories: readonly string[] }

/** A question with its answer and grades. Settled questions are folded while others need work. */
const questionSection = (form: Form, graded: GradeFormFacts, { ctx, isFolded, categories }: SectionFacts): Html => {
  const { question, address } = graded
  const { number } = question
  return html`<details class="group scroll-mt-28 rounded-box" id="${`question-${number}`}" data-question="${number}" ${!isFolded && html`open`}>
<summary class="rounded-box group-open:border-transparent group-open:bg-transparent border-base-300 bg-base-100 flex items-center gap-3 border px-4 py-3 group-open:px-1 group-open:pt-0">${icon('chevron-right', 'size-4 shrink-0 group-open:rotate-90')}<h2 class="shrink-0" id="${`question-${number}-heading`}">Question ${number}</h2><span class="text-base-content/70 min-w-0 grow truncate text-sm group-open:invisible">${plainQuestionText(question)}</span><span class="shrink-0 text-sm" data-part="${`stands-${number}`}">${questionStatus(question)}</span></summary>
<div class="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_19rem]">
<section class="panel" aria-labelledby="${`question-${number}-heading`}">
${questionBody(ctx, question, recordingNotes(form, { ctx, sheet: graded.sheet, question, queue: graded.queue, categories }))}${answerAndKey(ctx, question)}
<div data-part="${`given-${number}`}">${gradeHistory(question, address)}</div>
</section>
<section class="panel p-4 lg:sticky lg:top-24" aria-label="${`Grade of question ${number}`}">
${gradeForm(form, graded)}
</section>
</div>
</details>`
}

/** Numbers of the settled questions, if other questions still need grades. */
function findFoldedQuestions(
  { submission, questions, progress }: SubmissionGradingView,
  failed: number | undefined,
): Set<number> {
  const open = [...progress.ungraded, ...progress.undecided]
  if (submission.state === 'released' || open.length === 0) return new Set()
  return new Set(questions.map(({ number }) => number).filter((number) => !open.includes(number) && number !== failed))
}

function noticeOf({ saved, isShared, done }: Facts['done']): string | undefined {
  if (saved === undefined) return NOTICES.get(done ?? '')
  return isShared
    ? `Question ${saved} is saved. Somebody else has graded it since you opened this page: both grades are kept. See “Grades so far”.`
    : `Question ${saved} is saved.`
}

type EndFacts = { ctx: Context; sheet: SubmissionGradingView; address: string; queue: string; graders: Choice[]; named: string }

function end(form: Form, { ctx, sheet, address, queue, graders, named }: EndFacts): Html {
  const { submission, round } = sheet
  const me = ctx.actor.kind === 'member' ? ctx.actor.id : ''
  const isAdmin = may(ctx, 'read')
  const places: GraderSlot[] =
    submission.assessment.secondGrader && isAdmin ? ['first', 'second'] : [round === 2 ? 'second' : 'first']
  const isAssigned = [submission.graderId, submission.secondGraderId].includes(me)
  return html`${panel('result', 'Result', html`<div data-part="result">${resultPart(sheet, address, queue)}</div>`)}
${submission.state !== 'released' && (isAdmin || isAssigned) && panel('hand-on', 'Grader', html`${nameFilterForm(address, named, [graders])}${places.map((place) => reassignForm(form, { place, sheet, address, graders }))}`)}
`
}

type ReassignmentFacts = { place: GraderSlot; sheet: SubmissionGradingView; address: string; graders: Choice[] }

function reassignForm(form: Form, { place, sheet, address, graders }: ReassignmentFacts): Html {
  return html`<form method="post" class="mb-4" action="${`${address}/hand-on/${place}`}">
${choice(form, {
  name: GRADER_FIELDS[place],
  label: place === 'first' ? 'Grader' : 'Second grader',
  value: effectiveGraderOf(sheet.submission, place)?.id ?? '',
  options: [['', 'Nobody'], ...graders.map(({ id, name }): [string, string] => [id, name])],
  ...limitHint(graders),
})}
<button class="btn">Assign</button>
</form>`
}
