import { type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { Context } from '../../domain/context.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../domain/limits.ts'
import { onReplica } from '../../domain/lists/on-replica.ts'
import { type ListPage, type PageRequest, pageCount } from '../../domain/lists/page.ts'
import { withParameter } from '../../http/addresses/address.ts'
import { HttpError } from '../../http/errors/failure.ts'
import { Nullable } from '../../http/schema/field-types.ts'
import { HEADERS, NAME } from '../../http/schema/schema-keywords.ts'
import { DepthParameter, READ } from './filters.ts'

/** New rows are added at the end, so that following `next` returns each item once. */
export const LIST_ORDER = { field: 'createdAt', direction: 'asc' } as const

const PageParameter = Type.Optional(
  Type.Unsafe<string>({
    anyOf: [
      { type: 'integer', minimum: 1 },
      { type: 'string', enum: ['last'] },
    ],
    default: 1,
    description: 'Page number from 1, or `last`',
  }),
)
const PageSizeParameter = Type.Optional(
  Type.Unsafe<string>({
    type: 'integer',
    minimum: 1,
    maximum: MAX_PAGE_SIZE,
    default: DEFAULT_PAGE_SIZE,
    [READ]: 'text',
    description: `Items per page; more than ${MAX_PAGE_SIZE} are taken for ${MAX_PAGE_SIZE}`,
  }),
)

/** alternate.md, Common list query parameters; `filters` are the list's own. Page and page_size are read by {@link readPageParameters}. */
export const ListQuery = <Filters extends TProperties>(filters: Filters) =>
  Type.Object({
    page: PageParameter,
    page_size: PageSizeParameter,
    depth: DepthParameter,
    ...filters,
  })

/** Path and query of one item. */
export const IdParameter = Type.Object({ id: Type.String({ format: 'uuid', description: 'Id of the resource' }) })
export const ItemQuery = Type.Object({ depth: DepthParameter })

/** alternate.md, Paginated list envelope. */
export const Envelope = <Item extends TSchema>(item: Item) =>
  Type.Object(
    {
      count: Type.Integer({ description: 'Total items' }),
      next: Nullable(Type.String({ format: 'uri', description: 'Address of the next page' })),
      previous: Nullable(Type.String({ format: 'uri', description: 'Address of the previous page' })),
      num_pages: Type.Integer({ description: 'Pages of this size; 1 when there is no item' }),
      current_page: Type.Integer({ description: 'Number of this page, from 1' }),
      results: Type.Array(item),
    },
    { [NAME]: `Paginated${item[NAME]}List`, [HEADERS]: ['Ignored-Parameters'], description: 'A page of the list' },
  )

type PageParameters = { page?: string; page_size?: string }

/** @throws HttpError page_not_found for an invalid page number. */
function readPageParameters({ page = '1', page_size = '' }: PageParameters): PageRequest {
  const size =
    /^\s*\+?\d+\s*$/.test(page_size) && Number(page_size) > 0 ? Math.min(MAX_PAGE_SIZE, Number(page_size)) : DEFAULT_PAGE_SIZE
  if (page === 'last') return { number: 'last', size }
  const number = /^\s*\+?\d+\s*$/.test(page) ? Number(page) : 0
  if (number < 1 || !Number.isSafeInteger(number * size)) throw new HttpError('page_not_found')
  return { number, size }
}

/**
 * One page of a list in the envelope.
 *
 * @param organization the filter `organization`: another organization's id is an empty list.
 * @throws HttpError page_not_found past the last page; the first page always exists.
 */
export async function presentPage<Row, View>(
  request: FastifyRequest & { query: PageParameters & { organization?: string } },
  read: (ctx: Context, page: PageRequest) => Promise<ListPage<Row>>,
  present: (row: Row) => View,
) {
  const { ctx, query } = request
  const page = readPageParameters(query)
  const foreign = query.organization !== undefined && query.organization !== ctx.organization.id
  const list = foreign ? emptyPage<Row>(page) : await onReplica(ctx, (ctx) => read(ctx, page))
  const pages = Math.max(1, pageCount(list.total, list.pageSize))
  if (list.page > pages) throw new HttpError('page_not_found')
  return {
    count: list.total,
    next: list.page < pages ? withParameter(request, 'page')(String(list.page + 1)) : null,
    // The first page's address is the one without a page.
    previous: list.page > 1 ? withParameter(request, 'page')(list.page > 2 ? String(list.page - 1) : null) : null,
    num_pages: pages,
    current_page: list.page,
    results: list.items.map(present),
  } satisfies Static<ReturnType<typeof Envelope>>
}

const emptyPage = <Row>({ number, size }: PageRequest): ListPage<Row> => ({
  items: [],
  total: 0,
  page: number === 'last' ? 1 : number,
  pageSize: size,
})
