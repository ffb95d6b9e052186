import type { Context } from '../../domain/context.ts'
import type { GivenGrade, NewestGrade } from '../../domain/submissions/grading/grades.ts'
import type { GradedQuestion, Sheet } from '../../domain/submissions/grading/sheet.ts'
import type { Standing } from '../../domain/submissions/grading/totals.ts'
import { wordCount } from '../../http/candidate-view.ts'
import { type Html, html } from '../../http/html.ts'
import { pathOf } from './layout.ts'
import { table } from './table.ts'
import { confirmation, time } from './wording.ts'

// What changes on the sheet while it is open. The script puts in what there is now: each part into the element of its name.

const ROUND_WORDS = { 1: '', 2: 'second grader', 3: 'decision' }

/** All parts of the sheet, by name. */
export const sheetParts = (ctx: Context, sheet: Sheet): [name: string, part: Html][] => [
  ['others', others(sheet)],
  ['progress', progress(sheet)],
  ...sheet.questions.map((question): [string, Html] => [`given-${question.number}`, given(question, addressOf(ctx, sheet))]),
  ['result', result(sheet, addressOf(ctx, sheet))],
]

const addressOf = (ctx: Context, { submission }: Sheet): string => pathOf(ctx, `grading/${submission.id}`)

/** Who else is at it. */
export const others = ({ others }: Sheet): Html =>
  html`${others.length > 0 && html`<p class="notice good">${others.join(', ')} ${others.length === 1 ? 'has' : 'have'} this sheet open, too. All grades are kept.</p>`}`

/** How far the grading is. */
export function progress({ submission, questions, total }: Sheet): Html {
  const counting = questions.filter(({ points }) => points > 0)
  const graded = counting.filter(({ standing }) => standing.state === 'graded')
  return html`<dl class="details"><dt>Assessment</dt><dd>${submission.assessment.name}</dd>
<dt>Handed in</dt><dd>${submission.submittedAt && time(submission.submittedAt)}</dd>
<dt>State</dt><dd><span class="status">${submission.state === 'released' ? 'released' : 'to be graded'}</span></dd>
<dt>Graded</dt><dd>${graded.length} of ${wordCount(counting.length, 'question')}</dd>
<dt>Points</dt><dd>${total.points} of ${total.ofPoints}${total.missing && ' so far'}</dd></dl>`
}

/** What counts for a question, and the grades that stand. @param address of the sheet. */
export const given = ({ number, points, standing, given }: GradedQuestion, address: string): Html =>
  html`${points > 0 && standing.state !== 'ungraded' && html`<p class="facts">${wordStanding(standing, points)}</p>`}
${given.length > 0 && history(given, `${address}/questions/${number}`, number)}`

export function wordStanding(standing: Standing, points: number): string {
  if (points === 0) return 'It gives no points.'
  if (standing.state === 'graded') return `What counts: ${standing.points} of ${wordCount(points, 'point')}.`
  return standing.state === 'undecided' ? 'The two grades are too far apart: an admin has to decide.' : 'Not graded.'
}

/** @param address where all of them are. */
function history(given: NewestGrade[], address: string, number: number): Html {
  const earlier = given.reduce((sum, grade) => sum + grade.earlier, 0)
  const heading = `grades-${number}-heading`
  return html`<details>
<summary id="${heading}">Grades so far: ${given.length + earlier}</summary>
${gradeTable(heading, given)}
${earlier > 0 && html`<p><a href="${address}">Earlier grades of question ${number}</a></p>`}
</details>`
}

export const gradeTable = (heading: string, grades: readonly GivenGrade[]): Html =>
  table(
    heading,
    ['When', 'Who', 'Points', 'Comment'],
    grades.map(({ updatedAt, name, points, comment, round }) => [
      time(updatedAt),
      html`${name}${ROUND_WORDS[round] && `, ${ROUND_WORDS[round]}`}`,
      points ?? 'none',
      html`<span class="preformatted">${comment}</span>`,
    ]),
  )

/** Whether the result can be released. */
export function result({ submission, total: { missing } }: Sheet, address: string): Html {
  if (submission.state === 'released')
    return html`<p>The result is released. To change it, reopen it and release it anew.</p>
${confirmation('Reopen', 'Grade it again? What was released stays visible until then.', `${address}/reopen`)}`
  if (missing)
    return html`<p>It can be released once every question with points is graded: <a href="${`#question-${missing.number}`}">question ${missing.number}</a> is ${missing.standing.state === 'undecided' ? 'to be decided by an admin' : 'not graded yet'}.</p>`
  return html`<p>Every question is graded.</p><p><a class="button" href="${`${address}/release`}">Release the result</a></p>`
}
