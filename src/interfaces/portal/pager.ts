import type { Listing } from '../../domain/page.ts'
import { pageCount } from '../../domain/page.ts'
import { type Html, html } from '../../http/html.ts'

/** The number of a page, as an address has it; the first, when it has none. */
export function readPageNumber(values: URLSearchParams): number {
  const page = values.get('page') ?? ''
  return /^[1-9]\d{0,6}$/.test(page) ? Number(page) : 1
}

/**
 * How many there are, and the ways to the pages before and after.
 *
 * @param noun what is counted, of one and of several.
 * @param values the filters, which the other pages keep.
 */
export function pager(
  { total, page, pageSize }: Omit<Listing<unknown>, 'items'>,
  [one, several]: [one: string, several: string],
  path: string,
  values: URLSearchParams,
): Html {
  const pages = Math.max(1, pageCount(total, pageSize))
  const link = (to: number, label: string) => {
    const query = new URLSearchParams(values)
    query.set('page', String(to))
    return html`<a href="${`${path}?${query}`}">${label}</a>\n`
  }
  return html`<nav class="pager" aria-label="Pages">
<span>${total.toLocaleString('en')} ${total === 1 ? one : several}${pages > 1 && `, page ${page} of ${pages}`}</span>
${page > 2 && link(1, 'First')}
${page > 1 && link(Math.min(page - 1, pages), 'Previous')}
${page < pages && link(page + 1, 'Next')}
${page < pages - 1 && link(pages, 'Last')}
</nav>`
}
