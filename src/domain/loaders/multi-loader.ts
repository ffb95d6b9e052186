import { sql } from '../../db/builder.ts'
import { anyOfIds, type Expression, prepareScoped, type TenantTable } from '../../db/queries.ts'
import { type AsJson, jsonOf } from '../../db/statements.ts'
import type { TenantDb } from '../../db/tenant-db.ts'
import type { Projection } from '../lists/listing.ts'
import { batchLoads, byId, rowsById } from './batch-loader.ts'

/** Rows that are loaded by their ids, as JSON, and their presenter. */
export type Source<View> = { find: (db: TenantDb, ids: string[]) => Expression<unknown>; present: (row: never) => View }

/** The organization's rows of a table. */
export const tenantSource = <T extends TenantTable, Row, View>(
  { table, show }: Projection<T, Row>,
  present: (row: AsJson<Row>) => View,
): Source<View> => ({ find: (db, ids) => jsonOf(show(rowsById(db, table, anyOfIds(ids)), db)), present })

/** Loads rows of several tables by one statement, batched as {@link batchLoads} does. */
export function multiLoader<Name extends string, View extends { id: string }>(sources: Record<Name, Source<View>>) {
  // In a fixed order: one set of sources is one prepared statement.
  const names = Object.keys(sources) as Name[]
  const statement = prepareScoped((db, params: Record<Name, string[]>) =>
    db.selectNoFrom(() =>
      names.filter((name) => name in params).map((name) => sql<never[]>`${sources[name].find(db, params[name])}`.as(name)),
    ),
  )

  return batchLoads<Name, View>(async (ctx, ids) => {
    const requestedNames = names.filter((name) => ids.has(name))
    const params = Object.fromEntries(requestedNames.map((name) => [name, [...ids.get(name)!]])) as Record<Name, string[]>
    const rows = (await statement(ctx.db, params).executeTakeFirstOrThrow()) as unknown as Record<Name, never[]>
    return new Map(requestedNames.map((name) => [name, byId(rows[name].map(sources[name].present))]))
  })
}
