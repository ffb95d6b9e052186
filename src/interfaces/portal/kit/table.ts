import { type Html, html, type Value } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'

/** A head that leads to the list in another order. @property direction of the order that the list has by it now. */
export type Sortable = { label: string; address: string; direction?: 'ascending' | 'descending' }

/**
 * A table whose rows are cards on a phone. Where it is wider than its place it scrolls by itself, also by keyboard.
 *
 * @param labelledBy the id of its heading.
 * @param headings what stands above each column; of one that is for buttons only, said to who does not see it: `(Actions)`.
 * @param rows the cells of each; the first names the row.
 */
export const table = (
  labelledBy: string,
  headings: (string | Sortable)[],
  rows: Value[][],
): Html => html`<div class="rows overflow-x-auto" role="group" aria-labelledby="${labelledBy}" tabindex="0">
<table class="table">
<thead><tr>${headings.map(head)}</tr></thead>
<tbody>
${rows.map(
  ([
    first,
    ...cells
  ]) => html`<tr><th scope="row">${first}</th>${cells.map((cell, i) => cellOf(cell, labelOf(headings[i + 1]!)))}</tr>
`,
)}
</tbody>
</table>
</div>`

/** A number is never parted into two lines. */
const cellOf = (cell: Value, label: string): Html =>
  typeof cell === 'number'
    ? html`<td class="whitespace-nowrap tabular-nums" data-label="${label}">${cell}</td>`
    : html`<td data-label="${label}">${cell}</td>`

const isHidden = (heading: string): boolean => heading.startsWith('(')

/** What is said of a cell on a phone. */
function labelOf(heading: string | Sortable): string {
  if (typeof heading !== 'string') return heading.label
  return isHidden(heading) ? '' : heading
}

function head(heading: string | Sortable): Html {
  if (typeof heading !== 'string') return sortable(heading)
  if (!isHidden(heading)) return html`<th scope="col">${heading}</th>`
  return html`<th scope="col"><span class="sr-only">${heading.slice(1, -1)}</span></th>`
}

const sortable = ({ label, address, direction }: Sortable): Html =>
  html`<th scope="col" aria-sort="${direction ?? 'none'}"><a class="inline-flex items-center gap-1 hover:underline" href="${address}">${label}${direction && icon(direction === 'ascending' ? 'arrow-up' : 'arrow-down', 'size-3.5')}</a></th>`
