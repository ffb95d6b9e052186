import { type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { COUNTS, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../domain/limits.ts'
import { type ListPage, type Order, type PageRequest, pageCount } from '../../domain/lists/page.ts'
import { withParameter } from '../../http/addresses/address.ts'
import type { HeaderName } from '../../http/openapi/headers.ts'
import { StringEnum } from '../../http/schema/field-types.ts'
import { HEADERS, NAME } from '../../http/schema/schema-keywords.ts'

/** Longest `Link` header. It repeats the query up to four times, and many proxies and clients accept only a few KiB of headers. */
const MAX_LINK_LENGTH = 3_000

/** v1.md, Pagination object. */
export const Pagination = Type.Object(
  {
    page: Type.Integer({ description: 'Current page number' }),
    limit: Type.Integer({ description: 'Items per page' }),
    total: Type.Integer({ description: 'Total items across all pages' }),
    totalPages: Type.Integer({ description: 'Total number of pages' }),
  },
  { [NAME]: 'Pagination' },
)

/** Values of `sort` with the domain's fields. The first is the default. */
type SortWords<Field extends string> = Record<string, Field>

export const Limit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE, description: 'Items per page' }),
)

/** v1.md, Shared list query parameters; `filters` are the endpoint's own, and may replace one of them. */
export const ListQuery = <Filters extends TProperties>(sortWords: SortWords<string>, filters: Filters) =>
  Type.Object({
    page: Type.Optional(Type.Integer({ ...COUNTS, default: 1, description: 'Page number, from 1' })),
    limit: Limit,
    sort: Type.Optional(
      StringEnum(Object.keys(sortWords), { default: Object.keys(sortWords)[0], description: 'Field to sort by' }),
    ),
    order: Type.Optional(StringEnum(['asc', 'desc'], { default: 'desc', description: 'Direction' })),
    ...filters,
  })

type ListParameters = { page?: number; limit?: number; sort?: string; order?: 'asc' | 'desc' }

export const toLimit = ({ limit = DEFAULT_PAGE_SIZE }: { limit?: number }): number => limit
export const toPage = ({ page = 1, ...query }: ListParameters): PageRequest => ({ number: page, size: toLimit(query) })

export function toOrder<Field extends string>(
  sortWords: SortWords<Field>,
  { sort, order = 'desc' }: ListParameters,
): Order<Field> {
  const field = sort === undefined ? Object.values(sortWords)[0] : sortWords[sort]
  return { field: field!, direction: order }
}

const LIST_HEADERS: HeaderName[] = ['Link', 'Events-Cursor', 'Ignored-Parameters']

/**
 * Adds the header `Events-Cursor` to every list registered after this call. From that position on, the feed of events has the changes that the
 * list misses, because the position is read before the list.
 */
export function showEventsCursor(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { 200: view } = (route.schema?.response ?? {}) as { 200?: TSchema }
    if (view?.[HEADERS] !== LIST_HEADERS) return
    route.preHandler = async ({ ctx }: FastifyRequest, reply: FastifyReply) => {
      reply.header('events-cursor', String(ctx.replica ? ctx.replica.head : ctx.deps.events.head()))
    }
  })
}

/** Response schema of a list: the resource's array under its name, and the pagination. @param more further fields. */
export const ListOf = <Name extends string, Item extends TSchema, More extends TProperties = Record<never, never>>(
  name: Name,
  item: Item,
  more?: More,
) =>
  Type.Unsafe<
    Record<Name, Static<Item>[]> & { pagination: Static<typeof Pagination> } & { [Key in keyof More]: Static<More[Key]> }
  >(
    Type.Object(
      { [name]: Type.Array(item), ...more, pagination: Pagination },
      { [NAME]: `${item[NAME]}List`, [HEADERS]: LIST_HEADERS, description: 'A page of the list; `Link` leads to the others' },
    ),
  )

/** Body of a list. Sets `Link` (RFC 8288) to the neighboring pages unless it would be too long. */
export function answerList<Name extends string, Row, View>(
  request: FastifyRequest,
  reply: FastifyReply,
  name: Name,
  list: ListPage<Row>,
  present: (row: Row) => View,
) {
  const { total, page, pageSize } = list
  const totalPages = pageCount(total, pageSize)
  const links = linkPages(request, page, totalPages)
  if (links.length <= MAX_LINK_LENGTH) reply.header('link', links)
  const pagination: Static<typeof Pagination> = { page, limit: pageSize, total, totalPages }
  return { [name]: list.items.map(present), pagination } as Record<Name, View[]> & { pagination: typeof pagination }
}

function linkPages(request: FastifyRequest, page: number, totalPages: number): string {
  const last = Math.max(1, totalPages)
  const addressOf = withParameter(request, 'page')
  const links = {
    first: 1,
    ...(page > 1 && { prev: Math.min(page - 1, last) }),
    ...(page < last && { next: page + 1 }),
    last,
  }
  return Object.entries(links)
    .map(([relation, number]) => `<${addressOf(String(number))}>; rel="${relation}"`)
    .join(', ')
}
