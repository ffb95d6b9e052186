import { candidateName } from '../../../domain/assessments/blind-grading.ts'
import type { Context } from '../../../domain/context.ts'
import type { Choice } from '../../../domain/invites/form-options.ts'
import { percentOf } from '../../../domain/submissions/grading/grading-status.ts'
import { MAX_RELEASED_AT_ONCE, type ReadyResult } from '../../../domain/submissions/grading/release-many.ts'
import { html } from '../../../html/html.ts'
import { formatCount } from '../../../http/pages/candidate-view.ts'
import { icon } from '../../../http/pages/icon.ts'
import { nameFilterField, readNameFilter } from '../kit/choices.ts'
import { timeAgo } from '../kit/formatting.ts'
import { area, checkbox, choice, type Form, mistakes } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { filterLine } from '../kit/paging.ts'
import { empty } from '../kit/parts.ts'
import { table } from '../kit/table.ts'
import { answersPath } from './queue.page.ts'

export const RELEASE_MANY = 'grading/release-many'

/** @property done numbers of results that were just released and not released. */
type Facts = { ctx: Context; assessments: Choice[]; ready: ReadyResult[]; done: { released: number; kept: number } | null }

export function releaseManyPage(form: Form, { ctx, assessments, ready, done }: Facts): Page {
  const path = pathOf(ctx, RELEASE_MANY)
  const assessment = form.values.get('assessment') ?? ''
  const chosen = new Set(form.values.getAll('results'))
  return {
    title: 'Release results',
    trail: [['Grading', pathOf(ctx, 'grading')]],
    notice: done ? formatOutcome(done) : undefined,
    body: html`${mistakes(form)}<section class="panel" id="results" aria-labelledby="ready-heading">
<h2 class="mb-4" id="ready-heading">Ready to release</h2>
${filterLine(
  path,
  new URLSearchParams(assessment ? { assessment } : {}),
  html`${choice(form, { name: 'assessment', label: 'Assessment', options: [['', 'Every assessment'], ...assessments.map(({ id, name }): [string, string] => [id, name])] })}
${nameFilterField(readNameFilter(form.values), [assessments])}`,
)}
${
  ready.length === 0
    ? empty('circle-check', 'No result is ready to be released. A result is ready once all its questions are graded.')
    : html`<form method="post" action="${path}">${onceField()}
<input type="hidden" name="assessment" value="${assessment}">
${table(
  'ready-heading',
  ['Candidate', 'Assessment', 'Points', 'Percent', 'Submitted'],
  ready.map((submission) => {
    const { points, ofPoints } = submission.progress
    const name = candidateName(ctx, submission)
    const value = `${submission.id}:${points}`
    const percent = percentOf(points, ofPoints)
    return [
      html`<span class="flex items-center gap-3"><input type="checkbox" class="checkbox checkbox-sm" name="results" value="${value}" aria-label="${`Release the result of ${name}`}" ${(form.issues.length === 0 || chosen.has(value)) && html`checked`}><a class="named" href="${answersPath(ctx, submission)}">${name}</a></span>`,
      submission.assessment.name,
      `${points} of ${ofPoints}`,
      percent !== null && `${percent} %`,
      submission.submittedAt && timeAgo(ctx, submission.submittedAt),
    ]
  }),
)}
${ready.length === MAX_RELEASED_AT_ONCE && html`<p class="hint my-3">These are the ${MAX_RELEASED_AT_ONCE} that have waited longest. Release them to see the next ones.</p>`}
<div class="mt-4 max-w-2xl">${area(form, { name: 'message', label: 'Message to the candidates', hint: 'Shown to each candidate who can see the result. Optional.' })}
${checkbox(form, { name: 'toCandidate', label: 'Show the points and the message to the candidates' })}
<p class="hint mb-3">Clients of the assessments see the points. Untick a result above to keep it back.</p>
<button class="btn btn-primary">${icon('check')}Release the ticked results</button></div>
</form>`
}
</section>`,
  }
}

const formatOutcome = ({ released, kept }: { released: number; kept: number }): string =>
  `${formatCount(released, 'result')} ${released === 1 ? 'is' : 'are'} released.${kept > 0 ? ` ${formatCount(kept, 'result')} had changed meanwhile and ${kept === 1 ? 'is' : 'are'} not: check ${kept === 1 ? 'it' : 'them'} below.` : ''}`
