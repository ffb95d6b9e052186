import type { FastifyRequest } from 'fastify'
import { type Listing, type Page, pageCount } from '../../domain/page.ts'
import { type Html, html } from '../../http/html.ts'
import { type Form, issuesOf } from './forms.ts'

/** Rows of a page of a list. */
const PAGE_SIZE = 50

/** What was typed into the filter of a list, what is wrong with that, and the rows it finds: none where something is. */
export type Filtered<T> = { form: Form; list: Listing<T> }

/** What stands behind the question mark of the address. */
export const queryOf = ({ url }: FastifyRequest): URLSearchParams =>
  new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?')) : '')

/** Reads the page of a list that the address asks for. @param find finds it. */
export async function readList<T>(request: FastifyRequest, find: (page: Page) => Promise<Listing<T>>): Promise<Filtered<T>> {
  const values = queryOf(request)
  const asked = values.get('page') ?? ''
  const page = { number: /^[1-9]\d{0,8}$/.test(asked) ? Number(asked) : 1, size: PAGE_SIZE }
  try {
    return { form: { values, issues: [] }, list: await find(page) }
  } catch (error) {
    const list = { items: [], total: 0, page: 1, pageSize: PAGE_SIZE }
    return { form: { values, issues: issuesOf(error) }, list }
  }
}

/** The way to the pages beside this one; nothing when there is only one. @param address of the list. */
export function pager(address: string, { form, list }: Filtered<unknown>): Html | false {
  const { page, total, pageSize } = list
  const last = pageCount(total, pageSize)
  if (last <= 1) return false
  const link = (label: string, number: number) =>
    html`<a href="${address}?${new URLSearchParams({ ...Object.fromEntries(form.values), page: String(number) }).toString()}">${label}</a>\n`
  return html`<nav class="sections" aria-label="Pages of the list">
${page > 1 && link('Previous', Math.min(page - 1, last))}
<span>Page ${page} of ${last}</span>
${page < last && link('Next', page + 1)}
</nav>`
}
