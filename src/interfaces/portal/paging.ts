import type { FastifyRequest } from 'fastify'
import { COUNTS } from '../../domain/limits.ts'
import { type Listing, type Page, pageCount } from '../../domain/page.ts'
import { type Html, html } from '../../http/html.ts'

/** What an address asks for; of what it says twice, the first counts. */
export const queryOf = ({ url }: FastifyRequest): URLSearchParams => new URLSearchParams(url.split('?')[1] ?? '')

/** The page of a list that an address asks for; the first where it asks for none. */
export function readPage(query: URLSearchParams, size: number): Page {
  const number = Number(query.get('page') ?? 1)
  return { number: Number.isInteger(number) && number >= 1 && number <= COUNTS.maximum ? number : 1, size }
}

/** Links to the pages before and after; nothing where there is only one. @param path the address of the list. */
export function pager(path: string, query: Record<string, string>, { total, page, pageSize }: Listing<unknown>): Html | false {
  const last = pageCount(total, pageSize)
  const addressOf = (number: number) => `${path}?${new URLSearchParams({ ...query, page: String(number) })}`
  return (
    (last > 1 || page > last) &&
    last > 0 &&
    html`<nav class="pager" aria-label="Pages">
${page > 1 && html`<a href="${addressOf(Math.min(page - 1, last))}" rel="prev">Previous</a>`}
<span>Page ${page} of ${last}</span>
${page < last && html`<a href="${addressOf(page + 1)}" rel="next">Next</a>`}
</nav>`
  )
}
