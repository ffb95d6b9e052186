import { may } from '../../../domain/access/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { Listing } from '../../../domain/lists/page.ts'
import type { Released, ReleasedDetail, Result } from '../../../domain/submissions/grading/results.ts'
import { type Html, html } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'
import { bar } from '../kit/chart.ts'
import { namedField, readNamed } from '../kit/choices.ts'
import { choice, type Form, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { filterLine, isNarrowed, noRows, pager } from '../kit/paging.ts'
import { avatar, empty, linkButton } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
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
<h2 class="sr-only" id="results-heading">Released results</h2>
<div class="print:hidden">${filterLine(
      address,
      form.values,
      html`${choice(form, { name: 'assessment', label: 'Assessment', options: [['', 'Every assessment'], ...assessments.map(({ id, name }): [string, string] => [id, name])] })}
${namedField(readNamed(form.values), [assessments])}`,
      assessments.some(({ id }) => id === assessment) &&
        html`<a class="btn btn-ghost ml-auto" href="${`${address}/assessments/${assessment}`}">${icon('chart-column')}Report for this assessment</a>`,
    )}</div>
${
  list.items.length === 0
    ? noResults(form.values, address, list.total)
    : table(
        'results-heading',
        ['Candidate', 'Assessment', 'Points', 'Percent', 'Handed in', 'Released'],
        list.items.map(({ id, invite, assessment, submittedAt, result }) => [
          html`<a class="flex items-center gap-3 font-medium hover:underline" href="${`${address}/${id}`}">${avatar(nameOf(invite))}${nameOf(invite)}</a>`,
          html`<a href="${`${address}/assessments/${assessment.id}`}">${assessment.name}</a>`,
          wordPoints(result),
          html`${percent(result)}${result.percent !== null && bar(result.percent / 100)}`,
          submittedAt && ago(ctx, submittedAt),
          ago(ctx, result.releasedAt),
        ]),
      )
}
${pager(address, new URLSearchParams(assessment ? { assessment } : {}), list, ['result', 'results'])}
</section>`,
  }
}

const nameOf = ({ recipientName, recipientEmail }: Released['invite']): string => recipientName ?? recipientEmail

const noResults = (query: URLSearchParams, address: string, total: number): Html =>
  isNarrowed(query) || total > 0
    ? noRows('No results match.', address, query)
    : empty('chart-column', 'No results yet. Results appear here once a submission is graded and released.')

export const resultPage = (ctx: Context, detail: ReleasedDetail): Page => {
  const { id, invite, assessment, paper, grades, submittedAt, result } = detail
  return {
    title: `Result of ${nameOf(invite)}`,
    heading: nameOf(invite),
    state: badge('released'),
    subtitle: html`<a href="${pathOf(ctx, `results/assessments/${assessment.id}`)}">${assessment.name}</a>`,
    trail: [['Results', pathOf(ctx, 'results')]],
    actions: linkButton(`${pathOf(ctx, `results/${id}`)}/report`, 'Download PDF', 'download', 'main'),
    body: html`<div class="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem] print:block print:space-y-6">
<div class="space-y-6">${panel(
      'questions',
      'Questions',
      table(
        'questions-heading',
        ['Question', 'Text', 'Points', 'Maximum'],
        paper.map(({ number, script }) => {
          const grade = grades.find((one) => one.number === number)
          const share = grade && grade.points !== null && grade.ofPoints > 0 ? grade.points / grade.ofPoints : null
          return [
            number,
            html`<span class="preformatted" lang="" dir="auto">${script}</span>`,
            grade?.points,
            html`${grade?.ofPoints}${share !== null && bar(share)}`,
          ]
        }),
      ),
    )}</div>
${panel('about', 'Result', score(ctx, { invite, submittedAt, result, assessment }))}
</div>`,
  }
}

/** The total large, and what there is to know of it. */
const score = (
  ctx: Context,
  { invite, assessment, submittedAt, result }: Omit<Released, 'id'>,
): Html => html`${result.percent !== null && html`<p class="text-4xl font-semibold tracking-tight tabular-nums" aria-hidden="true">${result.percent} %</p><div class="mt-2 mb-5">${bar(result.percent / 100)}</div>`}
<dl class="details gap-x-3 sm:grid-cols-[max-content_1fr]"><dt>Assessment</dt><dd>${assessment.name}</dd>
<dt>Candidate</dt><dd>${invite.recipientName && `${invite.recipientName}, `}${invite.recipientEmail}</dd>
<dt>Points</dt><dd>${wordPoints(result)}</dd>
<dt>Percent</dt><dd>${percent(result)}</dd>
<dt>Handed in</dt><dd>${submittedAt && time(submittedAt)}</dd>
<dt>Released</dt><dd>${time(result.releasedAt)}, version ${result.version}</dd>
${result.comment && html`<dt>Comment</dt><dd><span class="preformatted">${result.comment}</span></dd>`}
${may(ctx, 'read') && html`<dt>Visible to candidate</dt><dd>${result.toCandidate ? 'yes' : 'no'}</dd>`}
${may(ctx, 'read') && result.message && html`<dt>Message</dt><dd><span class="preformatted">${result.message}</span></dd>`}</dl>`

const wordPoints = ({ points, ofPoints }: Result): string => (ofPoints === 0 ? '' : `${points} of ${ofPoints}`)
const percent = ({ percent }: Result): string => (percent === null ? '' : `${percent} %`)
