import { setImmediate as endOfTurn } from 'node:timers/promises'
import { type Session, sessionOf } from '../../db/client.ts'
import { anyOfIds, prepareScoped, type RawBuilder, type Rows } from '../../db/queries.ts'
import type { TenantDb } from '../../db/tenant-db.ts'
import type { TenantTable } from '../../db/tenant-tables.ts'
import type { Context } from '../context.ts'
import type { Projection } from '../lists/listing.ts'
import { isUuid } from '../text/uuid.ts'

/** Finds the organization's rows with these ids, in no particular order; other ids are left out. */
type Find<Row> = (ctx: Context, ids: string[]) => Promise<Row[]>
/** UUIDs in lower case, by source. */
export type Ids<Name> = Map<Name, Set<string>>
/** Rows by source and id. */
export type Found<Name, Row> = Map<Name, Map<string, Row>>
type Load<Name, Row> = (ctx: Context, ids: Ids<Name>) => Promise<Found<Name, Row>>
type Batch<Name, Row> = { ids: Ids<Name>; size: number; found: Promise<Found<Name, Row>> }

/** Most ids of a batch, so that its statement takes milliseconds. */
const MAX_IDS = 1_000

/** Loads the organization's rows of a table by their ids, as {@link batchLoader} does. */
export function rowLoader<T extends TenantTable, Row>({ table, show }: Projection<T, Row>): Find<Row & { id: string }> {
  const ofMany = prepareScoped((db, { ids }: { ids: string[] }) => show(rowsById(db, table, anyOfIds(ids)), db))
  // PostgreSQL estimates ten rows for any list, which looks so expensive that it replans each execution: half of the total time.
  const ofOne = prepareScoped((db, { id }: { id: string }) => show(rowsById(db, table, id), db))
  return batchLoader(async (ctx, ids) => {
    const [id] = ids
    const statement = id !== undefined && ids.length === 1 ? ofOne(ctx.db, { id }) : ofMany(ctx.db, { ids })
    return (await statement.execute()) as (Row & { id: string })[]
  })
}

/** The organization's rows of a table with an id, or with {@link anyOfIds}. */
export const rowsById = <T extends TenantTable>(db: TenantDb, table: T, id: string | RawBuilder<string>): Rows<T> =>
  (db.selectFrom(table as TenantTable) as unknown as Rows<'tags'>).where('id', '=', id) as unknown as Rows<T>

/** Batches loads of one kind, as {@link batchLoads} does. Text that is not a UUID finds nothing. */
export function batchLoader<Row extends { id: string }>(find: Find<Row>): Find<Row> {
  const load = batchLoads<'row', Row>(async (ctx, ids) => new Map([['row', byId(await find(ctx, [...ids.get('row')!]))]]))
  return async (ctx, ids) => {
    const wanted = ids.filter(isUuid).map((id) => id.toLowerCase())
    if (wanted.length === 0) return []
    const rows = (await load(ctx, new Map([['row', new Set(wanted)]]))).get('row')!
    return wanted.flatMap((id) => rows.get(id) ?? [])
  }
}

/**
 * Batches loads by id within a turn of the event loop, separately for each organization and mode. A transaction has its own batches. (The
 * package dataloader would add a promise for each id, and save no code: it needs the same batches by session and scope.)
 *
 * @returns a map that may have more ids than requested. Callers share the rows: don't change them.
 */
export function batchLoads<Name, Row>(find: Load<Name, Row>): Load<Name, Row> {
  const pending = new WeakMap<Session, Map<string, Batch<Name, Row>>>()

  function beginBatch(ctx: Context, batches: Map<string, Batch<Name, Row>>): Batch<Name, Row> {
    const key = scopeKey(ctx)
    const ids: Ids<Name> = new Map()
    const found = endOfTurn().then(() => {
      if (batches.get(key) === batch) batches.delete(key)
      return find(ctx, ids)
    })
    const batch = { ids, size: 0, found }
    batches.set(key, batch)
    return batch
  }

  return (ctx, ids) => {
    const session = sessionOf(ctx.db)
    const batches = pending.get(session) ?? new Map<string, Batch<Name, Row>>()
    pending.set(session, batches)
    const current = batches.get(scopeKey(ctx))
    const batch = current && current.size < MAX_IDS ? current : beginBatch(ctx, batches)
    for (const [name, requested] of ids) {
      const collected = batch.ids.get(name) ?? new Set()
      batch.ids.set(name, collected)
      batch.size -= collected.size
      for (const id of requested) collected.add(id)
      batch.size += collected.size
    }
    return batch.found
  }
}

/** Key of contexts that see the same rows. */
const scopeKey = ({ organization, mode }: Context): string => `${mode} ${organization.id}`

/** The rows by their ids. */
export const byId = <Row extends { id: string }>(rows: Row[]): Map<string, Row> => new Map(rows.map((row) => [row.id, row]))
