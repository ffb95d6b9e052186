import { may } from '../../domain/access/permissions.ts'
import type { Context } from '../../domain/context.ts'
import type { Named } from '../../domain/invites/choices.ts'
import type { Place } from '../../domain/submissions/grading/assign.ts'
import type { GivenGrade } from '../../domain/submissions/grading/grades.ts'
import type { GradedQuestion, Sheet } from '../../domain/submissions/grading/sheet.ts'
import type { Standing } from '../../domain/submissions/grading/totals.ts'
import { wordCount } from '../../http/candidate-view.ts'
import { type Html, html } from '../../http/html.ts'
import { choice, type Form, mistakes } from './forms.ts'
import { mayTake } from './grading.page.ts'
import { type Page, panel, pathOf } from './layout.ts'
import { captures, notes, questionBody } from './submission.page.ts'
import { table } from './table.ts'
import { confirmation, time, wordIssue } from './wording.ts'

type Facts = {
  ctx: Context
  sheet: Sheet
  graders: Named[]
  /** What has just been done. */
  done: { saved?: number | undefined; isShared?: boolean; done?: string | undefined }
  /** The question that the form is of. */
  failed?: number
}

const NOTICES = new Map([
  ['taken', 'You grade it now.'],
  ['handed-on', 'It is handed on.'],
  ['released', 'The result is released.'],
  ['reopened', 'It can be graded again. What was released stays until it is released anew.'],
])

const ROUND_WORDS = { 1: '', 2: 'second grader', 3: 'decision' }

export function sheetPage(form: Form, { ctx, sheet, graders, done, failed }: Facts): Page {
  const { candidate, submission, detail, questions } = sheet
  const address = pathOf(ctx, `grading/${submission.id}`)
  return {
    title: `Grade ${candidate}`,
    notice: noticeOf(done),
    body: html`${mistakes(form)}${about(ctx, sheet, address)}
<div class="beside">
<div>
${questions.map((question) =>
  panel(
    `question-${question.number}`,
    `Question ${question.number}`,
    html`${questionBody(ctx, question)}
${grading(form, { sheet, question, address, isFailed: question.number === failed })}`,
  ),
)}
</div>
<aside aria-label="Proctoring">
${captures(ctx, detail)}
${notes(detail)}
</aside>
</div>
${end(form, { ctx, sheet, address, graders })}`,
  }
}

function noticeOf({ saved, isShared, done }: Facts['done']): string | undefined {
  if (saved === undefined) return NOTICES.get(done ?? '')
  return isShared
    ? `Question ${saved} is saved. Somebody else has graded it since you opened the sheet: both grades are kept, see there.`
    : `Question ${saved} is saved.`
}

function about(ctx: Context, { submission, questions, total, others, round }: Sheet, address: string): Html {
  const counting = questions.filter(({ points }) => points > 0)
  const graded = counting.filter(({ standing }) => standing.state === 'graded')
  return panel(
    'about',
    'About it',
    html`${others.length > 0 && html`<p class="notice" role="status">${others.join(', ')} ${others.length === 1 ? 'has' : 'have'} this sheet open, too. All grades are kept.</p>`}
<dl class="details"><dt>Assessment</dt><dd>${submission.assessment.name}</dd>
<dt>Handed in</dt><dd>${submission.submittedAt && time(submission.submittedAt)}</dd>
<dt>State</dt><dd><span class="status">${submission.state === 'released' ? 'released' : 'to be graded'}</span></dd>
<dt>Graded</dt><dd>${graded.length} of ${wordCount(counting.length, 'question')}</dd>
<dt>Points</dt><dd>${total.points} of ${total.ofPoints}${total.missing && ' so far'}</dd></dl>
${submission.assessment.secondGrader && html`<p class="hint">Two graders grade it. ${round === 3 ? 'Where they are far apart, what you give decides.' : 'You see the other’s grades once both have graded every question.'}</p>`}
${mayTake(ctx, submission) && html`<form method="post" action="${`${address}/take-over`}"><button class="quiet">Take over</button></form>`}`,
  )
}

type Graded = { sheet: Sheet; question: GradedQuestion; address: string; isFailed: boolean }

/** The points and the comment: as they are saved, or as they were typed and not taken. Nothing is preset. */
function grading(form: Form, { sheet, question, address, isFailed }: Graded): Html {
  const { number, points, own, given, standing } = question
  const typed = (name: string, saved: string): string => (isFailed ? form.values.get(name) : null) ?? saved
  const idOf = (name: string): string => (isFailed ? name : `${name}-${number}`)
  const wrong = (name: string) => isFailed && form.issues.filter(({ field }) => field === name)
  const mistake = (name: string): Html | false => {
    const issues = wrong(name)
    return (
      issues && issues.length > 0 && html`<p class="mistake" id="${`${name}-mistake`}">${issues.map(wordIssue).join(' ')}</p>`
    )
  }
  return html`<h3>Grade</h3>
${
  sheet.submission.state === 'released'
    ? html`<p>${wordStanding(standing, points)}</p>`
    : html`<form method="post" action="${`${address}/questions/${number}`}" data-grade="${number}">
<input type="hidden" name="seen" value="${typed('seen', seenOf(sheet).toISOString())}">
${
  points > 0 &&
  html`<div class="field">
<label for="${idOf('points')}">Points, of ${points}</label>
<input id="${idOf('points')}" name="points" inputmode="decimal" value="${typed('points', own?.points?.toString() ?? '')}" autocomplete="off" aria-describedby="points-mistake">
${mistake('points')}
</div>`
}
<div class="field">
<label for="${idOf('comment')}">Comment</label>
<textarea id="${idOf('comment')}" name="comment" rows="3" aria-describedby="comment-mistake">
${typed('comment', own?.comment ?? '')}</textarea>
${mistake('comment')}
</div>
<button class="quiet">Save question ${number}</button>
</form>
${points > 0 && standing.state !== 'ungraded' && html`<p class="facts">${wordStanding(standing, points)}</p>`}`
}
${given.length > 0 && history(number, given)}`
}

/** Up to when the grades of the sheet are seen: the newest of them. */
const seenOf = ({ questions, submission }: Sheet): Date =>
  questions
    .flatMap(({ given }) => given.map(({ updatedAt }) => updatedAt))
    .reduce((last, at) => (at > last ? at : last), submission.submittedAt ?? submission.createdAt)

function wordStanding(standing: Standing, points: number): string {
  if (points === 0) return 'It gives no points.'
  if (standing.state === 'graded') return `What counts: ${standing.points} of ${wordCount(points, 'point')}.`
  return standing.state === 'undecided' ? 'The two grades are too far apart: an admin has to decide.' : 'Not graded.'
}

const history = (number: number, given: GivenGrade[]): Html => html`<details>
<summary id="${`grades-${number}-heading`}">Grades so far: ${given.length}</summary>
${table(
  `grades-${number}-heading`,
  ['When', 'Who', 'Points', 'Comment'],
  given.map(({ updatedAt, name, points, comment, round }) => [
    time(updatedAt),
    html`${name}${ROUND_WORDS[round] && `, ${ROUND_WORDS[round]}`}`,
    points ?? 'none',
    html`<span class="preformatted">${comment}</span>`,
  ]),
)}
</details>`

type End = { ctx: Context; sheet: Sheet; address: string; graders: Named[] }

function end(form: Form, { ctx, sheet, address, graders }: End): Html {
  const { submission, mayRelease, total, round } = sheet
  const me = ctx.actor.kind === 'member' ? ctx.actor.id : ''
  const isAdmin = may(ctx, 'read')
  const places: Place[] = submission.assessment.secondGrader && isAdmin ? ['first', 'second'] : [round === 2 ? 'second' : 'first']
  const mayHandOn = isAdmin || me === submission.graderId || me === submission.secondGraderId
  return html`${mayRelease && panel('result', 'Result', result(sheet, total, address))}
${mayHandOn && panel('hand-on', 'Who grades it', html`${places.map((place) => handOnForm(form, { place, sheet, address, graders }))}`)}`
}

function result({ submission }: Sheet, { missing }: Sheet['total'], address: string): Html {
  if (submission.state === 'released')
    return html`<p>The result is released. To change it, reopen it and release it anew.</p>
${confirmation('Reopen', 'Grade it again? What was released stays visible until then.', `${address}/reopen`)}`
  if (missing)
    return html`<p>It can be released once every question with points is graded: <a href="${`#question-${missing.number}`}">question ${missing.number}</a> is ${missing.standing.state === 'undecided' ? 'to be decided by an admin' : 'not graded yet'}.</p>`
  return html`<p>Every question is graded.</p><p><a class="button" href="${`${address}/release`}">Release the result</a></p>`
}

type HandOn = { place: Place; sheet: Sheet; address: string; graders: Named[] }

function handOnForm(form: Form, { place, sheet, address, graders }: HandOn): Html {
  const { graderId, secondGraderId } = sheet.submission
  const name = 'assignedGraderId'
  return html`<form method="post" action="${`${address}/hand-on/${place}`}">
${choice(form, {
  name,
  label: place === 'first' ? 'Grader' : 'Second grader',
  value: (place === 'first' ? graderId : secondGraderId) ?? '',
  options: [['', 'Nobody'], ...graders.map(({ id, name }): [string, string] => [id, name])],
})}
<button class="quiet">Hand on</button>
</form>`
}
