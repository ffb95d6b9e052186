import { may } from '../../../domain/authorization/permissions.ts'
import { MIN_RESULTS } from '../../../domain/submissions/grading/item-analysis.ts'
import type { SelectionRates } from '../../../domain/submissions/grading/selection-rates.ts'
import {
  type AssessmentStatistics,
  type Funnel,
  MAX_SAMPLE,
  type QuestionMark,
  type QuestionStatistics,
  type readGroups,
} from '../../../domain/submissions/grading/statistics.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount, formatDuration, plainQuestionText } from '../../../http/pages/candidate-view.ts'
import { bar, scaledChart } from '../kit/chart.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { factList } from '../kit/parts.ts'
import { table } from '../kit/table.ts'
import { type AssessmentHead, assessmentHead } from './assessment-head.ts'
import { assessmentTabs } from './assessment-tabs.ts'
import { selectionPanel } from './selection-rates.parts.ts'

/** Periods to choose from, in days. */
export const PERIODS = new Map([
  [30, 'the last 30 days'],
  [90, 'the last 90 days'],
  [365, 'the last year'],
])
export const DEFAULT_PERIOD = 90

type Facts = {
  statistics: AssessmentStatistics
  funnel: Funnel
  groups: Awaited<ReturnType<typeof readGroups>>
  days: number
  rates: SelectionRates
}

export function statisticsPage(headed: AssessmentHead, facts: Facts): Page {
  const { ctx, assessment } = headed
  const { statistics, funnel, groups, days, rates } = facts
  const path = pathOf(ctx, `assessments/${assessment.id}`)
  const markedQuestions = statistics.questions.filter(({ marks, isRemoved }) => marks.length > 0 && !isRemoved)
  return {
    ...assessmentHead(
      headed,
      may(ctx, 'export') &&
        statistics.questions.length > 0 &&
        html`<form method="post" action="${path}/statistics/export"><button class="btn">Export as CSV</button></form>`,
    ),
    title: `Statistics: ${assessment.name}`,
    heading: assessment.name,
    tabs: assessmentTabs(ctx, assessment, 'statistics'),
    body: html`${markedQuestions.length > 0 && panel('marked', `${formatCount(markedQuestions.length, 'question')} to look at`, markedList(path, markedQuestions))}
${panel('funnel', 'From invitation to result', funnelFigures(path, funnel, days))}
${groups.weeks.length > 1 && panel('weeks', 'Invites by week', weeksTable(groups.weeks))}
${groups.tags.length > 0 && panel('tags', 'By tag', tagsTable(groups.tags))}
${selectionPanel(ctx, `${path}/statistics`, rates)}
${panel('questions', 'Questions', questionFigures(statistics))}`,
  }
}

const MARKS: Record<QuestionMark, { label: string; explanation: string }> = {
  check_key: {
    label: 'Check the key',
    explanation: 'Candidates with good results do worse here than the others. The key may be wrong, or the text misleading.',
  },
  separates_little: { label: 'Separates little', explanation: 'Candidates with good and with poor results do alike here.' },
  too_easy: { label: 'Too easy', explanation: 'Nearly everybody gets all points, so it says little about anybody.' },
  too_hard: { label: 'Too hard', explanation: 'Hardly anybody gets points. Is the text clear, and the key right?' },
}

const markedList = (path: string, questions: QuestionStatistics[]): Html =>
  html`<ul class="space-y-3">${questions.map(
    ({ id, place, marks }) =>
      html`<li><a class="font-medium" href="${path}/questions/${id}">Question ${place}</a>: ${marks.map((mark) => html`${MARKS[mark].label}. <span class="quiet">${MARKS[mark].explanation}</span> `)}</li>`,
  )}</ul>`

function funnelFigures(path: string, { stops, ...counts }: Funnel, days: number): Html {
  const steps: [label: string, count: number, note: string | false][] = [
    ['Invited', counts.invited, false],
    ['Opened the link', counts.opened, false],
    ['Started', counts.started, false],
    ['Submitted', counts.completed, stops.length > 0 && formatStops(stops)],
    ['Result released', counts.released, false],
  ]
  return html`<form class="mb-4 flex flex-wrap items-center gap-2" action="${path}/statistics"><label for="days">Invited in</label>
<select class="select w-auto" id="days" name="days">${[...PERIODS].map(([value, label]) => html`<option value="${value}" ${value === days && html`selected`}>${label}</option>`)}</select>
<button class="btn btn-sm">Show</button></form>
${
  counts.invited === 0
    ? html`<p class="quiet">Nobody was invited in this period.</p>`
    : table(
        'funnel-heading',
        ['Step', 'Candidates', 'Share'],
        steps.map(([label, count, note]) => [
          html`${label}${note && html`<span class="hint block">${note}</span>`}`,
          count,
          html`${percent(count / counts.invited)}${bar(count / counts.invited)}`,
        ]),
      )
}`
}

const formatStops = (stops: Funnel['stops']): string =>
  `Of those who started and have not submitted, ${stops.map(({ number, candidates }) => `${candidates} reached question ${number}`).join(', ')} last.`

const weeksTable = (weeks: Facts['groups']['weeks']): Html =>
  html`${scaledChart(weeks.map(({ invited, completed }) => [invited, completed] as const))}
${table(
  'weeks-heading',
  ['Week from', 'Invited', 'Submitted', 'Share'],
  weeks.map(({ week, invited, completed }) => [week, invited, completed, percent(completed / invited)]),
)}`

const tagsTable = (tags: Facts['groups']['tags']): Html =>
  table(
    'tags-heading',
    ['Tag', 'Invited', 'Submitted', 'Share', 'Mean result'],
    tags.map(({ name, invited, completed, percent: mean }) => [
      name,
      invited,
      completed,
      percent(completed / invited),
      mean === null ? html`<span class="quiet">none</span>` : `${mean} %`,
    ]),
  )

function questionFigures({ results, isSample, reliability, questions }: AssessmentStatistics): Html {
  if (questions.length === 0) return html`<p class="quiet">No results with points are released yet.</p>`
  return html`${
    results < MIN_RESULTS
      ? html`<p>Figures of questions need ${MIN_RESULTS} released results; there ${results === 1 ? 'is' : 'are'} ${results}. Below that, chance says more than the candidates.</p>`
      : html`<p>“Points” is the mean share of the points. “Separates” tells how well a question separates high results from low ones, from −1 to 1: 0.3 and more is good.</p>`
  }
${factList([
  ['Results', isSample ? `the newest ${MAX_SAMPLE.toLocaleString('en')}` : results],
  ['Reliability (Cronbach’s alpha)', reliability !== null && decimal(reliability)],
])}
${table(
  'questions-heading',
  ['Question', 'Text', 'Results', 'Points', 'Separates', 'Time', 'Look at'],
  questions.map((question) => [
    question.isRemoved ? `Removed ${question.place}` : question.place,
    html`<span class="preformatted" lang="" dir="auto">${plainQuestionText(question)}</span>${question.answers.length > 0 && answerLines(question)}`,
    question.results,
    question.share === null ? null : html`${percent(question.share)}${bar(question.share)}`,
    question.discrimination === null ? null : decimal(question.discrimination),
    question.seconds === null ? null : formatDuration(Math.round(question.seconds)),
    question.marks.map((mark) => MARKS[mark].label).join(', '),
  ]),
)}
${questions.some(({ isRemoved }) => isRemoved) && html`<p class="hint">Removed questions are no longer part of the assessment.</p>`}`
}

const answerLines = ({ answers }: QuestionStatistics): Html =>
  html`<details class="mt-2"><summary class="text-sm">Answers</summary><table class="table table-sm"><thead><tr><th scope="col">Answer</th><th scope="col">Best third</th><th scope="col">Lowest third</th></tr></thead><tbody>${answers.map(
    ({ text, best, lowest }) =>
      html`<tr><th scope="row" class="font-normal" dir="auto">${text}</th><td>${percent(best)}</td><td>${percent(lowest)}</td></tr>`,
  )}</tbody></table></details>`

const percent = (share: number): string => `${Math.round(share * 100)} %`
const decimal = (value: number): string => value.toFixed(2).replace('-', '−')
