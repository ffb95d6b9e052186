import { type Html, html, type Value } from '../../../html/html.ts'

/**
 * A table that scrolls by itself where the screen is narrow, also by keyboard.
 *
 * @param labelledBy the id of its heading.
 * @param rows the cells of each; the first names the row.
 */
export const table = (
  labelledBy: string,
  headings: string[],
  rows: Value[][],
): Html => html`<div class="scroll" role="group" aria-labelledby="${labelledBy}" tabindex="0">
<table>
<thead><tr>${headings.map((heading) => html`<th scope="col">${heading}</th>`)}</tr></thead>
<tbody>
${rows.map(
  ([first, ...cells]) => html`<tr><th scope="row">${first}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>
`,
)}
</tbody>
</table>
</div>`
