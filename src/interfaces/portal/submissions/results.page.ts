import type { Band } from '../../../domain/assessments/bands.ts'
import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { DECISIONS } from '../../../domain/events/event.ts'
import type { DecisionNames } from '../../../domain/invites/decisions/decision-names.ts'
import type { Choice } from '../../../domain/invites/form-options.ts'
import type { ListPage } from '../../../domain/lists/page.ts'
import { mayShare } from '../../../domain/sharing/share-links.ts'
import type { ShownQuestion } from '../../../domain/sharing/shown-questions.ts'
import type { AssessmentReport } from '../../../domain/submissions/grading/report.ts'
import type { ResultOrder } from '../../../domain/submissions/grading/result-list.ts'
import type { ReleasedResult, ReleasedResultDetail, Result } from '../../../domain/submissions/grading/results.ts'
import { type Html, html } from '../../../html/html.ts'
import { plainQuestionText, userText } from '../../../http/pages/candidate-view.ts'
import { fileDownloads } from '../../../http/pages/file-downloads.ts'
import { icon } from '../../../http/pages/icon.ts'
import { english, formatCriterion, formatDecision } from '../../../http/reports/print-report.ts'
import { type AssessmentHead, assessmentHead, inviteButton } from '../assessments/assessment-head.ts'
import { assessmentTabs } from '../assessments/assessment-tabs.ts'
import { RESULT_FILTERS } from '../invites/result-filter.ts'
import { bar } from '../kit/chart.ts'
import { nameFilterField, readNameFilter } from '../kit/choices.ts'
import { time, timeAgo } from '../kit/formatting.ts'
import { choice, exportButton, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { filterLine, isNarrowed, noRows, sizedPager, sortable } from '../kit/paging.ts'
import { avatar, empty, factList, figure, linkButton } from '../kit/parts.ts'
import { MADE_BY_MACHINE } from '../kit/segment-fields.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { SHARES } from '../sharing/shares.page.ts'
import { COMPARE } from './compare.page.ts'
import { decisionBadge, decisionButtons, decisionPanel, type NamedDecision } from './decision.parts.ts'
import { reportPanels } from './report.page.ts'
import { searchForm } from './transcript-search.page.ts'

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

type ListFacts = {
  ctx: Context
  assessments: Choice[]
  tags: Choice[]
  list: ListPage<ReleasedResult>
  names: DecisionNames
  /** Bands of the chosen assessment. */
  bands: Band[]
}

const KNOCK_OUTS: [value: string, label: string][] = [
  ['', 'Any knock-outs'],
  ['no', 'No knock-out missed'],
  ['yes', 'Knock-out missed'],
]

export function resultsPage(form: Form, { ctx, assessments, tags, list, names, bands }: ListFacts): Page {
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
${may(ctx, 'decide') && choice(form, { name: 'decision', label: 'Decision', options: [['', 'Any decision'], ...DECISIONS.map((option): [string, string] => [option, names[option]])] })}
${may(ctx, 'read') && choice(form, { name: 'knockedOut', label: 'Knock-outs', options: KNOCK_OUTS })}
${bands.length > 0 && choice(form, { name: 'band', label: 'Band', options: [['', 'Any band'], ...bands.map(({ name }): [string, string] => [name, name])] })}
${field(form, { name: 'minPercent', label: 'Minimum percent', type: 'number', optional: true })}
${nameFilterField(readNameFilter(form.values), [assessments, tags])}`,
      html`${may(ctx, 'export') && list.total > 0 && exportButton(`${address}/export`)}${
        assessments.some(({ id }) => id === assessment) &&
        html`<a class="btn ml-auto" href="${`${address}/assessments/${assessment}`}">${icon('chart-column')}Report for this assessment</a>`
      }`,
    )}</div>
${list.items.length === 0 ? noResults(form.values, address, list.total) : html`${resultBulkBar(ctx, form.values, list)}${resultTable(ctx, list.items, { path: address, query: form.values, isOfAll: true, names })}`}
${sizedPager(address, form.values, list, ['result', 'results'])}
</section>`,
  }
}

export function assessmentResultsPage(
  headed: AssessmentHead,
  {
    list,
    query,
    names,
    canSearch,
  }: { list: ListPage<ReleasedResult>; query: URLSearchParams; names: DecisionNames; canSearch: boolean },
  report: AssessmentReport,
): Page {
  const { ctx, assessment } = headed
  const address = pathOf(ctx, `assessments/${assessment.id}/results`)
  return {
    ...assessmentHead(
      headed,
      html`${linkButton(pathOf(ctx, `results/assessments/${assessment.id}`), 'Report', 'chart-column')}${mayShare(ctx) && linkButton(pathOf(ctx, `assessments/${assessment.id}/client-view`), 'What clients see', 'users')}${inviteButton(ctx, assessment)}`,
    ),
    title: `Results: ${assessment.name}`,
    heading: assessment.name,
    tabs: assessmentTabs(ctx, assessment, 'results'),
    body: html`${report.scored > 0 && figures(report)}<section class="panel" aria-labelledby="results-heading">
<h2 class="mb-4" id="results-heading">Released results</h2>
${list.items.length === 0 ? noResults(new URLSearchParams(), address, list.total) : html`${resultBulkBar(ctx, new URLSearchParams({ assessment: assessment.id }), list)}${resultTable(ctx, list.items, { path: address, query, isOfAll: false, names })}`}
${sizedPager(address, query, list, ['result', 'results'])}
</section>
${canSearch && panel('search', 'Search answers', searchForm(ctx, assessment.id))}${reportPanels(report)}`,
  }
}

const figures = ({ results, mean, median }: AssessmentReport): Html =>
  html`<div class="grid grid-cols-2 gap-3 sm:grid-cols-3 sm:gap-4">${figure('Results', results, 'released')}${mean !== null && figure('Mean', `${mean} %`, 'of the points')}${median !== null && figure('Median', `${median} %`, 'of the points')}</div>
`

/** @property isOfAll true if the results are of several assessments. */
type Sorting = { path: string; query: URLSearchParams; isOfAll: boolean; names: DecisionNames }

const BULK = 'bulk'

/** Actions for the selected results, or for all that match. */
function resultBulkBar(ctx: Context, values: URLSearchParams, { items, total }: ListPage<ReleasedResult>): Html | false {
  if (!may(ctx, 'decide')) return false
  const filterNames = RESULT_FILTERS.filter((name) => values.get(name))
  return html`<form id="${BULK}" method="get" action="${pathOf(ctx, 'invites/changes/new')}" class="bulk print:hidden" aria-label="Bulk actions">
<input type="hidden" name="of" value="results">
${filterNames.map((name) => html`<input type="hidden" name="${name}" value="${values.get(name)}">`)}
<div class="flex flex-wrap items-center gap-x-4 gap-y-2" data-bulk>
<span class="text-sm font-medium" data-bulk-count>For selected results</span>
<label class="flex items-center gap-2 py-1 text-sm" data-bulk-page hidden><input type="checkbox" class="checkbox checkbox-sm"> Select this page</label>
${total > items.length && html`<label class="flex items-center gap-2 py-1 text-sm"><input type="checkbox" class="checkbox checkbox-sm" name="all" value="yes"> All ${total.toLocaleString('en')} that match</label>`}
<div class="bulk-actions flex flex-wrap gap-2"><button class="btn btn-sm" name="action" value="decide">${icon('list-checks')}Decide</button><button class="btn btn-sm" formaction="${pathOf(ctx, COMPARE)}">${icon('columns-3')}Compare</button>${mayShare(ctx) && html`<button class="btn btn-sm" formaction="${pathOf(ctx, `${SHARES}/new`)}">${icon('link')}Share</button>`}</div>
${mayShare(ctx) && html`<a class="ml-auto text-sm hover:underline" href="${pathOf(ctx, SHARES)}">Links to results</a>`}
</div>
</form>`
}

function resultTable(ctx: Context, items: ReleasedResult[], { path, query, isOfAll, names }: Sorting): Html {
  const decides = may(ctx, 'decide')
  const head = (label: string, field: ResultOrder['field']) => sortable(label, field, { path, query, orders: RESULT_ORDERS })
  return table(
    'results-heading',
    [
      head('Candidate', 'name'),
      ...(isOfAll ? ['Assessment'] : []),
      head('Points', 'points'),
      head('Percent', 'percent'),
      ...(decides ? ['Decision'] : []),
      'Submitted',
      head('Released', 'releasedAt'),
    ],
    items.map(({ id, state, invite, assessment, submittedAt, result, decision, decisionNote }) => [
      html`<span class="flex items-center gap-3">${decides && html`<input type="checkbox" class="checkbox checkbox-sm print:hidden" form="${BULK}" name="id" value="${id}" aria-label="${`Select ${nameOf(invite)}`}">`}<a class="flex items-center gap-3 lg:min-w-44" href="${pathOf(ctx, `results/${id}`)}">${avatar(nameOf(invite))}<span class="named">${nameOf(invite)}</span></a></span>`,
      ...(isOfAll ? [html`<a href="${pathOf(ctx, `results/assessments/${assessment.id}`)}">${assessment.name}</a>`] : []),
      html`<span class="whitespace-nowrap">${formatPoints(result)}</span>`,
      html`${percent(result)}${result.band !== null && html` <span class="hint">${result.band}</span>`}${result.percent !== null && bar(result.percent / 100)}${result.knockedOut.length > 0 && html`<span class="mt-1 block">${badge('knocked out')}</span>`}`,
      ...(decides
        ? [
            decision === 'none'
              ? decisionButtons({
                  address: `${pathOf(ctx, `results/${id}`)}/decision`,
                  back: `${path}?${query}`,
                  names,
                  name: nameOf(invite),
                  note: decisionNote,
                })
              : html`<a href="${`${pathOf(ctx, `results/${id}`)}#decision-about`}" title="${decisionNote}">${decisionBadge(names, decision)}</a>`,
          ]
        : []),
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

type ResultFacts = {
  ctx: Context
  detail: ReleasedResultDetail
  decision: NamedDecision | null
  /** Parts of answers that a client sees. */
  answers: ShownQuestion[]
  done: string | undefined
}

export const resultPage = (form: Form, { ctx, detail, decision, answers, done }: ResultFacts): Page => {
  const { id, state, invite, assessment, paper, grades, submittedAt, result } = detail
  return {
    title: `Result of ${nameOf(invite)}`,
    heading: nameOf(invite),
    state: badge(isReopened(ctx, state) ? 'reopened' : 'released'),
    subtitle: html`<a href="${pathOf(ctx, `results/assessments/${assessment.id}`)}">${assessment.name}</a>`,
    trail: [['Results', pathOf(ctx, 'results')]],
    actions: html`${may(ctx, 'read') && linkButton(pathOf(ctx, `invites/${invite.id}/submission`), 'Answers', 'list-checks')}${reopening(ctx, detail)}${linkButton(`${pathOf(ctx, `results/${id}`)}/report`, 'Download PDF', 'download', 'main')}${may(ctx, 'read') && linkButton(`${pathOf(ctx, `results/${id}`)}/report?audience=candidate`, 'PDF for the candidate', 'languages')}`,
    notice: done === 'decided' ? 'The decision is saved.' : undefined,
    body: html`${mistakes(form)}<div class="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem] print:block print:space-y-6">
<div class="space-y-6">${panel(
      'questions',
      'Questions',
      table(
        'questions-heading',
        ['Question', 'Text', 'Points', 'Maximum', 'Share'],
        paper.map(({ number, ...text }) => {
          const grade = grades.find((row) => row.number === number)
          const share = grade && grade.points !== null && grade.ofPoints > 0 ? grade.points / grade.ofPoints : null
          return [
            number,
            html`<span class="preformatted max-md:text-start" lang="" dir="auto">${plainQuestionText(text)}</span>`,
            html`${grade?.points}${grade?.decidedBy && html`<span class="facts block">${formatDecision(grade.decidedBy).slice(2)}</span>`}${may(ctx, 'read') && grade?.rubric && html`<ul class="facts">${grade.rubric.map((criterion) => html`<li dir="auto">${formatCriterion(criterion, english())}</li>`)}</ul>`}`,
            grade?.ofPoints,
            share !== null && html`<div class="w-24">${bar(share)}</div>`,
          ]
        }),
      ),
    )}${answersPanel(ctx, id, answers)}</div>
<div class="space-y-6 max-lg:order-first">${panel('about', 'Result', score(ctx, { invite, submittedAt, result }))}${decision && decisionPanel(form, pathOf(ctx, `results/${id}/decision`), decision)}</div>
</div>`,
  }
}

/** Answers that the organization lets clients see. */
function answersPanel(ctx: Context, submissionId: string, questions: ShownQuestion[]): Html | false {
  const answers = questions.flatMap(({ number, answer }) => (answer ? [{ number, ...answer }] : []))
  if (answers.length === 0) return false
  const addressOf = (mediaId: string) => pathOf(ctx, `results/${submissionId}/media/${mediaId}`)
  return panel(
    'answers',
    'Answers',
    html`${answers.map(
      ({ number, text, files, recording, transcript }) => html`<h3>Question ${number}</h3>
${text !== null && html`<div class="bg-base-200 rounded-field mb-3 p-4">${userText(text)}</div>`}${fileDownloads(files, addressOf)}
${recording && html`<video class="rounded-box video-ground mb-3 max-h-96 w-full" controls preload="metadata" src="${addressOf(recording.mediaId)}" aria-label="${`Answer to question ${number}`}"></video>`}
${transcript !== null && html`<details class="mb-3"><summary class="text-sm font-medium">Transcript. ${MADE_BY_MACHINE}</summary>${userText(transcript)}</details>`}
`,
    )}`,
  )
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
    ['Candidate', [invite.recipientName, invite.recipientEmail].filter(Boolean).join(', ')],
    ['Points', formatPoints(result)],
    ['Percent', percent(result)],
    ['Band', result.band],
    ['Knocked out', result.knockedOut.length > 0 && `by ${result.knockedOut.map((number) => `question ${number}`).join(', ')}`],
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
