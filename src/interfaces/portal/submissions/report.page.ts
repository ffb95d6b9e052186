import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { AssessmentReport } from '../../../domain/submissions/grading/report.ts'
import { type Html, html } from '../../../html/html.ts'
import { plainQuestionText } from '../../../http/pages/candidate-view.ts'
import { bar, scaledChart } from '../kit/chart.ts'
import { time } from '../kit/formatting.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { factList } from '../kit/parts.ts'
import { table } from '../kit/table.ts'

/** Released results of an assessment, for reading and printing. Names no candidates and no graders. */
export function reportPage(ctx: Context, report: AssessmentReport): Page {
  const { assessment } = report
  const address = pathOf(ctx, `results/assessments/${assessment.id}`)
  return {
    title: `Report on ${assessment.name}`,
    trail: [['Results', pathOf(ctx, 'results')]],
    actions: html`${may(ctx, 'export') && html`<a class="btn" href="${`${address}/graders`}">Compare graders</a>`}<a class="btn" href="${`${pathOf(ctx, 'results')}?assessment=${assessment.id}`}">View individual results</a>`,
    body: html`${panel('about', 'Released results', about(ctx, report))}
${reportPanels(report)}
${
  may(ctx, 'export') &&
  html`<form class="print:hidden" method="post" action="${`${address}/export`}">
<button class="btn">Export grades as CSV</button>
<p class="hint">Exports the current grades of all submissions, including those not released.</p>
</form>
<form class="print:hidden" method="post" action="${`${address}/notes/export`}">
<button class="btn">Export notes as CSV</button>
<p class="hint">Exports graders’ notes on recorded answers, including those not released.</p>
</form>`
}
`,
  }
}

/** Distribution of scores, overall and by question; empty if there are no results. */
export const reportPanels = (report: AssessmentReport): Html =>
  html`${report.scored > 0 && panel('totals', 'Distribution of scores', totals(report))}
${report.questions.length > 0 && panel('points', 'Points by question', points(report.questions))}`

const about = (ctx: Context, { results, scored, mean, median }: AssessmentReport): Html =>
  html`${factList([
    ['Results', results],
    ['With points', scored < results && scored],
    ['Mean', mean !== null && `${mean} %`],
    ['Median', median !== null && `${median} %`],
    ['As of', time(ctx.deps.clock())],
  ])}
${results === 0 && html`<p>No results released yet.</p>`}`

function totals({ tenths, scored }: AssessmentReport): Html {
  const last = tenths.length - 1
  return html`<p>The number of results by share of the points, from 0 % on the left to 100 % on the right.</p>
<div class="my-4">${scaledChart(tenths.map((count) => [count] as const))}
<p class="text-base-content/70 mt-1 flex justify-between pr-8 text-xs" aria-hidden="true"><span>0 %</span><span>50 %</span><span>100 %</span></p></div>
${table(
  'totals-heading',
  ['Score', 'Results', 'Share'],
  tenths.map((count, i) => [`${i * 10} to ${i === last ? 100 : i * 10 + 9} %`, count, percent(count / scored)]),
)}`
}

const points = (questions: AssessmentReport['questions']): Html =>
  html`<p>The mean points given for each question, and their share of the maximum.</p>
${table(
  'points-heading',
  ['Question', 'Text', 'Results', 'Mean', 'Maximum', 'Share'],
  questions.map(({ place, isRemoved, script, scriptFormat, results, mean, ofPoints, share }) => [
    isRemoved ? `Removed ${place}` : place,
    html`<span class="preformatted" lang="" dir="auto">${plainQuestionText({ script, scriptFormat })}</span>`,
    results,
    html`<span class="whitespace-nowrap">${rounded(mean)}</span>`,
    html`<span class="whitespace-nowrap">${rounded(ofPoints)}</span>`,
    html`${percent(share)}${bar(share)}`,
  ]),
)}
${questions.some(({ isRemoved }) => isRemoved) && html`<p class="hint">Removed questions are no longer part of the assessment.</p>`}`

const percent = (share: number): string => `${Math.round(share * 100)} %`
const rounded = (value: number): number => Math.round(value * 100) / 100
