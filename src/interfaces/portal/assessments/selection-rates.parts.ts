import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { MIN_RESULTS } from '../../../domain/submissions/grading/item-analysis.ts'
import type { ComparedGroup, SelectionRates } from '../../../domain/submissions/grading/selection-rates.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount } from '../../../http/pages/candidate-view.ts'
import type { Column } from '../../../http/sending/send-csv.ts'
import { bar } from '../kit/chart.ts'
import { panel } from '../kit/layout.ts'
import { table } from '../kit/table.ts'

/** A group so small that one decision more or less changes its rate a lot. */
const SMALL_GROUP = 30

export const selectionColumns: Column<ComparedGroup>[] = [
  ['tag', ({ name }) => name],
  ['decided', ({ decided }) => decided],
  ['selected', ({ selected }) => selected],
  ['rate', ({ rate }) => rate],
  ['of_highest_rate', ({ ofHighest }) => ofHighest],
]

/** Nothing unless an admin has switched it on. @param path of the statistics. */
export const selectionPanel = (ctx: Context, path: string, rates: SelectionRates): Html | false =>
  rates.isOn && panel('selection', 'Selection rates by tag', selectionFigures(ctx, path, rates))

function selectionFigures(ctx: Context, path: string, { decided, tags, compared }: SelectionRates): Html {
  if (decided < MIN_RESULTS)
    return html`<p>Selection rates need ${MIN_RESULTS} released results with a decision; there ${decided === 1 ? 'is' : 'are'} ${decided}.</p>`
  if (tags.length === 0) return html`<p>${formatCount(decided, 'result')} with a decision, and no candidate has a tag.</p>`
  const ids = new Set(compared.map(({ id }) => id))
  return html`<p>Share of candidates shortlisted or advanced, by group. ${formatCount(decided, 'result')} have a decision. Choose tags that stand for groups of one kind, such as age groups.</p>
<form class="my-4" action="${path}#selection"><fieldset><legend class="mb-1.5 text-sm font-medium">Tags to compare</legend>
<div class="flex flex-wrap gap-x-6 gap-y-1">${tags.map(({ id, name }) => html`<label class="flex items-center gap-2.5 py-1.5 text-sm"><input type="checkbox" class="checkbox checkbox-sm" name="group" value="${id}" ${ids.has(id) && html`checked`}> <span dir="auto">${name}</span></label>`)}</div></fieldset>
<button class="btn btn-sm mt-2">Compare</button></form>
${compared.length > 0 && comparison(ctx, path, compared)}`
}

const comparison = (ctx: Context, path: string, compared: ComparedGroup[]): Html =>
  html`${table(
    'selection-heading',
    ['Tag', 'Decided', 'Selected', 'Rate', 'Share of the highest rate', 'Note'],
    compared.map(({ name, decided, selected, rate, ofHighest, isBelowFourFifths }) => [
      html`<span dir="auto">${name}</span>`,
      decided,
      selected,
      html`${percent(rate)}${bar(rate)}`,
      ofHighest === null ? null : percent(ofHighest),
      [isBelowFourFifths && 'Below four fifths', decided < SMALL_GROUP && 'Small group'].filter(Boolean).join(', '),
    ]),
  )}
<p class="hint mt-3">A rate below four fifths of the highest one is a reason to look closer (the four-fifths rule of the United States’ Uniform Guidelines). A lower rate doesn’t prove discrimination. A higher rate doesn’t rule it out. In a group of fewer than ${SMALL_GROUP}, a few decisions make the difference.</p>
${
  may(ctx, 'export') &&
  html`<form class="mt-3" method="post" action="${path}/selection-rates">${compared.map(({ id }) => html`<input type="hidden" name="group" value="${id}">`)}<button class="btn btn-sm">Export selection rates as CSV</button></form>`
}`

const percent = (share: number): string => `${Math.round(share * 100)} %`
