import { may } from '../../../domain/access/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { Named } from '../../../domain/invites/form-options.ts'
import { FIELDS, placeToTake } from '../../../domain/submissions/grading/hand-on.ts'
import type { QueuePlace } from '../../../domain/submissions/grading/queue-place.ts'
import { holderOf, type Place } from '../../../domain/submissions/grading/rounds.ts'
import type { GradedQuestion, Sheet } from '../../../domain/submissions/grading/sheet.ts'
import { type Html, html } from '../../../html/html.ts'
import { wordCount, wordDuration } from '../../../http/pages/candidate-view.ts'
import { type IconName, icon } from '../../../http/pages/icon.ts'
import { definedKind } from '../../../kinds/index.ts'
import { limitHint, narrowing } from '../kit/choices.ts'
import { choice, type Form, mistakes } from '../kit/forms.ts'
import { wordIssue } from '../kit/issue-words.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { ago } from '../kit/wording.ts'
import { questionBody } from '../submissions/answers.parts.ts'
import { captures, notes, screenHeadline } from '../submissions/submission.page.ts'
import { action, countsFor, given, others, progress, result, state, who, wordStanding } from './sheet.parts.ts'

type Facts = {
  ctx: Context
  sheet: Sheet
  graders: Named[]
  place: QueuePlace
  /** What the list of them is narrowed to. */
  named: string
  /** What has just been done. */
  done: { saved?: number | undefined; isShared?: boolean; done?: string | undefined }
  /** The question that the form is of. */
  failed?: number
}

const NOTICES = new Map([
  ['taken', 'You are now the grader.'],
  ['released', 'The result is released.'],
  ['reopened', 'The result is reopened for grading. The released version stays visible until you release again.'],
])

export function sheetPage(form: Form, { ctx, sheet, place, graders, named, done, failed }: Facts): Page {
  const { candidate, submission, detail, questions } = sheet
  const address = pathOf(ctx, `grading/${submission.id}`)
  const me = ctx.actor.kind === 'member' ? ctx.actor.id : ''
  return {
    title: `Grade ${candidate}`,
    heading: candidate,
    state: html`<span data-part="state">${state(sheet)}</span>`,
    subtitle: subtitle(ctx, sheet, place),
    trail: [['Grading', pathOf(ctx, 'grading')]],
    actions: html`${neighbours(ctx, place)}${takeOver(ctx, sheet, address)}<span data-part="action">${action(sheet, address)}</span>`,
    notice: noticeOf(done),
    body: html`${mistakes(form)}<div class="empty:hidden" role="status" data-part="others">${others(sheet)}</div>
<div class="empty:hidden" data-part="who">${who(sheet)}</div>
${screenHeadline(detail)}${tools(sheet)}
<div class="space-y-6" data-sheet="${address}" data-drafts="${`grade ${me} ${submission.id}`}">
${questions.map((question) => questionShown(form, { ctx, sheet, question, address, isFailed: question.number === failed }))}
</div>
${end(form, { ctx, sheet, address, graders, named })}
${captures(ctx, detail, address)}
${notes(detail)}`,
  }
}

/** When it was handed in and how long it took, and where it stands in the queue. */
function subtitle(ctx: Context, { submission }: Sheet, { whose, position, length }: QueuePlace): Html {
  const { assessment, startedAt, submittedAt } = submission
  const seconds = startedAt && submittedAt && Math.round((submittedAt.getTime() - startedAt.getTime()) / 1_000)
  return html`${assessment.name}${submittedAt && html` · handed in ${ago(ctx, submittedAt)}`}${seconds !== null && seconds > 0 && ` · took ${wordRoughly(seconds)}`}${position !== null && ` · ${position} of ${length} ${QUEUES[whose]}`}`
}

/** To the minute, or the hour: how long it took is not looked at more closely. */
function wordRoughly(seconds: number): string {
  const minutes = Math.round(seconds / 60)
  if (minutes < 1) return wordDuration(seconds)
  return minutes < 120 ? wordCount(minutes, 'minute') : wordCount(Math.round(minutes / 60), 'hour')
}

const QUEUES: Record<QueuePlace['whose'], string> = {
  mine: 'in your queue',
  nobody: 'without a grader',
  all: 'to be graded',
  release: 'to be released',
}

/** The ways to the submissions before and after it in the queue. */
const neighbours = (ctx: Context, { position, before, after }: QueuePlace): Html => {
  const link = (id: string, label: string, name: IconName, key: string) =>
    html`<a class="btn btn-ghost btn-square" href="${pathOf(ctx, `grading/${id}`)}" aria-label="${label}" title="${label}" data-go="${key}">${icon(name, 'size-5')}</a>`
  if (position === null)
    return html`${after && html`<a class="btn" href="${pathOf(ctx, `grading/${after}`)}" data-go="next">Next submission${icon('chevron-right')}</a>`}`
  return html`${before && link(before, 'Previous submission', 'chevron-left', 'previous')}${after && link(after, 'Next submission', 'chevron-right', 'next')}`
}

const takeOver = (ctx: Context, { submission }: Sheet, address: string): Html | false =>
  submission.state !== 'released' &&
  placeToTake(ctx, submission) !== null &&
  html`<form method="post" action="${`${address}/take-over`}"><button class="btn">Take over</button></form>`

/** A question: its answer, and beside it what is graded of it. */
const questionShown = (form: Form, graded: Graded): Html => {
  const { ctx, question, address } = graded
  const { number } = question
  return html`<div class="grid scroll-mt-28 items-start gap-4 rounded-box lg:grid-cols-[minmax(0,1fr)_19rem]" id="${`question-${number}`}" data-question="${number}">
${panel(
  `question-${number}`,
  `Question ${number}`,
  html`${questionBody(ctx, question)}${answerAndKey(ctx, question)}
<div data-part="${`given-${number}`}">${given(question, address)}</div>`,
)}
<section class="panel p-4 lg:sticky lg:top-24" aria-label="${`Grade of question ${number}`}">
${grading(form, graded)}
</section>
</div>`
}

const EFFECTS = { full: 'Its key gives everybody all points.', none: 'Its key says that it is not counted.' }

/** What its key says of the answer: the points stand where nobody gives others. */
function answerAndKey(
  ctx: Context,
  { score, scored, shown, takes, version, versionId, isBeforeKey }: GradedQuestion,
): Html | false {
  const kind = version && definedKind(version.responseType)
  if (!score || !kind) return false
  const value = takes.find(({ kind: by }) => by === 'text')?.value ?? null
  return html`<div class="mt-4" data-score><h3>Answer and key</h3>
${kind.sheet({ spec: version.spec, key: score.key, shown, value, parts: score.parts })}
<p class="facts mt-2">${scored === null ? 'A person has to say how many points it gives.' : `The key gives ${wordCount(scored, 'point')}.`}${score.effect !== 'key' && ` ${EFFECTS[score.effect]}`}${isBeforeKey && ' Decided before the key was changed.'}${may(ctx, 'write_assessments') && html` <a href="${pathOf(ctx, `keys/${versionId}`)}">Correct the key</a>`}</p></div>`
}

function noticeOf({ saved, isShared, done }: Facts['done']): string | undefined {
  if (saved === undefined) return NOTICES.get(done ?? '')
  return isShared
    ? `Question ${saved} is saved. Somebody else has graded it since you opened the sheet: both grades are kept. See “Grades so far”.`
    : `Question ${saved} is saved.`
}

const KEYS: [key: string, does: string][] = [
  ['j', 'next question'],
  ['k', 'previous question'],
  ['p', 'play or pause the answer'],
  ['b', 'ten seconds back'],
  ['f', 'ten seconds forward'],
  ['0 … 9', 'give that many points; for 10 type 1, then 0'],
  ['+', 'half a point more; starts at 0'],
  ['-', 'half a point less; starts at the maximum'],
  ['c', 'write the comment'],
  ['Esc', 'leave the field'],
  ['n', 'next submission'],
  ['N', 'previous submission'],
]

/** How far it is; and what only scripts can do, which is not there without them. It stays in view beside long answers. */
const tools = (
  sheet: Sheet,
): Html => html`<section class="panel z-10 flex flex-wrap items-center gap-x-6 gap-y-3 px-5 py-3 lg:sticky lg:top-2 print:hidden" aria-label="Progress and shortcuts" data-tools>
<div class="min-w-56 grow" data-part="progress">${progress(sheet)}</div>
<label class="noscript:hidden flex items-center gap-2 text-sm font-medium">Speed
<select class="select select-sm w-20" data-speed>
${['0.75', '1', '1.25', '1.5', '1.75', '2'].map((speed) => html`<option value="${speed}" ${speed === '1' && html`selected`}>${speed}×</option>`)}
</select>
</label>
<details class="noscript:hidden dropdown dropdown-end max-sm:basis-full">
<summary class="btn btn-sm">Keyboard shortcuts</summary>
<div class="dropdown-content bg-base-100 border-base-300 rounded-box z-10 mt-1 w-80 space-y-2 border p-4 shadow-lg max-sm:static max-sm:w-full max-sm:shadow-none">
<label class="flex items-center gap-2.5 text-sm"><input class="checkbox checkbox-sm" type="checkbox" data-keys checked> Use keyboard shortcuts</label>
<p class="hint">They act on the question you are at, while you are not typing.</p>
<dl class="grid grid-cols-[max-content_1fr] items-center gap-x-3 gap-y-1.5 text-sm">${KEYS.map(([key, does]) => html`<dt>${key.split(' ').map((one) => html`<kbd class="kbd kbd-sm">${one}</kbd> `)}</dt><dd>${does}</dd>`)}</dl>
</div>
</details>
</section>`

type Graded = { ctx: Context; sheet: Sheet; question: GradedQuestion; address: string; isFailed: boolean }

/** The points and the comment: as they are saved, or as they were typed and not taken. Nothing is preset. */
function grading(form: Form, { sheet, question, address, isFailed }: Graded): Html {
  const { number, points, own, standing } = question
  const typed = (name: string, saved: string): string => (isFailed ? form.values.get(name) : null) ?? saved
  const idOf = (name: string): string => (isFailed ? name : `${name}-${number}`)
  const mistake = (name: string): Html | false => {
    const issues = isFailed ? form.issues.filter(({ field }) => field === name) : []
    return issues.length > 0 && html`<p class="mistake" id="${`${name}-mistake`}">${issues.map(wordIssue).join(' ')}</p>`
  }
  const counts = html`<div data-part="${`counts-${number}`}">${countsFor(question)}</div>`
  if (sheet.submission.state === 'released')
    return html`<h3 class="mt-0">Grade</h3>
${standing.state !== 'graded' && html`<p class="facts">${wordStanding(standing, points)}</p>`}
${counts}`
  const isTold = form.issues.some((issue) => issue.rule === 'account' && issue.problem === 'regraded')
  const seen = seenOf(sheet).toISOString()
  return html`<form method="post" action="${`${address}/questions/${number}`}" data-grade="${number}" data-most="${points}" data-own="${own?.updatedAt.toISOString()}" ${isFailed && html`data-unsaved`}>
<input type="hidden" name="seen" value="${isTold ? seen : typed('seen', seen)}">
${
  points > 0 &&
  html`<div class="mb-4">
<div class="mb-1.5 flex items-center justify-between gap-2"><label class="text-sm font-medium" for="${idOf('points')}">Points, of ${points}</label><span class="noscript:hidden" aria-hidden="true"><kbd class="kbd kbd-sm">0</kbd>–<kbd class="kbd kbd-sm">9</kbd></span></div>
<div class="noscript:hidden mb-2 grid grid-cols-6 gap-1" role="group" aria-label="${`Points of question ${number}`}">${stepsOf(points).map((step) => html`<button type="button" class="btn btn-sm aria-pressed:btn-primary px-0 tabular-nums" aria-pressed="false" data-points="${step}">${step}</button>`)}</div>
<input class="input w-full" id="${idOf('points')}" name="points" inputmode="decimal" value="${typed('points', own?.points?.toString() ?? '')}" autocomplete="off" aria-describedby="points-mistake">
${mistake('points')}
</div>`
}
<div class="mb-2">
<label class="mb-1.5 block text-sm font-medium" for="${idOf('comment')}">Comment</label>
<textarea class="textarea w-full" id="${idOf('comment')}" name="comment" rows="4" autocomplete="off" dir="auto" aria-describedby="comment-mistake">
${typed('comment', own?.comment ?? '')}</textarea>
${mistake('comment')}
</div>
<div class="flex min-h-10 items-center gap-2 text-sm" data-saving><button class="btn">Save question ${number}</button></div>
</form>
${counts}`
}

/** Of a few points each; of many some, evenly: others are typed. */
function stepsOf(most: number): number[] {
  if (most <= MOST_STEPS) return Array.from({ length: most + 1 }, (_, points) => points)
  return [0, 1, 2, 3, 4, 5].map((fifth) => Math.round((most * fifth) / 5))
}

const MOST_STEPS = 11

/** Up to when the grades of the sheet are seen: the newest of them. */
const seenOf = ({ questions, submission }: Sheet): Date =>
  questions
    .flatMap(({ given }) => given.map(({ updatedAt }) => updatedAt))
    .reduce((last, at) => (at > last ? at : last), submission.submittedAt ?? submission.createdAt)

type End = { ctx: Context; sheet: Sheet; address: string; graders: Named[]; named: string }

function end(form: Form, { ctx, sheet, address, graders, named }: End): Html {
  const { submission, round } = sheet
  const me = ctx.actor.kind === 'member' ? ctx.actor.id : ''
  const isAdmin = may(ctx, 'read')
  const places: Place[] = submission.assessment.secondGrader && isAdmin ? ['first', 'second'] : [round === 2 ? 'second' : 'first']
  const isAssigned = [submission.graderId, submission.secondGraderId].includes(me)
  return html`${panel('result', 'Result', html`<div data-part="result">${result(sheet, address)}</div>`)}
${submission.state !== 'released' && (isAdmin || isAssigned) && panel('hand-on', 'Grader', html`${narrowing(address, named, [graders])}${places.map((place) => handOnForm(form, { place, sheet, address, graders }))}`)}
`
}

type HandOn = { place: Place; sheet: Sheet; address: string; graders: Named[] }

function handOnForm(form: Form, { place, sheet, address, graders }: HandOn): Html {
  return html`<form method="post" class="mb-4" action="${`${address}/hand-on/${place}`}">
${choice(form, {
  name: FIELDS[place],
  label: place === 'first' ? 'Grader' : 'Second grader',
  value: holderOf(sheet.submission, place)?.id ?? '',
  options: [['', 'Nobody'], ...graders.map(({ id, name }): [string, string] => [id, name])],
  ...limitHint(graders),
})}
<button class="btn">Assign</button>
</form>`
}
