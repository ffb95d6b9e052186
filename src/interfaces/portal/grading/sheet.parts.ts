import type { Context } from '../../../domain/context.ts'
import { mayGrade } from '../../../domain/members/graders.ts'
import { isSlotOpen } from '../../../domain/submissions/grading/graded-submission.ts'
import type { GradeByPerson, NewestGrade } from '../../../domain/submissions/grading/grades.ts'
import type { GradingStatus, PointsSource } from '../../../domain/submissions/grading/grading-status.ts'
import type { GradedQuestion, SubmissionGradingView } from '../../../domain/submissions/grading/grading-view.ts'
import type { Result } from '../../../domain/submissions/grading/results.ts'
import { displayNameOf } from '../../../domain/text/display-name.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount } from '../../../http/pages/candidate-view.ts'
import { icon } from '../../../http/pages/icon.ts'
import { confirmButton } from '../kit/confirm.ts'
import { time } from '../kit/formatting.ts'
import { pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { noteParts } from './note.parts.ts'
import { agreement } from './rubric.parts.ts'

// Parts of the grading view that change while it is open. The script inserts each new part into the element of its name.

const ROUND_WORDS = { 1: '', 2: 'second grader', 3: 'decision' }

/** @param queue query string with the filter of the queue. */
export const sheetParts = (ctx: Context, sheet: SubmissionGradingView, queue: string): [name: string, part: Html][] => [
  ['others', otherGraders(sheet)],
  ['who', graderFacts(sheet)],
  ['state', gradingStatus(sheet)],
  ['action', nextAction(sheet, addressOf(ctx, sheet), queue)],
  ['progress', gradingProgress(sheet)],
  ...sheet.questions.flatMap((question): [string, Html][] => [
    [`given-${question.number}`, gradeHistory(question, addressOf(ctx, sheet))],
    [`counts-${question.number}`, countsFor(question)],
    [`points-${question.number}`, givenByOthers(question)],
    [`stands-${question.number}`, questionStatus(question)],
    ...noteParts({ ctx, sheet, question, queue }),
  ]),
  ['result', resultPart(sheet, addressOf(ctx, sheet), queue)],
]

const addressOf = (ctx: Context, { submission }: SubmissionGradingView): string => pathOf(ctx, `grading/${submission.id}`)

const list = new Intl.ListFormat('en-GB')

/** Other graders who have this submission open. */
export const otherGraders = ({ others: otherNames }: SubmissionGradingView): Html =>
  html`${otherNames.length > 0 && html`<p class="alert alert-soft alert-info">${list.format(otherNames)} ${otherNames.length === 1 ? 'has' : 'have'} this submission open, too. All grades are kept.</p>`}`

/** Status badge, with a link to the first open question. */
export function gradingStatus({ submission, progress }: SubmissionGradingView): Html {
  const { questions, ungraded, undecided, isOwnPart } = progress
  if (submission.state === 'released') return badge('released')
  if (ungraded.length > 0)
    return html`<a class="${`${LINKED} badge-warning`}" href="${`#question-${ungraded[0]}`}">${icon('pencil-line', 'size-3.5')}${questions - ungraded.length - undecided.length} of ${questions} graded</a>`
  if (undecided.length > 0)
    return html`<a class="${`${LINKED} badge-error`}" href="${`#question-${undecided[0]}`}">${icon('circle-alert', 'size-3.5')}${undecided.length} to decide</a>`
  return isOwnPart ? badge('waiting') : badge('ready to release')
}

const LINKED = 'badge badge-soft gap-1 font-medium whitespace-nowrap underline underline-offset-2'

/** The next thing this grader can do; nothing if others have to act. */
export function nextAction(sheet: SubmissionGradingView, address: string, queue: string): Html {
  const { ungraded, undecided } = sheet.progress
  if (sheet.submission.state === 'released') return html``
  const [toGrade] = ungraded
  if (toGrade !== undefined) return next(toGrade, 'Next to grade')
  const [toDecide] = undecided
  if (toDecide !== undefined) return sheet.round === 3 ? next(toDecide, 'Next to decide') : html``
  return html`${isToRelease(sheet) && html`<a class="btn btn-primary" href="${`${address}/release${queue}`}">${icon('check')}Release result</a>`}`
}

const next = (question: number, label: string): Html =>
  html`<a class="btn btn-primary" href="${`#question-${question}`}">${icon('arrow-down')}${label}</a>`

const isToRelease = ({ submission, progress, mayRelease }: SubmissionGradingView): boolean =>
  submission.state !== 'released' &&
  mayRelease &&
  !progress.isOwnPart &&
  progress.ungraded.length + progress.undecided.length === 0

export function gradingProgress({ progress }: SubmissionGradingView): Html {
  const { questions, points, ofPoints, ungraded, undecided } = progress
  const missing = ungraded.length + undecided.length
  return html`<dl class="details flex flex-wrap gap-x-5 gap-y-0"><div class="flex gap-2"><dt>Points</dt><dd>${points} of ${ofPoints}${missing > 0 && ' so far'}</dd></div>
<div class="flex gap-2"><dt>Graded</dt><dd>${questions - missing} of ${formatCount(questions, 'question')}</dd></div></dl>
${questions > 0 && html`<progress class="progress progress-primary mt-1 block h-1.5" value="${questions - missing}" max="${questions}" aria-label="Questions graded"></progress>`}`
}

/** Number of graders, and assigned graders who no longer grade. */
export function graderFacts(sheet: SubmissionGradingView): Html {
  const { submission } = sheet
  const former = submission.state === 'released' ? [] : formerGraders(sheet)
  const isGone = (name: string) =>
    html`<p>It was assigned to ${name}, who no longer grades. The grades given so far are kept, and another grader can take it over.</p>`
  return html`${submission.assessment.secondGrader && html`<p>${formatTwoGraders(sheet)}</p>`}${former.map(isGone)}`
}

/** Names of assigned graders who no longer grade. */
const formerGraders = ({ submission }: SubmissionGradingView): string[] => {
  const { grader, secondGrader, assessment } = submission
  const assigned = assessment.secondGrader ? [grader, secondGrader] : [grader]
  return assigned.flatMap((member) => (member && !mayGrade(member) ? displayNameOf(member.user) : []))
}

function formatTwoGraders({ round, progress, submission }: SubmissionGradingView): string {
  if (round === 3)
    return submission.assessment.thirdGrader
      ? 'Two graders have graded this. Where they differ by more than 20 %, the points that you give as the third grader count.'
      : 'Two graders grade this. Points that you give as an admin override theirs.'
  if (!progress.isOwnPart) return 'Both graders are done. You now see each other’s grades.'
  if (round === 1 && isSlotOpen(submission, 'first'))
    return 'Two graders grade this. They see each other’s grades once both have graded every question. Nobody has taken it over yet.'
  return `You are the ${round === 2 ? 'second' : 'first'} of two graders and see your own grades. You see the other’s once both of you have graded every question.`
}

export const countsFor = ({ points, status }: GradedQuestion): Html =>
  html`${points > 0 && status.state !== 'ungraded' && html`<p class="${status.state === 'undecided' ? 'mistake' : 'facts'}">${formatQuestionStatus(status, points)}</p>`}`

/** Grades of others; this grader's own grade is in the fields. */
export const givenByOthers = (question: GradedQuestion): Html => {
  const { ownGrade, grades } = question
  return html`${gradeLines(grades.filter((grade) => grade !== ownGrade))}${agreement(question)}`
}

export const gradeLines = (grades: readonly GradeByPerson[]): Html =>
  html`${grades.length > 0 && html`<ul class="mb-4 space-y-2 text-sm">${grades.map(givenLine)}</ul>`}`

const givenLine = ({ name, round, points, comment }: GradeByPerson): Html =>
  html`<li><p class="flex justify-between gap-3"><span class="text-base-content/70">${nameAndRound({ name, round })}</span><strong class="shrink-0 tabular-nums">${points === null ? 'no points' : formatCount(points, 'point')}</strong></p>${comment && html`<p class="preformatted mt-0">${comment}</p>`}</li>`

/** Short status, beside the question's number. */
export function questionStatus({ points, status }: GradedQuestion): Html {
  if (points === 0) return html`<span class="text-base-content/70">no points</span>`
  if (status.state === 'graded' && status.by === 'no_answer')
    return html`<span class="text-base-content/70">No answer, 0 of ${formatCount(points, 'point')}</span>`
  if (status.state === 'graded') return html`<span class="font-medium">${status.points} of ${formatCount(points, 'point')}</span>`
  return status.state === 'undecided' ? badge('to be decided') : badge('not graded')
}

/** Grades of a question that count. @param address of the grading view. */
export const gradeHistory = ({ number, grades }: GradedQuestion, address: string): Html =>
  html`${grades.length > 0 && history(grades, `${address}/questions/${number}`, number)}`

export function formatQuestionStatus(status: GradingStatus, points: number): string {
  if (points === 0) return 'This question has no points.'
  if (status.state === 'graded') return `Final grade: ${status.points} of ${formatCount(points, 'point')}${SOURCES[status.by]}.`
  if (status.state === 'ungraded') return 'Not graded.'
  return `The two grades differ by more than 20 % of the points: ${DECIDERS[status.decides]} has to decide by giving points here.`
}

export const DECIDERS = { admin: 'an admin', third_grader: 'a third grader' }

const SOURCES: Record<PointsSource, string> = {
  grader: '',
  both: ', the mean of both grades, rounded to half a point',
  admin: ', decided by an admin',
  third_grader: ', decided by a third grader',
  key: ', scored by the answer key',
  no_answer: ', because there is no answer',
}

/** @param address of the page with all grades. */
function history(grades: NewestGrade[], address: string, number: number): Html {
  const earlier = grades.reduce((sum, grade) => sum + grade.earlier, 0)
  const heading = `grades-${number}-heading`
  return html`<details class="mt-4">
<summary class="py-2 text-sm font-medium" id="${heading}">Grades so far: ${grades.length + earlier}</summary>
${gradeTable(heading, grades)}
${earlier > 0 && html`<p><a href="${address}">Earlier grades of question ${number}</a></p>`}
</details>`
}

export const gradeTable = (heading: string, grades: readonly GradeByPerson[]): Html =>
  table(
    heading,
    ['When', 'Who', 'Points', 'Comment'],
    grades.map(({ updatedAt, name, points, comment, round }) => [
      time(updatedAt),
      nameAndRound({ name, round }),
      points ?? 'none',
      html`<span class="preformatted">${comment}</span>`,
    ]),
  )

const nameAndRound = ({ name, round }: Pick<GradeByPerson, 'name' | 'round'>): string =>
  ROUND_WORDS[round] === '' ? name : `${name}, ${ROUND_WORDS[round]}`

/** Release of the result, or what it waits for. */
export function resultPart(sheet: SubmissionGradingView, address: string, queue: string): Html {
  const { submission, mayRelease, released } = sheet
  const before = released && html`<p>${formatReleased(released)}</p>`
  if (submission.state !== 'released') return html`${before}${unreleased(sheet, address, queue)}`
  if (!mayRelease) return html`${before}<p>The first grader or an admin can reopen it.</p>`
  return html`${before}<p>To change the result, reopen it and release it again.</p>
${confirmButton({ label: 'Reopen', question: 'Reopen the result?', consequence: 'It can then be graded again. The released version stays visible until you release again.', address: `${address}/reopen${queue}`, hidden: onceField(), look: 'plain' })}`
}

const formatReleased = ({ version, releasedAt, toCandidate }: Result): Html =>
  html`Version ${version} was released ${time(releasedAt)}: ${toCandidate ? 'your organization and the candidate see it' : 'your organization sees it, the candidate does not'}.`

function unreleased(sheet: SubmissionGradingView, address: string, queue: string): Html {
  const { submission, progress, mayRelease, released } = sheet
  const { ungraded, undecided, isOwnPart } = progress
  if (ungraded.length > 0 || undecided.length > 0)
    return html`<p>You can release the result once every question with points is graded.</p>
${ungraded.length > 0 && html`<p>Not graded ${formatReleasedBy(sheet)}: ${links(ungraded)}.</p>`}
${undecided.length > 0 && html`<p>${formatDecider(sheet)} because the two grades are too far apart: ${links(undecided)}.</p>`}`
  if (isOwnPart && submission.gradingAssignments.length > 0)
    return html`<p>You have graded your questions. The result can be released once the other graders have graded theirs.</p>`
  if (isOwnPart)
    return html`<p>You have graded every question. The result can be released once the other grader has, too${(isSlotOpen(submission, 'first') || isSlotOpen(submission, 'second')) && ': nobody has taken over that part yet'}.</p>`
  if (!mayRelease) return html`<p>Every question is graded. The first grader or an admin releases the result.</p>`
  return html`<p>Every question is graded. Clients, your systems and the candidate see ${released ? 'no change until you release it again' : 'nothing until you release it'}.</p><p><a class="btn btn-primary" href="${`${address}/release${queue}`}">Release result</a></p>`
}

const formatDecider = ({ round, submission }: SubmissionGradingView): string =>
  round === 3 ? 'For you to decide' : `To be decided by ${DECIDERS[submission.assessment.thirdGrader ? 'third_grader' : 'admin']}`

const formatReleasedBy = ({ submission, progress }: SubmissionGradingView): string => {
  if (progress.isOwnPart) return 'by you yet'
  return submission.assessment.secondGrader ? 'by both graders yet' : 'yet'
}

const links = (numbers: number[]): Html =>
  html`${numbers.map((number, i) => html`${i > 0 && ', '}<a href="${`#question-${number}`}">question ${number}</a>`)}`
