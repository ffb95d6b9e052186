import type { Context } from '../../../domain/context.ts'
import type { Sheet } from '../../../domain/submissions/grading/sheet.ts'
import { pointsIn } from '../../../domain/submissions/grading/totals.ts'
import { html } from '../../../html/html.ts'
import { area, checkbox, type Form, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { table } from '../kit/table.ts'

/** What is released, and to whom. */
export function releasePage(form: Form, { ctx, sheet }: { ctx: Context; sheet: Sheet }): Page {
  const { candidate, submission, questions, total, released } = sheet
  const address = pathOf(ctx, `grading/${submission.id}`)
  return {
    title: `Release the result of ${candidate}`,
    trail: [
      ['Grading', pathOf(ctx, 'grading')],
      [candidate, address],
    ],
    heading: 'Release the result',
    body: html`${mistakes(form)}${panel(
      'points',
      `${total.points} of ${total.ofPoints} points`,
      table(
        'points-heading',
        ['Question', 'Points', 'Of'],
        questions.map(({ number, points, standing }) => [
          html`<a href="${`${address}#question-${number}`}">Question ${number}</a>`,
          points === 0 ? '' : standing.state === 'graded' ? standing.points : 'not graded',
          points,
        ]),
      ),
    )}
${panel(
  'release',
  'Release',
  html`<form method="post" action="${`${address}/release`}">
<input type="hidden" name="seen" value="${pointsIn(questions)}">
${area(form, { name: 'comment', label: 'Comment for the organization', value: released?.comment ?? '', hint: 'Shown to admins, to clients of the assessment, and to your systems over the API. May be empty.' })}
${area(form, { name: 'message', label: 'Message to the candidate', value: released?.message ?? '', hint: 'Shown if the candidate may see the result, and sent over the API. May be empty.' })}
${checkbox(form, { name: 'toCandidate', label: 'The candidate sees the points and the message on their page', checked: released?.toCandidate ?? false })}
<p class="hint">Once it is released, clients of the assessment see the points, and your systems get the points and the comments on each answer over the API. The candidate is not mailed.</p>
${released && html`<p class="hint">Version ${released.version} is what they see until then.</p>`}
<button class="btn btn-primary">Release the result</button>
<a class="btn btn-ghost" href="${address}">Back to the sheet</a>
</form>`,
)}`,
  }
}
