import { type Html, html, type Value } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'

/** A sortable column heading. @property direction current order by this column, if any. */
export type SortableHeading = { label: string; address: string; direction?: 'ascending' | 'descending' }

/**
 * A table whose rows are cards on a phone. Wide tables scroll by themselves, also by keyboard.
 *
 * @param labelledBy the id of its heading.
 * @param headings column headings; `(Actions)` in parentheses is for screen readers only.
 * @param rows cells by row; the first one names the row.
 */
export const table = (
  labelledBy: string,
  headings: (string | SortableHeading)[],
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

/** Numbers never wrap. */
const cellOf = (cell: Value, label: string): Html =>
  typeof cell === 'number'
    ? html`<td class="whitespace-nowrap tabular-nums" data-label="${label}">${cell}</td>`
    : html`<td data-label="${label}">${cell}</td>`

const isHidden = (heading: string): boolean => heading.startsWith('(')

/** Label of a cell on a phone. */
function labelOf(heading: string | SortableHeading): string {
  if (typeof heading !== 'string') return heading.label
  return isHidden(heading) ? '' : heading
}

function head(heading: string | SortableHeading): Html {
  if (typeof heading !== 'string') return sortable(heading)
  if (!isHidden(heading)) return html`<th scope="col">${heading}</th>`
  return html`<th scope="col"><span class="sr-only">${heading.slice(1, -1)}</span></th>`
}

const sortable = ({ label, address, direction }: SortableHeading): Html =>
  html`<th scope="col" aria-sort="${direction ?? 'none'}"><a class="inline-flex items-center gap-1 hover:underline" href="${address}">${label}${direction && icon(direction === 'ascending' ? 'arrow-up' : 'arrow-down', 'size-3.5')}</a></th>`
