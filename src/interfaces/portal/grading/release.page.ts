import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { pointsIn } from '../../../domain/submissions/grading/grading-status.ts'
import type { SubmissionGradingView } from '../../../domain/submissions/grading/grading-view.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount } from '../../../http/pages/candidate-view.ts'
import { area, checkbox, type Form, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { table } from '../kit/table.ts'
import { answersPath } from './queue.page.ts'

/** @param queue query string with the filter of the queue. */
export function releasePage(
  form: Form,
  { ctx, sheet, queue }: { ctx: Context; sheet: SubmissionGradingView; queue: string },
): Page {
  const { candidate, submission, questions, total } = sheet
  const address = may(ctx, 'grade') ? `${pathOf(ctx, `grading/${submission.id}`)}${queue}` : answersPath(ctx, submission)
  const action = `${pathOf(ctx, `grading/${submission.id}`)}/release${queue}`
  const open = questions.filter(({ points, status }) => points > 0 && status.state !== 'graded')
  return {
    title: `Release the result of ${candidate}`,
    trail: [
      ['Grading', `${pathOf(ctx, 'grading')}${queue}`],
      [candidate, address],
    ],
    body: html`${mistakes(form)}${open.length > 0 && withoutGrade(address, open)}${panel(
      'points',
      `${total.points} of ${total.ofPoints} points`,
      table(
        'points-heading',
        ['Question', 'Points', 'Of'],
        questions.map(({ number, points, status }) => [
          html`<a href="${`${address}#question-${number}`}">Question ${number}</a>`,
          points === 0 ? '' : status.state === 'graded' ? status.points : 'not graded',
          points,
        ]),
      ),
    )}
${open.length > 0 && !form.values.has('seen') ? disabledRelease(address) : releaseForm(form, sheet, { address, action, isClosed: open.length > 0 })}`,
  }
}

/** Questions that need a grade first. */
const withoutGrade = (address: string, open: readonly { number: number }[]): Html =>
  html`<div class="alert alert-soft alert-warning mb-4" role="note"><p>A result can be released once every question is graded. Without a grade: ${open.map(({ number }, i) => html`${i > 0 && ', '}<a class="link" href="${`${address}#question-${number}`}">question ${number}</a>`)}.</p></div>`

/** Disabled until every question has a grade. */
const disabledRelease = (address: string): Html =>
  html`<div class="mt-4 flex flex-wrap gap-2"><button class="btn closed" disabled>Release result</button><a class="btn" href="${address}">Back to grading</a></div>`

/** Also shown if a grade is missing again, so that the typed texts are kept. */
const releaseForm = (
  form: Form,
  { questions, released }: SubmissionGradingView,
  { address, action, isClosed }: { address: string; action: string; isClosed: boolean },
): Html => {
  const notes = questions.reduce((sum, question) => sum + question.notes.length, 0)
  return panel(
    'release',
    'Release',
    html`<form method="post" action="${action}">${onceField()}
<input type="hidden" name="seen" value="${pointsIn(questions)}">
${area(form, { name: 'comment', label: 'Comment for your organization', value: released?.comment ?? '', hint: 'Seen by admins, clients of the assessment, and your systems over the API. Optional.' })}
${area(form, { name: 'message', label: 'Message to the candidate', value: released?.message ?? '', hint: 'Shown to the candidate if they can see the result, and available over the API. Optional.' })}
${checkbox(form, { name: 'toCandidate', label: 'Show the points and the message to the candidate', checked: released?.toCandidate ?? false })}
${notes > 0 && checkbox(form, { name: 'withNotes', label: `Release the graders’ ${formatCount(notes, 'note')} on recorded answers`, checked: false })}${notes > 0 && html`<p class="hint">Admins, the report, and your systems get them. Points off in notes don’t change the result.</p>`}
<p class="hint">Clients of the assessment will see the points. Your systems get the points and the comments on each answer over the API. The candidate gets no email.</p>
${released && html`<p class="hint">Until then they see version ${released.version}.</p>`}
${isClosed ? html`<button class="btn closed" disabled>Release result</button>` : html`<button class="btn btn-primary">Release result</button>`}
<a class="btn" href="${address}">Back to grading</a>
</form>`,
  )
}
