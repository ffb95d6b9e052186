import { may } from '../../../domain/access/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { Named } from '../../../domain/invites/form-options.ts'
import { FIELDS, placeToTake } from '../../../domain/submissions/grading/hand-on.ts'
import { holderOf, type Place } from '../../../domain/submissions/grading/rounds.ts'
import type { GradedQuestion, Sheet } from '../../../domain/submissions/grading/sheet.ts'
import { type Html, html } from '../../../html/html.ts'
import { limitHint, narrowing } from '../kit/choices.ts'
import { choice, type Form, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { badge } from '../kit/status.ts'
import { wordIssue } from '../kit/wording.ts'
import { captures, notes, questionBody, screenHeadline } from '../submissions/submission.page.ts'
import { given, others, progress, result, wordStanding } from './sheet.parts.ts'

type Facts = {
  ctx: Context
  sheet: Sheet
  graders: Named[]
  /** What the list of them is narrowed to. */
  named: string
  /** What has just been done. */
  done: { saved?: number | undefined; isShared?: boolean; done?: string | undefined }
  /** The question that the form is of. */
  failed?: number
}

const NOTICES = new Map([
  ['taken', 'You grade it now.'],
  ['released', 'The result is released.'],
  ['reopened', 'It can be graded again. What was released stays until it is released anew.'],
])

export function sheetPage(form: Form, { ctx, sheet, graders, named, done, failed }: Facts): Page {
  const { candidate, submission, detail, questions } = sheet
  const address = pathOf(ctx, `grading/${submission.id}`)
  const me = ctx.actor.kind === 'member' ? ctx.actor.id : ''
  return {
    title: `Grade ${candidate}`,
    heading: candidate,
    state: badge(submission.state === 'released' ? 'released' : 'to be graded'),
    subtitle: submission.assessment.name,
    trail: [['Grading', pathOf(ctx, 'grading')]],
    notice: noticeOf(done),
    body: html`${mistakes(form)}<div role="status" data-part="others">${others(sheet)}</div>
${screenHeadline(detail)}${about(ctx, sheet, address)}
${TOOLS}
<div class="grid gap-4 lg:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]" data-sheet="${address}" data-drafts="${`grade ${me} ${submission.id}`}">
<div class="space-y-4">
${questions.map((question) => {
  const id = `question-${question.number}`
  const body = html`${questionBody(ctx, question)}
${grading(form, { sheet, question, address, isFailed: question.number === failed })}`
  return html`<div id="${id}" data-question>${panel(id, `Question ${question.number}`, body)}</div>`
})}
</div>
<aside class="space-y-4" aria-label="Proctoring">
${captures(ctx, detail, address)}
${notes(detail)}
</aside>
</div>
${end(form, { ctx, sheet, address, graders, named })}`,
  }
}

function noticeOf({ saved, isShared, done }: Facts['done']): string | undefined {
  if (saved === undefined) return NOTICES.get(done ?? '')
  return isShared
    ? `Question ${saved} is saved. Somebody else has graded it since you opened the sheet: both grades are kept, see there.`
    : `Question ${saved} is saved.`
}

const about = (ctx: Context, sheet: Sheet, address: string): Html =>
  panel(
    'about',
    'Progress',
    html`<div data-part="progress">${progress(sheet)}</div>
${sheet.submission.state !== 'released' && placeToTake(ctx, sheet.submission) && html`<form method="post" action="${`${address}/take-over`}"><button class="btn">Take over</button></form>`}`,
  )

const KEYS: [key: string, does: string][] = [
  ['j', 'next question'],
  ['k', 'previous question'],
  ['p', 'play and pause the answer'],
  ['b', 'ten seconds back'],
  ['f', 'ten seconds on'],
  ['+', 'half a point more; from none, begins at 0'],
  ['-', 'half a point less; from none, begins at the most'],
]

/** What only scripts can do. */
const TOOLS = html`<section class="panel flex flex-wrap items-start gap-x-8 gap-y-1 py-3" aria-label="Keys and speed" data-tools hidden>
<label class="flex items-center gap-3 text-sm font-medium">Speed of recordings
<select class="select select-sm w-20" data-speed>
${['0.75', '1', '1.25', '1.5', '1.75', '2'].map((speed) => html`<option value="${speed}" ${speed === '1' && html`selected`}>${speed}×</option>`)}
</select>
</label>
<details>
<summary class="py-2 text-sm font-medium">Keys</summary>
<label class="flex items-center gap-2.5 py-1.5 text-sm"><input class="checkbox checkbox-sm" type="checkbox" data-keys checked> Grade with single keys</label>
<p class="hint">They work for the question that you are at, while you are not typing.</p>
<dl class="details">${KEYS.map(([key, does]) => html`<dt><kbd class="kbd kbd-sm">${key}</kbd></dt><dd>${does}</dd>`)}</dl>
</details>
</section>`

type Graded = { sheet: Sheet; question: GradedQuestion; address: string; isFailed: boolean }

/** The points and the comment: as they are saved, or as they were typed and not taken. Nothing is preset. */
function grading(form: Form, { sheet, question, address, isFailed }: Graded): Html {
  const { number, points, own, standing } = question
  const typed = (name: string, saved: string): string => (isFailed ? form.values.get(name) : null) ?? saved
  const idOf = (name: string): string => (isFailed ? name : `${name}-${number}`)
  const mistake = (name: string): Html | false => {
    const issues = isFailed ? form.issues.filter(({ field }) => field === name) : []
    return issues.length > 0 && html`<p class="mistake" id="${`${name}-mistake`}">${issues.map(wordIssue).join(' ')}</p>`
  }
  const part = html`<div data-part="${`given-${number}`}">${given(question, address)}</div>`
  if (sheet.submission.state === 'released')
    return html`<h3>Grade</h3>
${standing.state !== 'graded' && html`<p>${wordStanding(standing, points)}</p>`}
${part}`
  const isTold = form.issues.some((issue) => issue.rule === 'account' && issue.problem === 'regraded')
  const seen = seenOf(sheet).toISOString()
  return html`<h3>Grade</h3>
<form method="post" action="${`${address}/questions/${number}`}" data-grade="${number}" data-most="${points}" data-own="${own?.updatedAt.toISOString()}" ${isFailed && html`data-unsaved`}>
<input type="hidden" name="seen" value="${isTold ? seen : typed('seen', seen)}">
${
  points > 0 &&
  html`<div class="mb-4">
<label class="mb-1.5 block text-sm font-medium" for="${idOf('points')}">Points, of ${points}</label>
<input class="input w-28" id="${idOf('points')}" name="points" inputmode="decimal" value="${typed('points', own?.points?.toString() ?? '')}" autocomplete="off" aria-describedby="points-mistake">
${mistake('points')}
</div>`
}
<div class="mb-4">
<label class="mb-1.5 block text-sm font-medium" for="${idOf('comment')}">Comment</label>
<textarea class="textarea w-full" id="${idOf('comment')}" name="comment" rows="3" autocomplete="off" dir="auto" aria-describedby="comment-mistake">
${typed('comment', own?.comment ?? '')}</textarea>
${mistake('comment')}
</div>
<button class="btn">Save question ${number}</button>
</form>
${part}`
}

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
${submission.state !== 'released' && (isAdmin || isAssigned) && panel('hand-on', 'Who grades it', html`${narrowing(address, named, [graders])}${places.map((place) => handOnForm(form, { place, sheet, address, graders }))}`)}
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
