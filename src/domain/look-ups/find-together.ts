import { sql } from '../../db/builder.ts'
import { type Expression, prepareScoped, type TenantTable } from '../../db/queries.ts'
import { type AsJson, jsonOf } from '../../db/statements.ts'
import type { TenantDb } from '../../db/tenant-db.ts'
import type { Projection } from '../lists/listing.ts'
import { byId, rowsById, shareLookUp } from './shared-query.ts'

/** Rows that can be found by their ids: as JSON, and how they are presented. */
export type Source<View> = { find: (db: TenantDb, ids: string[]) => Expression<unknown>; present: (row: never) => View }

/** The organization's rows of a table. */
export const ownSource = <T extends TenantTable, Row, View>(
  { table, show }: Projection<T, Row>,
  present: (row: AsJson<Row>) => View,
): Source<View> => ({ find: (db, ids) => jsonOf(show(rowsById(db, table, ids), db)), present })

/** Looks up rows of several tables by one statement, shared as {@link shareLookUp} does. */
export function findTogether<Name extends string, View extends { id: string }>(sources: Record<Name, Source<View>>) {
  // In one order, whatever the order they are asked for in: one set of sources is one prepared statement.
  const names = Object.keys(sources) as Name[]
  const statement = prepareScoped((db, given: Record<Name, string[]>) =>
    db.selectNoFrom(() =>
      names.filter((name) => name in given).map((name) => sql<never[]>`${sources[name].find(db, given[name])}`.as(name)),
    ),
  )

  return shareLookUp<Name, View>(async (ctx, ids) => {
    const asked = names.filter((name) => ids.has(name))
    const given = Object.fromEntries(asked.map((name) => [name, [...ids.get(name)!]])) as Record<Name, string[]>
    const rows = (await statement(ctx.db, given).executeTakeFirstOrThrow()) as unknown as Record<Name, never[]>
    return new Map(asked.map((name) => [name, byId(rows[name].map(sources[name].present))]))
  })
}
