import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { Choice } from '../../../domain/invites/form-options.ts'
import type { ListPage } from '../../../domain/lists/page.ts'
import type { AssessmentReport } from '../../../domain/submissions/grading/report.ts'
import type { ResultOrder } from '../../../domain/submissions/grading/result-list.ts'
import type { ReleasedResult, ReleasedResultDetail, Result } from '../../../domain/submissions/grading/results.ts'
import { type Html, html } from '../../../html/html.ts'
import { plainQuestionText } from '../../../http/pages/candidate-view.ts'
import { icon } from '../../../http/pages/icon.ts'
import { type AssessmentHead, assessmentHead, inviteButton } from '../assessments/assessment-head.ts'
import { assessmentTabs } from '../assessments/assessment-tabs.ts'
import { bar } from '../kit/chart.ts'
import { nameFilterField, readNameFilter } from '../kit/choices.ts'
import { time, timeAgo } from '../kit/formatting.ts'
import { choice, exportButton, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { filterLine, isNarrowed, noRows, sizedPager, sortable } from '../kit/paging.ts'
import { avatar, empty, factList, figure, linkButton } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { reportPanels } from './report.page.ts'

/** Orders of the list by their parameter. The first is the default. */
export const RESULT_ORDERS: Record<string, ResultOrder> = {
  released: { field: 'releasedAt', direction: 'desc' },
  'released-first': { field: 'releasedAt', direction: 'asc' },
  points: { field: 'points', direction: 'desc' },
  'points-least': { field: 'points', direction: 'asc' },
  percent: { field: 'percent', direction: 'desc' },
  'percent-least': { field: 'percent', direction: 'asc' },
  name: { field: 'name', direction: 'asc' },
  'name-last': { field: 'name', direction: 'desc' },
}

type ListFacts = { ctx: Context; assessments: Choice[]; tags: Choice[]; list: ListPage<ReleasedResult> }

export function resultsPage(form: Form, { ctx, assessments, tags, list }: ListFacts): Page {
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
${tags.length > 0 && choice(form, { name: 'tag', label: 'Tag', options: [['', 'Every tag'], ...tags.map(({ id, name }): [string, string] => [id, name])] })}
${field(form, { name: 'minPercent', label: 'Minimum percent', type: 'number', optional: true })}
${nameFilterField(readNameFilter(form.values), [assessments, tags])}`,
      html`${may(ctx, 'export') && list.total > 0 && exportButton(`${address}/export`)}${
        assessments.some(({ id }) => id === assessment) &&
        html`<a class="btn ml-auto" href="${`${address}/assessments/${assessment}`}">${icon('chart-column')}Report for this assessment</a>`
      }`,
    )}</div>
${list.items.length === 0 ? noResults(form.values, address, list.total) : resultTable(ctx, list.items, { path: address, query: form.values, isOfAll: true })}
${sizedPager(address, form.values, list, ['result', 'results'])}
</section>`,
  }
}

export function assessmentResultsPage(
  headed: AssessmentHead,
  { list, query }: { list: ListPage<ReleasedResult>; query: URLSearchParams },
  report: AssessmentReport,
): Page {
  const { ctx, assessment } = headed
  const address = pathOf(ctx, `assessments/${assessment.id}/results`)
  return {
    ...assessmentHead(
      headed,
      html`${linkButton(pathOf(ctx, `results/assessments/${assessment.id}`), 'Report', 'chart-column')}${inviteButton(ctx, assessment)}`,
    ),
    title: `Results: ${assessment.name}`,
    heading: assessment.name,
    tabs: assessmentTabs(ctx, assessment, 'results'),
    body: html`${report.scored > 0 && figures(report)}<section class="panel" aria-labelledby="results-heading">
<h2 class="mb-4" id="results-heading">Released results</h2>
${list.items.length === 0 ? noResults(new URLSearchParams(), address, list.total) : resultTable(ctx, list.items, { path: address, query, isOfAll: false })}
${sizedPager(address, query, list, ['result', 'results'])}
</section>
${reportPanels(report)}`,
  }
}

const figures = ({ results, mean, median }: AssessmentReport): Html =>
  html`<div class="grid grid-cols-2 gap-3 sm:grid-cols-3 sm:gap-4">${figure('Results', results, 'released')}${mean !== null && figure('Mean', `${mean} %`, 'of the points')}${median !== null && figure('Median', `${median} %`, 'of the points')}</div>
`

/** @property isOfAll true if the results are of several assessments. */
type Sorting = { path: string; query: URLSearchParams; isOfAll: boolean }

function resultTable(ctx: Context, items: ReleasedResult[], { path, query, isOfAll }: Sorting): Html {
  const head = (label: string, field: ResultOrder['field']) => sortable(label, field, { path, query, orders: RESULT_ORDERS })
  return table(
    'results-heading',
    [
      head('Candidate', 'name'),
      ...(isOfAll ? ['Assessment'] : []),
      head('Points', 'points'),
      head('Percent', 'percent'),
      'Submitted',
      head('Released', 'releasedAt'),
    ],
    items.map(({ id, state, invite, assessment, submittedAt, result }) => [
      html`<a class="flex items-center gap-3 lg:min-w-44" href="${pathOf(ctx, `results/${id}`)}">${avatar(nameOf(invite))}<span class="named">${nameOf(invite)}</span></a>`,
      ...(isOfAll ? [html`<a href="${pathOf(ctx, `results/assessments/${assessment.id}`)}">${assessment.name}</a>`] : []),
      html`<span class="whitespace-nowrap">${formatPoints(result)}</span>`,
      html`${percent(result)}${result.percent !== null && bar(result.percent / 100)}`,
      submittedAt && timeAgo(ctx, submittedAt),
      html`${timeAgo(ctx, result.releasedAt)}${isReopened(ctx, state) && html` ${badge('reopened')}`}`,
    ]),
  )
}

/** True if the result is being graded again. Members who only see results are not told before the next release. */
const isReopened = (ctx: Context, state: ReleasedResult['state']): boolean => may(ctx, 'read') && state !== 'released'

const nameOf = ({ recipientName, recipientEmail }: ReleasedResult['invite']): string => recipientName ?? recipientEmail

const noResults = (query: URLSearchParams, address: string, total: number): Html =>
  isNarrowed(query) || total > 0
    ? noRows('No results match.', address, query)
    : empty('chart-column', 'No results yet. Results appear here once a submission is graded and released.')

export const resultPage = (ctx: Context, detail: ReleasedResultDetail): Page => {
  const { id, state, invite, assessment, paper, grades, submittedAt, result } = detail
  return {
    title: `Result of ${nameOf(invite)}`,
    heading: nameOf(invite),
    state: badge(isReopened(ctx, state) ? 'reopened' : 'released'),
    subtitle: html`<a href="${pathOf(ctx, `results/assessments/${assessment.id}`)}">${assessment.name}</a>`,
    trail: [['Results', pathOf(ctx, 'results')]],
    actions: html`${may(ctx, 'read') && linkButton(pathOf(ctx, `invites/${invite.id}/submission`), 'Answers', 'list-checks')}${reopening(ctx, detail)}${linkButton(`${pathOf(ctx, `results/${id}`)}/report`, 'Download PDF', 'download', 'main')}`,
    body: html`<div class="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem] print:block print:space-y-6">
<div class="space-y-6">${panel(
      'questions',
      'Questions',
      table(
        'questions-heading',
        ['Question', 'Text', 'Points', 'Maximum', 'Share'],
        paper.map(({ number, ...asked }) => {
          const grade = grades.find((one) => one.number === number)
          const share = grade && grade.points !== null && grade.ofPoints > 0 ? grade.points / grade.ofPoints : null
          return [
            number,
            html`<span class="preformatted max-md:text-start" lang="" dir="auto">${plainQuestionText(asked)}</span>`,
            grade?.points,
            grade?.ofPoints,
            share !== null && html`<div class="w-24">${bar(share)}</div>`,
          ]
        }),
      ),
    )}</div>
<div class="max-lg:order-first">${panel('about', 'Result', score(ctx, { invite, submittedAt, result }))}</div>
</div>`,
  }
}

/** Reopens grading, for members who release results and can't open the grading view. */
const reopening = (ctx: Context, { id, state }: Pick<ReleasedResultDetail, 'id' | 'state'>): Html | false => {
  if (!may(ctx, 'release_results') || may(ctx, 'grade')) return false
  const path = pathOf(ctx, `grading/${id}`)
  if (state !== 'released') return linkButton(`${path}/release`, 'Release again', 'check')
  return html`<form method="post" action="${`${path}/reopen`}">${onceField()}<button class="btn">Reopen</button></form>`
}

const score = (
  ctx: Context,
  { invite, submittedAt, result }: Pick<ReleasedResult, 'invite' | 'submittedAt' | 'result'>,
): Html => html`${result.percent !== null && html`<p class="text-4xl font-semibold tracking-tight tabular-nums" aria-hidden="true">${result.percent} %</p><div class="mt-2 mb-5">${bar(result.percent / 100)}</div>`}
${factList(
  [
    ['Candidate', `${invite.recipientName ? `${invite.recipientName}, ` : ''}${invite.recipientEmail}`],
    ['Points', formatPoints(result)],
    ['Percent', percent(result)],
    ['Submitted', submittedAt && time(submittedAt)],
    ['Released', html`${time(result.releasedAt)}, version ${result.version}`],
    ['Comment', result.comment && html`<span class="preformatted">${result.comment}</span>`],
    ['Visible to candidate', may(ctx, 'read') && (result.toCandidate ? 'yes' : 'no')],
    ['Message', may(ctx, 'read') && result.message && html`<span class="preformatted">${result.message}</span>`],
  ],
  'aside',
)}`

const formatPoints = ({ points, ofPoints }: Result): string => (ofPoints === 0 ? '' : `${points} of ${ofPoints}`)
const percent = ({ percent }: Result): string => (percent === null ? '' : `${percent} %`)
