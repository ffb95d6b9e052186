import type { FastifyRequest } from 'fastify'
import { PAGE_SIZES } from '../../../domain/limits.ts'
import { type ListPage, type Order, type PageRequest, pageCount } from '../../../domain/lists/page.ts'
import { type Html, html } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'
import { homeAddressIn } from './confirm.ts'
import { type Form, issuesOf } from './forms.ts'
import { empty } from './parts.ts'
import { membershipOf } from './sidebar.ts'
import type { SortableHeading } from './table.ts'

/** Filter form of a list, and the matching rows: none if the filter is invalid. */
export type FilteredList<T> = { form: Form; list: ListPage<T> }

export const queryOf = ({ url }: FastifyRequest): URLSearchParams =>
  new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?')) : '')

/** Rows per page, as the member prefers. */
export const pageSizeOf = ({ ctx, signedIn }: FastifyRequest): number =>
  (signedIn && membershipOf({ ctx, signedIn })?.pageSize) ?? PAGE_SIZES[0]

/** The page in a list's address, by default the first. */
export const readPage = (query: URLSearchParams, size: number): PageRequest => ({ number: readPageNumber(query), size })

export function readPageNumber(query: URLSearchParams): number {
  const value = query.get('page') ?? ''
  return /^[1-9]\d{0,8}$/.test(value) ? Number(value) : 1
}

/** Reads the page of a list in the request's address. */
export async function readList<T>(
  request: FastifyRequest,
  find: (page: PageRequest) => Promise<ListPage<T>>,
): Promise<FilteredList<T>> {
  const values = queryOf(request)
  const pageSize = pageSizeOf(request)
  try {
    return { form: { values, issues: [] }, list: await find(readPage(values, pageSize)) }
  } catch (error) {
    const list = { items: [], total: 0, page: 1, pageSize }
    return { form: { values, issues: issuesOf(error) }, list }
  }
}

/** Message for an empty list, with a link to all rows if it is filtered. */
export function noRows(text: string, path: string, query: URLSearchParams): Html {
  return empty('search', text, isNarrowed(query) && html`<a class="btn btn-sm" href="${path}">Show all</a>`)
}

/** Parameters of a list's address that are no filters. */
const NO_FILTERS = ['sort', 'page', 'after', 'before', 'done']

export const isNarrowed = (query: URLSearchParams): boolean =>
  [...query].some(([name, value]) => !NO_FILTERS.includes(name) && value !== '')

/**
 * Filter form of a list, with a link that resets it. Keeps the order. On a phone, selects are folded.
 *
 * @param path the address of the list.
 * @param fields filter fields. @param more further buttons.
 */
export const filterLine = (path: string, query: URLSearchParams, fields: Html, more?: Html | false): Html =>
  html`<form method="get" action="${path}" class="filters">${query.get('sort') && html`<input type="hidden" name="sort" value="${query.get('sort')}">`}
${fields}
<button class="btn">Apply</button>
<label class="unfold btn">${icon('sliders-horizontal')}Filters<input type="checkbox" class="sr-only" ${isNarrowed(query) && html`checked`}></label>
${isNarrowed(query) && html`<a class="btn btn-ghost" href="${path}">Reset</a>`}
${more}
</form>
`

/** Orders of a list by their parameter; the first is the default. Each needs an index. */
export type Orders = Record<string, Order<string>>

export function readSort<O extends Orders>(query: URLSearchParams, orders: O): keyof O & string {
  const value = query.get('sort') ?? ''
  return Object.hasOwn(orders, value) ? value : Object.keys(orders)[0]!
}

/** Column heading that sorts by a field; pressed again, it reverses the order. */
export function sortable<Field extends string>(
  label: string,
  field: Field,
  { path, query, orders }: { path: string; query: URLSearchParams; orders: Record<string, Order<Field>> },
): SortableHeading {
  const current = readSort(query, orders)
  const its = Object.keys(orders).filter((word) => orders[word]!.field === field)
  const isCurrent = its.includes(current)
  const next = its.find((word) => word !== current) ?? its[0]!
  const sortedQuery = new URLSearchParams(query)
  sortedQuery.delete('page')
  sortedQuery.set('sort', isCurrent ? next : its[0]!)
  const direction = orders[current]!.direction === 'asc' ? ('ascending' as const) : ('descending' as const)
  return { label, address: `${path}?${sortedQuery}`, ...(isCurrent && { direction }) }
}

/**
 * Links to the other pages of a list.
 *
 * @param path the address of the list.
 * @param query filters, which the links keep.
 * @param noun singular and plural of the rows; without it nothing is shown for a single page.
 * @param anchor fragment of the list on its page: `#…`.
 */
export function pager(
  path: string,
  query: URLSearchParams,
  { total, page, pageSize, isMore }: Omit<ListPage<unknown>, 'items'>,
  noun?: [one: string, several: string],
  anchor = '',
): Html | false {
  const last = Math.max(1, pageCount(total, pageSize))
  const isOnly = last === 1 && page === 1
  if (isOnly && !noun) return false
  const link = (number: number, label: string) => {
    const pageQuery = new URLSearchParams(query)
    pageQuery.set('page', String(number))
    return html`<a class="btn btn-sm" href="${`${path}?${pageQuery}${anchor}`}">${label}</a>\n`
  }
  const count = noun && `${isMore ? 'More than ' : ''}${total.toLocaleString('en')} ${total === 1 ? noun[0] : noun[1]}`
  return html`<nav class="mt-4 flex flex-wrap items-center gap-2 text-sm" aria-label="Pages">
<span class="text-base-content/70 mr-auto">${count ? html`${count}${!isOnly && `, page ${page} of ${last}`}` : `Page ${page} of ${last}`}</span>
${page > 2 && link(1, 'First')}
${page > 1 && link(Math.min(page - 1, last), 'Previous')}
${page < last && link(page + 1, 'Next')}
${page < last - 1 && link(last, 'Last')}
</nav>`
}

/** {@link pager} with a choice of the page size. */
export const sizedPager = (
  path: string,
  query: URLSearchParams,
  list: Omit<ListPage<unknown>, 'items'>,
  noun?: [one: string, several: string],
): Html => html`${pager(path, query, list, noun)}${list.total > PAGE_SIZES[0] && pageSizes(path, query, list.pageSize)}`

/** Choice of the page size, stored for the member. */
export function pageSizes(path: string, query: URLSearchParams, pageSize: number): Html {
  const firstPageQuery = new URLSearchParams(query)
  firstPageQuery.delete('page')
  return html`<form method="post" action="${`${homeAddressIn(path)}account/preferences`}" class="mt-3 flex items-center gap-2 text-sm" aria-label="Rows per page">
<input type="hidden" name="back" value="${`${path}?${firstPageQuery}`}">
<span class="text-base-content/70">Rows per page</span>
<div class="join">${PAGE_SIZES.map((size) => html`<button class="${size === pageSize ? 'btn btn-sm join-item btn-active' : 'btn btn-sm join-item'}" name="pageSize" value="${size}" aria-pressed="${size === pageSize ? 'true' : 'false'}">${size}</button>`)}</div>
</form>`
}
