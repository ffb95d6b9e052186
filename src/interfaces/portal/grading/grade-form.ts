import type { GradedQuestion, Sheet } from '../../../domain/submissions/grading/sheet.ts'
import { isByPeople } from '../../../domain/submissions/grading/totals.ts'
import { type Html, html } from '../../../html/html.ts'
import type { Form } from '../kit/forms.ts'
import { wordIssue } from '../kit/issue-words.ts'
import { countsFor, givenByOthers, gradeLines, wordStanding } from './sheet.parts.ts'

/** @property isFailed whether the form is of this question. */
export type Graded = { sheet: Sheet; question: GradedQuestion; address: string; queue: string; isFailed: boolean }

/**
 * What others have given, and the points and the comment: as its grader has saved them, or as they were typed and not taken. Where they
 * have given no points, those that others have given and that count stand in the field; left so, they stay the others'.
 */
export function gradeForm(form: Form, { sheet, question, address, queue, isFailed }: Graded): Html {
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
${gradeLines(question.given)}${counts}`
  const isTold = form.issues.some((issue) => issue.rule === 'account' && issue.problem === 'regraded')
  const seen = seenOf(sheet).toISOString()
  const stood = pointsStood(question)
  return html`<div data-part="${`points-${number}`}">${givenByOthers(question)}</div>
<form method="post" action="${`${address}/questions/${number}${queue}`}" data-grade="${number}" data-most="${points}" data-own="${own?.updatedAt.toISOString()}" ${isFailed && html`data-unsaved`}>
<input type="hidden" name="seen" value="${isTold ? seen : typed('seen', seen)}">
<input type="hidden" name="stood" value="${typed('stood', stood)}">
${
  points > 0 &&
  html`<div class="mb-4">
<div class="mb-2 flex items-center gap-2"><label class="grow text-sm font-medium" for="${idOf('points')}">${labelOf(sheet, question)}</label><input class="input w-20 tabular-nums" id="${idOf('points')}" name="points" inputmode="decimal" value="${typed('points', own?.points?.toString() ?? stood)}" autocomplete="off" aria-describedby="points-mistake"></div>
<div class="noscript:hidden grid grid-cols-6 gap-1" role="group" aria-label="${`Points of question ${number}`}">${stepsOf(points).map((step) => html`<button type="button" class="btn btn-sm aria-pressed:btn-primary px-0 tabular-nums" aria-pressed="false" data-points="${step}">${step}</button>`)}</div>
<p class="hint noscript:hidden pointer-coarse:hidden mt-2" aria-hidden="true">or press <kbd class="kbd kbd-sm">0</kbd> to <kbd class="kbd kbd-sm">9</kbd></p>
${mistake('points')}
</div>`
}
<div class="mb-2">
<label class="mb-1.5 block text-sm font-medium" for="${idOf('comment')}">Comment</label>
<textarea class="textarea w-full" id="${idOf('comment')}" name="comment" rows="4" autocomplete="off" dir="auto" aria-describedby="${`${idOf('comment')}-readers comment-mistake`}">
${typed('comment', own?.comment ?? '')}</textarea>
<p class="hint" id="${`${idOf('comment')}-readers`}">Graders and admins read it; clients and your systems once the result is released. The candidate doesn’t see it.</p>
${mistake('comment')}
</div>
<div class="flex min-h-10 items-center gap-2 text-sm" data-saving><button class="btn">Save question ${number}</button></div>
</form>
${counts}`
}

/** The points that count though whoever looks has given none; empty where there are none, and for those of a key, which may change. */
const pointsStood = ({ own, points, standing }: GradedQuestion): string =>
  points > 0 && own?.points == null && standing.state === 'graded' && isByPeople(standing) ? String(standing.points) : ''

/** What the points of that field are. */
function labelOf({ round }: Sheet, { points, own, standing }: GradedQuestion): string {
  if (round === 3) return `Your decision, of ${points}`
  const isByKey = standing.state === 'graded' && standing.by === 'key' && own?.points == null
  return isByKey ? `Points instead of the key’s, of ${points}` : `Points, of ${points}`
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
