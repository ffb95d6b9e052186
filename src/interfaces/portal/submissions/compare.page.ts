import type { Context } from '../../../domain/context.ts'
import type { DecisionNames } from '../../../domain/invites/decisions/decision-names.ts'
import type {
  ComparedAnswer,
  ComparedCell,
  ComparedCriterion,
  ComparedPerson,
  ComparedQuestion,
  Comparison,
} from '../../../domain/submissions/grading/compare-results.ts'
import { type Html, html } from '../../../html/html.ts'
import { plainQuestionText, userText } from '../../../http/pages/candidate-view.ts'
import { icon } from '../../../http/pages/icon.ts'
import type { Column } from '../../../http/sending/send-csv.ts'
import { bar } from '../kit/chart.ts'
import { type Form, mistakes } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { mediaFilePlayer } from './answers.parts.ts'
import { decisionBadge } from './decision.parts.ts'

export const COMPARE = 'results/compare'

/** @property opened row whose answers are shown. @property pair columns shown on a phone. */
type Facts = {
  ctx: Context
  comparison: Comparison
  names: DecisionNames
  query: URLSearchParams
  opened: { row: number; answers: ComparedAnswer[] } | null
  pair: readonly [left: number, right: number]
}

const TRAIL = (ctx: Context): [string, string][] => [['Results', pathOf(ctx, 'results')]]

/** Page for a selection that can't be compared. */
export const uncomparedPage = (form: Form, ctx: Context): Page => ({
  title: 'Compare',
  trail: TRAIL(ctx),
  body: html`${mistakes(form)}<a class="btn" href="${pathOf(ctx, 'results')}">Back to the results</a>`,
})

export function comparePage({ ctx, comparison, names, query, opened, pair }: Facts): Page {
  const { people, questions, isBlind } = comparison
  const assessments = new Set(people.map(({ assessment }) => assessment.name))
  const areNamed = query.get('names') === 'yes'
  return {
    title: `Compare ${people.length} candidates`,
    trail: TRAIL(ctx),
    subtitle: `${[...assessments].join(', ')} · ${questions.length} questions`,
    actions: html`${isBlind && html`<a class="btn" href="${addressOf(ctx, query, { names: areNamed ? '' : 'yes' })}">${areNamed ? 'Hide names' : 'Show names'}</a>`}<button class="btn" hidden data-print type="button">${icon('printer')}Print</button>
<form method="post" action="${pathOf(ctx, `${COMPARE}/export`)}">${fieldsOf(query)}<button class="btn">${icon('download')}Export as CSV</button></form>`,
    body: html`<section class="panel" aria-labelledby="compare-heading">
<h2 class="sr-only" id="compare-heading">Points by question</h2>
${people.length > 2 && pairForm(ctx, people, query, pair)}
<p class="hint mb-3 print:hidden">Bold is the most in a row.<span class="noscript:hidden pointer-coarse:hidden"> Press <kbd class="kbd kbd-sm">n</kbd> for the answers to the next question, <kbd class="kbd kbd-sm">N</kbd> for the previous.</span></p>
${steps(ctx, query, questions.length, opened?.row)}<div class="overflow-x-auto" role="group" aria-labelledby="compare-heading" tabindex="0"><table class="table table-fixed sm:min-w-160">
<thead><tr><th scope="col" class="max-sm:w-2/5"><span class="sr-only">Question</span></th>${people.map((person, i) => personHead(ctx, person, { names, query, className: columnClass(pair, i) }))}</tr></thead>
<tbody>${questions.map((question, row) => questionRows({ ctx, question, row, query, people, pair, opened }))}</tbody>
</table></div>
</section>`,
  }
}

/** Links that the keys n and N press: the answers to the next question, and to the previous. */
function steps(ctx: Context, query: URLSearchParams, count: number, row = -1): Html {
  const link = (key: string, targetRow: number) =>
    targetRow >= 0 &&
    targetRow < count &&
    html`<a hidden data-go="${key}" href="${`${addressOf(ctx, query, { question: String(targetRow + 1) })}#row-${targetRow + 1}`}"></a>`
  return html`${link('next', row + 1)}${link('previous', row - 1)}`
}

/** Only two columns fit on a phone. */
const columnClass = (pair: Facts['pair'], i: number): string => (pair.includes(i) ? '' : 'max-sm:hidden print:table-cell')

function pairForm(ctx: Context, people: ComparedPerson[], query: URLSearchParams, pair: Facts['pair']): Html {
  const options = (chosen: number) =>
    people.map(({ name }, i) => html`<option value="${i}" ${i === chosen && html`selected`}>${name}</option>`)
  return html`<form class="mb-3 flex gap-2 sm:hidden" method="get" action="${pathOf(ctx, COMPARE)}">${fieldsOf(query)}
<select class="select min-w-0" name="left" aria-label="Left">${options(pair[0])}</select><select class="select min-w-0" name="right" aria-label="Right">${options(pair[1])}</select><button class="btn">Show</button></form>`
}

/** Parameters that other forms of the page keep. */
const fieldsOf = (query: URLSearchParams): Html[] =>
  [...query]
    .filter(([name, value]) => ['id', 'names', 'sort'].includes(name) && value !== '')
    .map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)

function addressOf(ctx: Context, query: URLSearchParams, changes: Record<string, string>): string {
  const next = new URLSearchParams([...query].filter(([name]) => ['id', 'names', 'sort', 'left', 'right'].includes(name)))
  for (const [name, value] of Object.entries(changes)) next.set(name, value)
  return `${pathOf(ctx, COMPARE)}?${next}`
}

type HeadOptions = { names: DecisionNames; query: URLSearchParams; className: string }

function personHead(ctx: Context, person: ComparedPerson, { names, query, className }: HeadOptions): Html {
  const { id, name, result, decision } = person
  const remainingQuery = new URLSearchParams([...query].filter(([key, value]) => !(key === 'id' && value === id)))
  const remove =
    remainingQuery.getAll('id').length >= 2 &&
    html`<a class="btn btn-ghost btn-xs print:hidden" href="${addressOf(ctx, remainingQuery, {})}" aria-label="${`Remove ${name}`}">${icon('x', 'size-3.5')}</a>`
  return html`<th scope="col" class="${`${className} align-top whitespace-normal`}"><span class="flex items-start justify-between gap-1"><a class="named break-words" href="${pathOf(ctx, `results/${id}`)}">${name}</a>${remove}</span>
<span class="block text-lg font-semibold tabular-nums">${result.percent !== null && `${result.percent} %`}</span><span class="hint block">${result.ofPoints > 0 && `${result.points} of ${result.ofPoints}`}</span>${decisionBadge(names, decision)}</th>`
}

type RowFacts = Pick<Facts, 'ctx' | 'query' | 'pair' | 'opened'> & {
  question: ComparedQuestion
  row: number
  people: ComparedPerson[]
}

function questionRows({ ctx, question, row, query, people, pair, opened }: RowFacts): Html {
  const { cells, criteria, points } = question
  const isMost = findMost(cells)
  const answers = opened?.row === row ? opened.answers : null
  const toggle = answers ? addressOf(ctx, query, {}) : addressOf(ctx, query, { question: String(row + 1) })
  return html`<tr id="${`row-${row + 1}`}"><th scope="row" class="align-top font-medium whitespace-normal"><span class="line-clamp-3 break-words" lang="" dir="auto">${plainQuestionText(question)}</span>
<span class="hint flex flex-wrap gap-x-3"><span>${points} ${points === 1 ? 'point' : 'points'}</span><a class="underline print:hidden" href="${`${toggle}#row-${row + 1}`}">${answers ? 'Close answers' : 'Answers'}</a><a class="underline print:hidden" href="${addressOf(ctx, query, { sort: String(row + 1) })}">Sort</a></span></th>${cells.map((cell, i) => pointsCell(cell, isMost(cell), columnClass(pair, i)))}</tr>
${criteria.map((criterion, i) => criterionRow(criterion, addressOf(ctx, query, { sort: `${row + 1}.${i + 1}` }), pair))}
${answers && html`<tr><td class="hint align-top">Answers</td>${answers.map((answer, i) => html`<td class="${`${columnClass(pair, i)} align-top`}">${cells[i] && answerOf(ctx, answer, people[i]!.name)}</td>`)}</tr>`}
`
}

/** Tells whether a cell alone has the most points. */
function findMost<Cell extends { points: number | null } | undefined>(cells: readonly Cell[]): (cell: Cell) => boolean {
  const most = Math.max(...cells.map((cell) => cell?.points ?? Number.NEGATIVE_INFINITY))
  const isAlone = cells.filter((cell) => cell?.points === most).length === 1
  return (cell) => isAlone && cell?.points === most
}

function criterionRow({ name, cells }: ComparedCriterion, sortAddress: string, pair: Facts['pair']): Html {
  const isMost = findMost(cells)
  return html`<tr class="text-sm"><th scope="row" class="ps-8 align-top font-normal whitespace-normal"><span class="break-words" dir="auto">${name}</span> <a class="hint underline print:hidden" href="${sortAddress}" aria-label="${`Sort by ${name}`}">Sort</a></th>${cells.map((cell, i) => html`<td class="${`${columnClass(pair, i)} align-top`}">${cell ? html`<span class="tabular-nums">${isMost(cell) ? html`<strong>${cell.points}</strong>` : cell.points} / ${cell.ofPoints}</span> <span class="hint break-words" dir="auto">${cell.text}</span>` : '–'}</td>`)}</tr>
`
}

function pointsCell(cell: ComparedCell | undefined, isMost: boolean, className: string): Html {
  if (!cell) return html`<td class="${className}"><span class="hint">Not asked</span></td>`
  const { points, ofPoints } = cell
  if (points === null) return html`<td class="${className}">–</td>`
  return html`<td class="${`${className} align-top`}"><span class="tabular-nums">${isMost ? html`<strong>${points}</strong>` : points} / ${ofPoints}</span>${ofPoints > 0 && bar(Math.max(0, points / ofPoints))}</td>`
}

function answerOf(ctx: Context, answer: ComparedAnswer, name: string): Html {
  if (!answer) return html`<span class="hint">Not answered</span>`
  if (answer.media) return mediaFilePlayer(ctx, answer.media, `Answer of ${name}`)
  return html`<div class="break-words">${userText(answer.text)}</div>`
}

/** Row of the CSV: a question, or a criterion of it. */
type ExportedRow = { question: string; criterion: string; ofPoints: number; points: (number | null | undefined)[] }

export const toExportedRows = ({ questions }: Comparison): ExportedRow[] =>
  questions.flatMap(({ cells, criteria, points, ...text }) => {
    const question = plainQuestionText(text)
    const pointsIn = (compared: readonly ({ points: number | null } | undefined)[]) => compared.map((cell) => cell?.points)
    return [
      { question, criterion: '', ofPoints: points, points: pointsIn(cells) },
      ...criteria.map((row) => ({ question, criterion: row.name, ofPoints: row.ofPoints, points: pointsIn(row.cells) })),
    ]
  })

/** A column a person. */
export const comparisonColumns = ({ people }: Comparison): Column<ExportedRow>[] => [
  ['question', ({ question }) => question],
  ['criterion', ({ criterion }) => criterion],
  ['of_points', ({ ofPoints }) => ofPoints],
  ...people.map(({ name }, i): Column<ExportedRow> => [name, ({ points }) => points[i]]),
]
