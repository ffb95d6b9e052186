import { hasId, whereAll } from '../db/query.ts'
import { type RowOf, readRowsAnd, type Shape, showing, type Time } from '../db/rows.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { Context } from './context.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from './limits.ts'
import { type Listing, type Order, type Page, pageNumber } from './page.ts'

export { type RowOf, showing, type Time }

/** Conditions in SQL; those that are false are left out. */
export type Conditions = (Prisma.Sql | false)[]

/** SQL: of the organization's rows those that meet the conditions. */
export const ownRows = ({ organization }: Context, conditions: Conditions = []): Prisma.Sql =>
  whereAll([Prisma.sql`organization_id = ${organization.id}::uuid`, ...conditions])

/** SQL: the organization's rows with these ids. */
export const ownRowsById = (ctx: Context, ids: string[]): Prisma.Sql => ownRows(ctx, [hasId(ids)])

/** SQL: the order of a list, with the id as tie-break in the same direction. @param columns those that the fields are in. */
export const orderBy = <Field extends string>(columns: Record<Field, string>, { field, direction }: Order<Field>): Prisma.Sql =>
  Prisma.raw(`${columns[field]} ${direction}, id ${direction}`)

/** The sizes of page that most ask for. */
const USUAL_SIZES = [DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE]

/**
 * SQL: the window of a list. What most ask for, the first page of a usual size, is literal: a plan that PostgreSQL keeps is made for a
 * tenth of all rows where it has to do for any window, which looks so dear that it plans each time anew.
 */
export function window(skip: number | Prisma.Sql, size: number): Prisma.Sql {
  const limit = USUAL_SIZES.includes(size) ? Prisma.raw(`LIMIT ${size}`) : Prisma.sql`LIMIT ${size}`
  return skip === 0 ? limit : Prisma.sql`OFFSET ${skip} ${limit}`
}

/** How many rows come before the page: of the last one SQL, by the length of the list. */
export const skipped = ({ number, size }: Page, total: Prisma.Sql): number | Prisma.Sql =>
  number === 'last' ? Prisma.sql`greatest(0, (${total} - 1) / ${size}::int * ${size}::int)` : (number - 1) * size

/** SQL: which rows a list has, in which order, and how many they are, unless they have to be counted. */
type Rows = { where: Prisma.Sql; order: Prisma.Sql; count?: Prisma.Sql }

/** Reads a page of a list, and the length of the list by the same statement. */
export async function readListing<Row>(ctx: Context, shape: Shape<Row>, page: Page, rows: Rows): Promise<Listing<Row>> {
  const list = await findListing(ctx, shape, page, rows)
  if (!list) throw new Error('The list has no length')
  return list
}

/** The same of a list that belongs to something. @returns null where that is not there: then `count` is NULL. */
export async function findListing<Row>(
  { db }: Context,
  shape: Shape<Row>,
  page: Page,
  { where, order, count = Prisma.sql`SELECT count(*) FROM ${shape.table} ${where}` }: Rows,
): Promise<Listing<Row> | null> {
  const total = Prisma.sql`(${count})::int`
  const which = Prisma.sql`${where} ORDER BY ${order} ${window(skipped(page, total), page.size)}`
  const found = await readRowsAnd<Row, { total: number | null }>(db, shape, which, Prisma.sql`${total} AS total`)
  if (found.total === null) return null
  return { items: found.rows, total: found.total, page: pageNumber(page, found.total), pageSize: page.size }
}
