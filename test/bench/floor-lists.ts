import type { Read, Request, Row } from './floor.ts'

/** A list, by two prepared statements: how many there are, and one page. In both $1 is the organization, and $2 what it is a list of, if anything. */
export type List = {
  /** Of its statements. */
  name: string
  /** SQL: SELECT … AS total. What the database keeps is read, not counted. */
  count: string
  /** SQL, with the order. */
  rows: string
  present: (row: Row) => object
}

const PAGE_SIZE = 20

/** A list of v1; with `uncounted` the page alone. */
export const listOfV1 =
  (items: string, list: List): Read =>
  async (request) => {
    const window = readWindow(request, 'limit')
    if (request.query.has('uncounted')) return { [items]: await find(request, list, window) }
    const total = await count(request, list)
    const pagination = { page: window.page, limit: window.size, total, totalPages: Math.ceil(total / window.size) }
    return { [items]: await find(request, list, window), pagination }
  }

/** A list of the alternate interface; the same. */
export const listOfAlternate =
  (list: List): Read =>
  async (request) => {
    const window = readWindow(request, 'page_size')
    if (request.query.has('uncounted')) return { results: await find(request, list, window) }
    const total = await count(request, list)
    const pages = Math.max(1, Math.ceil(total / window.size))
    const { page } = window
    return {
      count: total,
      next: page < pages ? addressOf(request, page + 1) : null,
      previous: page > 1 ? addressOf(request, page - 1) : null,
      num_pages: pages,
      current_page: page,
      results: await find(request, list, window),
    }
  }

function addressOf({ url, query }: Request, page: number): string {
  const others = new URLSearchParams(query)
  others.set('page', String(page))
  others.sort()
  return `${url.origin}${url.pathname}?${others}`
}

type Window = { page: number; size: number }

const readWindow = ({ query }: Request, size: string): Window => ({
  page: Number(query.get('page') ?? 1),
  size: Number(query.get(size) ?? PAGE_SIZE),
})

const scope = ({ key, id }: Request): string[] => [key.organizationId, ...(id ? [id] : [])]

async function count(request: Request, list: List): Promise<number> {
  const { rows } = await request.pool.query<{ total: number }>({
    name: `${list.name}-count`,
    text: list.count,
    values: scope(request),
  })
  return rows[0]!.total
}

async function find(request: Request, { name, rows: text, present }: List, { page, size }: Window): Promise<object[]> {
  const of = scope(request)
  const { rows } = await request.pool.query<Row>({
    name: `${name}-page`,
    text: `${text} LIMIT $${of.length + 1} OFFSET $${of.length + 2}`,
    values: [...of, size, (page - 1) * size],
  })
  return rows.map(present)
}
