import { may } from '../../../domain/access/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { Listing } from '../../../domain/lists/page.ts'
import type { Released, ReleasedDetail, Result } from '../../../domain/submissions/grading/results.ts'
import { html } from '../../../html/html.ts'
import { namedField, readNamed } from '../kit/choices.ts'
import { choice, type Form, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { pager } from '../kit/paging.ts'
import { linkButton } from '../kit/parts.ts'
import { table } from '../kit/table.ts'
import { ago, time } from '../kit/wording.ts'

type ListFacts = { ctx: Context; assessments: { id: string; name: string }[]; list: Listing<Released> }

/** The results that were released. */
export function resultsPage(form: Form, { ctx, assessments, list }: ListFacts): Page {
  const address = pathOf(ctx, 'results')
  const assessment = form.values.get('assessment') ?? ''
  return {
    title: 'Results',
    body: html`${mistakes(form)}<section class="panel" aria-labelledby="results-heading">
<h2 class="mb-4" id="results-heading">Released results</h2>
<form class="filters" method="get" action="${address}">
${choice(form, { name: 'assessment', label: 'Assessment', options: [['', 'Every assessment'], ...assessments.map(({ id, name }): [string, string] => [id, name])] })}
${namedField(readNamed(form.values), [assessments])}<button class="btn">Show</button>
</form>
${assessments.some(({ id }) => id === assessment) && html`<p><a href="${`${address}/assessments/${assessment}`}">Report on this assessment</a></p>`}
${
  list.items.length === 0
    ? html`<p>${list.total > 0 ? 'There are none here.' : 'Nothing is released yet.'}</p>`
    : table(
        'results-heading',
        ['Candidate', 'Assessment', 'Points', 'Percent', 'Handed in', 'Released'],
        list.items.map(({ id, invite, assessment, submittedAt, result }) => [
          html`<a href="${`${address}/${id}`}">${invite.recipientName ?? invite.recipientEmail}</a>`,
          html`<a href="${`${address}/assessments/${assessment.id}`}">${assessment.name}</a>`,
          wordPoints(result),
          percent(result),
          submittedAt && ago(ctx, submittedAt),
          ago(ctx, result.releasedAt),
        ]),
      )
}
${pager(address, new URLSearchParams(assessment ? { assessment } : {}), list)}
</section>`,
  }
}

export const resultPage = (
  ctx: Context,
  { id, invite, assessment, paper, grades, submittedAt, result }: ReleasedDetail,
): Page => ({
  title: `Result of ${invite.recipientName ?? invite.recipientEmail}`,
  trail: [['Results', pathOf(ctx, 'results')]],
  actions: linkButton(`${pathOf(ctx, `results/${id}`)}/report`, 'Report (PDF)', 'download', 'main'),
  body: html`${panel(
    'about',
    'Details',
    html`<dl class="details"><dt>Assessment</dt><dd>${assessment.name}</dd>
<dt>Candidate</dt><dd>${invite.recipientName && `${invite.recipientName}, `}${invite.recipientEmail}</dd>
<dt>Points</dt><dd>${wordPoints(result)}</dd>
<dt>Percent</dt><dd>${percent(result)}</dd>
<dt>Handed in</dt><dd>${submittedAt && time(submittedAt)}</dd>
<dt>Released</dt><dd>${time(result.releasedAt)}, version ${result.version}</dd>
${result.comment && html`<dt>Comment</dt><dd><span class="preformatted">${result.comment}</span></dd>`}
${may(ctx, 'read') && html`<dt>Candidate sees it</dt><dd>${result.toCandidate ? 'yes' : 'no'}</dd>`}
${may(ctx, 'read') && result.message && html`<dt>Message</dt><dd><span class="preformatted">${result.message}</span></dd>`}</dl>`,
  )}
${panel(
  'questions',
  'Questions',
  table(
    'questions-heading',
    ['Question', 'Text', 'Points', 'Of'],
    paper.map(({ number, script }) => {
      const grade = grades.find((one) => one.number === number)
      return [number, html`<span class="preformatted" lang="" dir="auto">${script}</span>`, grade?.points, grade?.ofPoints]
    }),
  ),
)}`,
})

const wordPoints = ({ points, ofPoints }: Result): string => (ofPoints === 0 ? '' : `${points} of ${ofPoints}`)
const percent = ({ percent }: Result): string => (percent === null ? '' : `${percent} %`)
