import { whereAll } from '../db/query.ts'
import { readRowsAnd, type Shape } from '../db/rows.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { Context } from './context.ts'
import { type Listing, type Order, type Page, pageCount } from './page.ts'

/** Conditions in SQL; those that are false are left out. */
export type Conditions = (Prisma.Sql | false)[]

/** SQL: of the organization's rows those that meet the conditions. */
export const ownRows = ({ organization }: Context, conditions: Conditions = []): Prisma.Sql =>
  whereAll([Prisma.sql`organization_id = ${organization.id}::uuid`, ...conditions])

/** SQL: the organization's rows with these ids. */
export const ownRowsById = (ctx: Context, ids: string[]): Prisma.Sql => ownRows(ctx, [Prisma.sql`id = ANY (${ids}::uuid[])`])

/** SQL: the order of a list, with the id as tie-break in the same direction. @param columns those that the fields are in. */
export const orderBy = <Field extends string>(columns: Record<Field, string>, { field, direction }: Order<Field>): Prisma.Sql =>
  Prisma.raw(`${columns[field]} ${direction}, id ${direction}`)

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
  { number, size }: Page,
  { where, order, count = Prisma.sql`SELECT count(*) FROM ${shape.table} ${where}` }: Rows,
): Promise<Listing<Row> | null> {
  const total = Prisma.sql`(${count})::int`
  const skip =
    number === 'last' ? Prisma.sql`greatest(0, (${total} - 1) / ${size}::int * ${size}::int)` : Prisma.sql`${(number - 1) * size}`
  const window = Prisma.sql`${where} ORDER BY ${order} OFFSET ${skip} LIMIT ${size}`
  const found = await readRowsAnd<Row, { total: number | null }>(db, shape, window, Prisma.sql`${total} AS total`)
  if (found.total === null) return null
  const page = number === 'last' ? Math.max(1, pageCount(found.total, size)) : number
  return { items: found.rows, total: found.total, page, pageSize: size }
}
