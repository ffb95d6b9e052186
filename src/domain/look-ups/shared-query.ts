import { setImmediate as endOfTurn } from 'node:timers/promises'
import { type Session, sessionOf } from '../../db/client.ts'
import { anyOfIds, prepareScoped, type Rows } from '../../db/queries.ts'
import type { TenantDb } from '../../db/tenant-db.ts'
import type { TenantTable } from '../../db/tenant-tables.ts'
import type { Context } from '../context.ts'
import type { Projection } from '../lists/listing.ts'
import { isUuid } from '../values/uuid.ts'

/** Finds the organization's rows with these ids, in no particular order; other ids are left out. */
type Find<Row> = (ctx: Context, ids: string[]) => Promise<Row[]>
/** UUIDs in lower case, by the name of what they are of. */
export type Ids<Name> = Map<Name, Set<string>>
/** Rows by the same name and their ids. */
export type Found<Name, Row> = Map<Name, Map<string, Row>>
type LookUp<Name, Row> = (ctx: Context, ids: Ids<Name>) => Promise<Found<Name, Row>>
type Batch<Name, Row> = { ids: Ids<Name>; size: number; found: Promise<Found<Name, Row>> }

/** A batch with so many takes no more callers, so that a statement takes milliseconds. */
const MAX_IDS = 1_000

/** Finds the organization's rows of a table by their ids, as {@link shareQuery} does. @param of what is read of each. */
export function findById<T extends TenantTable, Row>(of: Projection<T, Row>): Find<Row & { id: string }> {
  const ofMany = prepareScoped((db, { ids }: { ids: string[] }) => of.show(rowsById(db, of.table, ids), db))
  // PostgreSQL takes any list for ten rows, which looks so dear beside one that it would plan each time anew: half of all the work.
  const ofOne = prepareScoped((db, { id }: { id: string }) => of.show(rowOfId(db, of.table, id), db))
  return shareQuery(async (ctx, ids) => {
    const [id] = ids
    const statement = id !== undefined && ids.length === 1 ? ofOne(ctx.db, { id }) : ofMany(ctx.db, { ids })
    return (await statement.execute()) as (Row & { id: string })[]
  })
}

/** The organization's rows of a table with these ids. */
export const rowsById = <T extends TenantTable>(db: TenantDb, table: T, ids: string[]): Rows<T> =>
  (db.selectFrom(table as TenantTable) as unknown as Rows<'tags'>).where('id', '=', anyOfIds(ids)) as unknown as Rows<T>

const rowOfId = <T extends TenantTable>(db: TenantDb, table: T, id: string): Rows<T> =>
  (db.selectFrom(table as TenantTable) as unknown as Rows<'tags'>).where('id', '=', id) as unknown as Rows<T>

/** Shares look-ups of one kind, as {@link shareLookUp} does. Text that is not a UUID finds nothing. */
export function shareQuery<Row extends { id: string }>(find: Find<Row>): Find<Row> {
  const lookUp = shareLookUp<'row', Row>(async (ctx, ids) => new Map([['row', byId(await find(ctx, [...ids.get('row')!]))]]))
  return async (ctx, ids) => {
    const wanted = ids.filter(isUuid).map((id) => id.toLowerCase())
    if (wanted.length === 0) return []
    const rows = (await lookUp(ctx, new Map([['row', new Set(wanted)]]))).get('row')!
    return wanted.flatMap((id) => rows.get(id) ?? [])
  }
}

/**
 * Batches look-ups by id: those for one organization and mode in the same turn of the event loop become one, which costs little more than each of
 * them. A single caller waits only for the end of the turn. A transaction shares only with itself.
 *
 * @returns what may find more than was asked for: the rows are others' as well, and not to be changed.
 */
export function shareLookUp<Name, Row>(find: LookUp<Name, Row>): LookUp<Name, Row> {
  const gathering = new WeakMap<Session, Map<string, Batch<Name, Row>>>()

  function gather(ctx: Context, batches: Map<string, Batch<Name, Row>>): Batch<Name, Row> {
    const whose = whoseOf(ctx)
    const ids: Ids<Name> = new Map()
    const found = endOfTurn().then(() => {
      if (batches.get(whose) === batch) batches.delete(whose)
      return find(ctx, ids)
    })
    const batch = { ids, size: 0, found }
    batches.set(whose, batch)
    return batch
  }

  return (ctx, ids) => {
    const session = sessionOf(ctx.db)
    const batches = gathering.get(session) ?? new Map<string, Batch<Name, Row>>()
    gathering.set(session, batches)
    const open = batches.get(whoseOf(ctx))
    const batch = open && open.size < MAX_IDS ? open : gather(ctx, batches)
    for (const [name, asked] of ids) {
      const together = batch.ids.get(name) ?? new Set()
      batch.ids.set(name, together)
      batch.size -= together.size
      for (const id of asked) together.add(id)
      batch.size += together.size
    }
    return batch.found
  }
}

/** Key of contexts that see the same rows. */
const whoseOf = ({ organization, mode }: Context): string => `${mode} ${organization.id}`

/** The rows by their ids. */
export const byId = <Row extends { id: string }>(rows: Row[]): Map<string, Row> => new Map(rows.map((row) => [row.id, row]))
