import { isAmong } from '../db/query.ts'
import { type Reading, readTogether, type Shape, toRead } from '../db/rows.ts'
import type { Prisma } from '../generated/prisma/client.ts'
import type { Context } from './context.ts'
import { ownRows } from './listing.ts'
import { byId, shareLookUp } from './shared-query.ts'

/** Rows that can be found by their ids. @param hasId SQL: the condition that `id` is one of those. */
export type Source<Row> = (ctx: Context, hasId: Prisma.Sql) => Reading<Row>

/** The organization's rows of a table. */
export const ownSource =
  <Row>(shape: Shape<Row>): Source<Row> =>
  (ctx, hasId) =>
    toRead(shape, ownRows(ctx, [hasId]))

/** @returns the same rows as `present` makes them. */
export const presented =
  <Row, View>(source: Source<Row>, present: (row: Row) => View): Source<View> =>
  (ctx, hasId) => {
    const { json, parse } = source(ctx, hasId)
    return { json, parse: (text) => parse(text).map(present) }
  }

/** Looks up rows of several tables by one statement, shared as {@link shareLookUp} does. */
export function findTogether<Name extends string, Row extends { id: string }>(sources: Record<Name, Source<Row>>) {
  // In one order, whatever the order they are asked for in: one set of sources is one prepared statement.
  const names = Object.keys(sources) as Name[]

  return shareLookUp<Name, Row>(async (ctx, ids) => {
    const asked = names.filter((name) => ids.has(name))
    const readings = asked.map((name) => sources[name](ctx, isAmong([...ids.get(name)!])))
    const rows = await readTogether(ctx.db, readings)
    return new Map(asked.map((name, i) => [name, byId(rows[i]!)]))
  })
}
