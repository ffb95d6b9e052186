import type { FastifyRequest } from 'fastify'
import { type Listing, type Page, pageCount } from '../../../domain/lists/page.ts'
import { type Html, html } from '../../../html/html.ts'
import { type Form, issuesOf } from './forms.ts'
import { empty } from './parts.ts'

/** Rows of a page of a list. */
const PAGE_SIZE = 50

/** What was typed into the filter of a list, what is wrong with that, and the rows it finds: none where something is. */
export type Filtered<T> = { form: Form; list: Listing<T> }

/** What an address asks for. */
export const queryOf = ({ url }: FastifyRequest): URLSearchParams =>
  new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?')) : '')

/** The page of a list that an address asks for; the first where it asks for none. */
export const readPage = (query: URLSearchParams, size: number): Page => ({ number: readPageNumber(query), size })

/** Its number. */
export function readPageNumber(query: URLSearchParams): number {
  const asked = query.get('page') ?? ''
  return /^[1-9]\d{0,8}$/.test(asked) ? Number(asked) : 1
}

/** Reads the page of a list that the address asks for. @param find finds it. */
export async function readList<T>(request: FastifyRequest, find: (page: Page) => Promise<Listing<T>>): Promise<Filtered<T>> {
  const values = queryOf(request)
  try {
    return { form: { values, issues: [] }, list: await find(readPage(values, PAGE_SIZE)) }
  } catch (error) {
    const list = { items: [], total: 0, page: 1, pageSize: PAGE_SIZE }
    return { form: { values, issues: issuesOf(error) }, list }
  }
}

/** Said instead of the rows of a list that has none; with the way to all of them where it is filtered. */
export function noRows(text: string, path: string, query: URLSearchParams): Html {
  const isFiltered = [...query].some(([name, value]) => name !== 'sort' && value !== '')
  return empty('search', text, isFiltered && html`<a class="btn btn-sm" href="${path}">Show all</a>`)
}

/**
 * The ways to the other pages of a list.
 *
 * @param path the address of the list.
 * @param query the filters, which the other pages keep.
 * @param noun what is counted, one and several; without it nothing is shown where there is only one page.
 * @param anchor where on its page the list is: `#…`; at the top without it.
 */
export function pager(
  path: string,
  query: URLSearchParams,
  { total, page, pageSize }: Omit<Listing<unknown>, 'items'>,
  noun?: [one: string, several: string],
  anchor = '',
): Html | false {
  const last = Math.max(1, pageCount(total, pageSize))
  const isOnly = last === 1 && page === 1
  if (isOnly && !noun) return false
  const link = (to: number, label: string) => {
    const other = new URLSearchParams(query)
    other.set('page', String(to))
    return html`<a class="btn btn-sm" href="${`${path}?${other}${anchor}`}">${label}</a>\n`
  }
  const count = noun && `${total.toLocaleString('en')} ${total === 1 ? noun[0] : noun[1]}`
  return html`<nav class="mt-4 flex flex-wrap items-center gap-2 text-sm" aria-label="Pages">
<span class="text-base-content/70 mr-auto">${count ? html`${count}${!isOnly && `, page ${page} of ${last}`}` : `Page ${page} of ${last}`}</span>
${page > 2 && link(1, 'First')}
${page > 1 && link(Math.min(page - 1, last), 'Previous')}
${page < last && link(page + 1, 'Next')}
${page < last - 1 && link(last, 'Last')}
</nav>`
}
