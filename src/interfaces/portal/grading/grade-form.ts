import { isByPeople } from '../../../domain/submissions/grading/grading-status.ts'
import type { GradedQuestion, SubmissionGradingView } from '../../../domain/submissions/grading/grading-view.ts'
import { type Html, html } from '../../../html/html.ts'
import type { Form } from '../kit/forms.ts'
import { formatIssue } from '../kit/issue-messages.ts'
import { readLevels, rubricLevels } from './rubric.parts.ts'
import { countsFor, formatQuestionStatus, givenByOthers, gradeLines } from './sheet.parts.ts'

/** @property isFailed true if the refused form is of this question. */
export type GradeFormFacts = {
  sheet: SubmissionGradingView
  question: GradedQuestion
  address: string
  queue: string
  isFailed: boolean
  /** Below the fields. */
  further?: Html
  /** One grade for several answers, which is sent by its button only. */
  equalAnswers?: { address: string; label: string; submissionIds: string[] }
}

/**
 * Points and comment of this grader, as saved or as typed and refused, below the grades of others. If this grader gave no points, the field
 * shows the points that count. Left unchanged, they are not saved as this grader's points.
 */
export function gradeForm(form: Form, facts: GradeFormFacts): Html {
  const { sheet, question } = facts
  const { number, points, status } = question
  const counts = html`<div data-part="${`counts-${number}`}">${countsFor(question)}</div>`
  if (sheet.submission.state === 'released')
    return html`<h3 class="mt-0">Grade</h3>
${status.state !== 'graded' && html`<p class="facts">${formatQuestionStatus(status, points)}</p>`}
${gradeLines(question.grades)}${counts}`
  const otherGrades = html`<div data-part="${`points-${number}`}">${givenByOthers(question)}</div>`
  if (question.assignedTo !== null)
    return html`<h3 class="mt-0">Grade</h3>
<p class="facts">Assigned to ${question.assignedTo}.</p>
${otherGrades}${counts}`
  return html`${otherGrades}\n${gradeFields(form, facts)}\n${counts}`
}

function gradeFields(form: Form, { sheet, question, address, queue, isFailed, further, equalAnswers }: GradeFormFacts): Html {
  const { number, points, ownGrade, criteria } = question
  const typed = (name: string, saved: string): string => (isFailed ? form.values.get(name) : null) ?? saved
  const idOf = (name: string): string => (isFailed ? name : `${name}-${number}`)
  const mistake = (name: string): Html | false => {
    const issues = isFailed ? form.issues.filter(({ field }) => field === name) : []
    return issues.length > 0 && html`<p class="mistake" id="${`${name}-mistake`}">${issues.map(formatIssue).join(' ')}</p>`
  }
  const isRegradeReported = form.issues.some((issue) => issue.rule === 'account' && issue.problem === 'regraded')
  const newestTime = newestGradeTime(sheet).toISOString()
  const currentPoints = effectivePoints(question)
  return html`<form method="post" action="${equalAnswers?.address ?? `${address}/questions/${number}${queue}`}" data-grade="${!equalAnswers && number}" data-most="${points}" data-own="${ownGrade?.updatedAt.toISOString()}" ${isFailed && html`data-unsaved`}>
<input type="hidden" name="seen" value="${isRegradeReported ? newestTime : typed('seen', newestTime)}">
<input type="hidden" name="stood" value="${typed('stood', currentPoints)}">
${criteria.length > 0 && rubricLevels(criteria, (isFailed && readLevels(form.values)) || (ownGrade?.levels ?? []), number)}${
  points > 0 &&
  html`<div class="mb-4">
<div class="mb-2 flex items-center gap-2"><label class="grow text-sm font-medium" for="${idOf('points')}">${labelOf(sheet, question)}</label><input class="input w-20 tabular-nums" id="${idOf('points')}" name="points" inputmode="decimal" value="${typed('points', ownGrade?.points?.toString() ?? currentPoints)}" autocomplete="off" aria-describedby="points-mistake"></div>
${criteria.length === 0 && pointButtons(points, number)}
${mistake('points')}
</div>`
}
<div class="mb-2">
<label class="mb-1.5 block text-sm font-medium" for="${idOf('comment')}">Comment</label>
<textarea class="textarea w-full" id="${idOf('comment')}" name="comment" rows="4" autocomplete="off" dir="auto" aria-describedby="${`${idOf('comment')}-readers comment-mistake`}">
${typed('comment', ownGrade?.comment ?? '')}</textarea>
<p class="hint mt-1.5" id="${`${idOf('comment')}-readers`}">Graders and admins can read it. Clients and your systems can, too, once the result is released. The candidate never sees it.</p>
${mistake('comment')}
</div>
${
  equalAnswers
    ? html`${equalAnswers.submissionIds.map((id) => html`<input type="hidden" name="submission" value="${id}">`)}<button class="btn btn-primary">${equalAnswers.label}</button>`
    : html`${further}<div class="flex min-h-10 items-center gap-2 text-sm" data-saving>${!further && html`<button class="btn">Save question ${number}</button>`}</div>`
}
</form>`
}

/** Points that count although this grader gave none. Empty if there are none, or if they come from the key, since those may change. */
const effectivePoints = ({ ownGrade, points, status }: GradedQuestion): string =>
  points > 0 && ownGrade?.points == null && status.state === 'graded' && isByPeople(status) ? String(status.points) : ''

function labelOf({ round }: SubmissionGradingView, { points, ownGrade, status }: GradedQuestion): string {
  if (round === 3) return `Your decision, of ${points}`
  const isByKey = status.state === 'graded' && status.by === 'key' && ownGrade?.points == null
  return isByKey ? `Points instead of the key’s, of ${points}` : `Points, of ${points}`
}

const pointButtons = (points: number, number: number): Html =>
  html`<div class="noscript:hidden grid grid-cols-6 gap-1" role="group" aria-label="${`Points of question ${number}`}">${stepsOf(points).map((step) => html`<button type="button" class="btn btn-sm aria-pressed:btn-primary px-0 tabular-nums" aria-pressed="false" data-points="${step}">${step}</button>`)}</div>
<p class="hint noscript:hidden pointer-coarse:hidden mt-2" aria-hidden="true">or press <kbd class="kbd kbd-sm">0</kbd> to <kbd class="kbd kbd-sm">9</kbd></p>`

/** Buttons for every point value, or for evenly spaced ones if there are many; other values are typed. */
function stepsOf(most: number): number[] {
  if (most <= MOST_STEPS) return Array.from({ length: most + 1 }, (_, points) => points)
  return [0, 1, 2, 3, 4, 5].map((fifth) => Math.round((most * fifth) / 5))
}

const MOST_STEPS = 11

/** Time of the newest grade in this view. */
const newestGradeTime = ({ questions, submission }: SubmissionGradingView): Date =>
  questions
    .flatMap(({ grades }) => grades.map(({ updatedAt }) => updatedAt))
    .reduce((last, time) => (time > last ? time : last), submission.submittedAt ?? submission.createdAt)
