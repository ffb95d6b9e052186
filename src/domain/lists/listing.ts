import { sql } from '../../db/builder.ts'
import {
  type Condition,
  type Expression,
  type Expressions,
  expressionsOf,
  prepareScoped,
  project,
  type RawBuilder,
  type Rows,
  type Selectable,
  type SelectQueryBuilder,
  type Selects,
  type SqlBool,
  type Tables,
} from '../../db/queries.ts'
import { containing } from '../../db/query.ts'
import { type AsJson, jsonOf } from '../../db/statements.ts'
import type { TenantDb } from '../../db/tenant-db.ts'
import type { TenantTable } from '../../db/tenant-tables.ts'
import type { Context } from '../context.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, PAGE_SIZES } from '../limits.ts'
import { caseKey, searchKey } from '../text/fold-text.ts'
import { readWords } from './filters.ts'
import { type ListPage, type Order, type PageRequest, pageNumber } from './page.ts'

export type { Tables }
/** A time, or PostgreSQL's JSON text of it, which callers who only display it can use. */
export type Time = Date | string

/** Columns to read of a table's rows. */
export type Projection<T extends keyof Tables, Row> = { table: T; show: Selects<T, Row> }
/** All columns, and how to pick some. */
export type FullProjection<T extends keyof Tables, Row> = Projection<T, Row> & {
  pick: (fields: readonly string[]) => Selects<T, never>
}
/** A row of a projection that is read by a query of its own. */
export type Selected<S> = S extends { show: (rows: never, sight: never) => { readonly expressionType?: infer Row | undefined } }
  ? NonNullable<Row>
  : never
/** A row of a projection: lists have times as text. */
export type RowOf<S> = S extends { show: (rows: never, sight: never) => { readonly expressionType?: infer Row | undefined } }
  ? WithTimes<NonNullable<Row>>
  : never
export type WithTimes<Row> = { [Field in keyof Row]: Date extends Row[Field] ? Row[Field] | string : Row[Field] }

/** Computed columns of each row. */
type Related<T extends keyof Tables> = Record<string, (eb: Expressions<T>, db: TenantDb) => Expression<unknown>>
type Whole<T extends keyof Tables, R extends Related<T>> = Selectable<Tables[T]> & {
  [Field in keyof R]: ReturnType<R[Field]> extends Expression<infer Value> ? Value : never
}

/** @param columns all columns of the table, as Prisma's `…ScalarFieldEnum` lists them. */
export function projectionOf<T extends keyof Tables, R extends Related<T> = Record<never, never>>(
  table: T,
  columns: Record<keyof Tables[T] & string, string>,
  related: R = {} as R,
): FullProjection<T, Whole<T, R>> {
  const pick = (fields: readonly string[]) => (rows: Rows<T>, db: TenantDb) =>
    (rows as Rows<never>).select(() =>
      fields.map((field) =>
        field in columns ? sql.ref(`${table}.${field}`).as(field) : sql`${related[field]!(expressionsOf<T>(), db)}`.as(field),
      ),
    ) as never
  return { table, pick, show: pick([...Object.keys(columns), ...Object.keys(related)]) as never }
}

/** Reads only these columns: half the work for a list. */
export const pickColumns = <T extends keyof Tables, Row, Field extends keyof Row & string>(
  { table, pick }: FullProjection<T, Row>,
  fields: readonly Field[],
): Projection<T, Pick<Row, Field>> => ({ table, show: pick(fields) as never })

/** Condition of each filter of a list; '=' compares the column of that name. A missing filter doesn't compile. */
export type FilterConditions<T extends keyof Tables, Filter> = {
  [F in keyof Filter]-?:
    | ((eb: Expressions<T>, value: NonNullable<Filter[F]>, db: TenantDb) => Condition)
    | (F extends keyof Tables[T] ? '=' : never)
}

/**
 * A filter as its conditions use it. A search is split into a pattern for each word. An exact name comes with its key, because no index
 * supports comparing composed names.
 */
export type TokenizedFilter<Filter> = {
  [F in keyof Filter]: F extends 'search' | 'recipient' ? string[] : Filter[F]
} & ('name' extends keyof Filter ? { nameKey?: string } : unknown)
export function toPatterns<Filter extends { search?: string | undefined; name?: string }>({
  search,
  ...filter
}: Filter): TokenizedFilter<Filter> {
  const words = readWords(search)
  const { name } = filter
  return {
    ...filter,
    ...(name !== undefined && { name: name.normalize('NFC'), nameKey: caseKey(name) }),
    ...(words.length > 0 && { search: words.map((word) => containing(searchKey(word))) }),
  } as TokenizedFilter<Filter>
}

/** The texts are equal in Unicode's composed form; `name` is composed. */
export const isComposed = (text: Expression<string>, name: string): Condition => sql`normalize(${text}, nfc) = ${name}`

/** A text folded by searchKey contains all patterns. */
export const containsAll = (text: Expression<string>, patterns: readonly string[]): Condition =>
  sql`${text} like all (${patterns}::text[])`

/** The rows that meet the conditions of the given filters. */
export function applyFilters<T extends TenantTable, Filter extends object>(
  db: TenantDb,
  rows: Rows<T>,
  { table, filters }: Pick<List<T, Filter, never>, 'table' | 'filters'>,
  filter: Filter,
): Rows<T> {
  const usedFields = (Object.keys(filters) as (keyof Filter & string)[]).filter((field) => filter[field] !== undefined)
  return usedFields.reduce((found, field) => {
    const [condition, value] = [filters[field], filter[field]!]
    if (typeof condition !== 'function') return found.where(sql<SqlBool>`${sql.ref(`${table}.${field}`)} = ${value}`)
    return found.where(condition(expressionsOf<T>(), value, db))
  }, rows)
}

/** Common page sizes. */
const USUAL_SIZES: readonly number[] = [DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, ...PAGE_SIZES]
type Size = { skip?: number | undefined; take?: number | undefined }

/**
 * Limits rows to a page. The first page of a common size is a literal: for a parameter PostgreSQL's generic plan assumes a tenth of all
 * rows, which looks so expensive that it replans each execution.
 *
 * @param size a common one; 0 if `take` has it.
 */
export const limitRows = <DB, From extends keyof DB, Row>(
  rows: SelectQueryBuilder<DB, From, Row>,
  { skip, take }: { skip?: unknown; take?: unknown },
  size: number,
): SelectQueryBuilder<DB, From, Row> => {
  const cut = rows.limit(size > 0 ? sql.lit(size) : (take as number))
  return skip === undefined ? cut : cut.offset(skip as number)
}
/** The arguments of `limitRows` for a page. */
export const toPageSize = (take: number): { take: number | undefined; usual: number } =>
  USUAL_SIZES.includes(take) ? { take: undefined, usual: take } : { take, usual: 0 }

/** The number of rows before the page. That of the last page depends on the total. */
export const offsetOf = ({ number, size }: PageRequest, total: Expression<unknown>): RawBuilder<number> =>
  number === 'last' ? sql`greatest(0, (${total} - 1) / ${size}::int * ${size}::int)` : sql`${(number - 1) * size}`

/** Query that counts rows, and the error if the counted parent is missing. */
type Total<Filter> = { count: (db: TenantDb, filter: Filter) => Expression<unknown>; missing: () => Error }
type Column<T extends keyof Tables> = keyof Tables[T] & string
/**
 * A list of a table's rows.
 *
 * @property filters condition of each filter. @property key decides between rows that are equal in the order; by default the id.
 * @property sorts computed values to order by. @property total where the rows need not be counted one by one.
 */
type List<T extends TenantTable, Filter, Sort extends string> = {
  table: T
  filters: FilterConditions<T, Filter>
  key?: Column<T>
  sorts?: Record<Sort, (db: TenantDb, filter: Filter) => Expression<unknown>>
  total?: Total<Filter>
}
/** @property projection columns of each row. @property order by any column of the table, or a computed value. */
type ListQuery<T extends TenantTable, Filter, Sort extends string, Row> = {
  projection: Projection<T, Row>
  filter: Filter
  order: Order<Column<T> | NoInfer<Sort>>
  page: PageRequest
}

/** Prepared statements of each list, by projection. */
const prepared = new WeakMap<object, WeakMap<object, ReturnType<typeof prepareList>>>()

function prepareList<T extends TenantTable, Filter extends object, Sort extends string>(
  list: List<T, Filter, Sort>,
  { show }: Projection<T, unknown>,
) {
  const { table, key = 'id', total } = list
  const rowsOf = (db: TenantDb) => db.selectFrom(table as TenantTable) as unknown as Rows<T>
  const countOf = (db: TenantDb, filter: Filter): Expression<unknown> =>
    total ? total.count(db, filter) : applyFilters(db, rowsOf(db), list, filter).select(sql`count(*)`.as('total'))
  return prepareScoped((db, params: Filter & Size, field: string, direction: 'asc' | 'desc', usual: number, isLast: boolean) => {
    const count = sql<number | null>`(${countOf(db, params)})::int`
    const size = usual > 0 ? sql.lit(usual) : sql`${params.take}::int`
    const skip = isLast ? sql`greatest(0, (${count} - 1) / ${size} * ${size})` : params.skip
    const rows = applyFilters(db, rowsOf(db), list, params)
      .orderBy(list.sorts?.[field as Sort]?.(db, params) ?? sql.ref(`${table}.${field}`), direction)
      .orderBy(sql.ref(`${table}.${key}`), direction)
    const page = limitRows(rows, { skip, take: params.take }, usual)
    return db.selectNoFrom(() => [count.as('total'), jsonOf(project(db, page, table, show) as Rows<T>).as('rows')])
  })
}

/** A page of a list, and the length of the whole list, by one statement that is compiled once for each set of filters. */
export async function listPage<T extends TenantTable, Filter extends object, Row, Sort extends string = never>(
  { db }: Context,
  list: List<T, Filter, Sort>,
  { projection, filter, order: { field, direction }, page }: ListQuery<T, Filter, Sort, Row>,
): Promise<ListPage<AsJson<Row>>> {
  const statements = prepared.get(list) ?? new WeakMap<object, ReturnType<typeof prepareList>>()
  prepared.set(list, statements)
  const statement = statements.get(projection) ?? (prepareList(list, projection) as ReturnType<typeof prepareList>)
  statements.set(projection, statement)
  const { take, usual } = toPageSize(page.size)
  const skip = page.number === 'last' || page.number === 1 ? undefined : (page.number - 1) * page.size
  const query = statement(db, { ...filter, skip, take }, field, direction, usual, page.number === 'last')
  const { total, rows } = (await query.executeTakeFirstOrThrow()) as { total: number | null; rows: AsJson<Row>[] }
  if (total === null) throw list.total!.missing()
  return { items: rows, total, page: pageNumber(page, total), pageSize: page.size }
}
