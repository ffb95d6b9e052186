import { setImmediate as endOfTurn } from 'node:timers/promises'
import type { Connection } from '../db/client.ts'
import { readRows, type Shape } from '../db/rows.ts'
import type { Context } from './context.ts'
import { ownRowsById } from './listing.ts'
import { isUuid } from './uuid.ts'

/** Finds the organization's rows with these ids, in no particular order; other ids are left out. */
type Find<Row> = (ctx: Context, ids: string[]) => Promise<Row[]>
type Batch<Row> = { ids: Set<string>; found: Promise<Map<string, Row>> }

/** Longer lists would need more prepared statements. */
const MAX_IDS = 128

/** Finds the organization's rows of a table by their ids, as {@link shareQuery} does. @param of what is read of each. */
export const findById = <Row extends { id: string }>(of: Shape<Row>): Find<Row> =>
  shareQuery((ctx, ids) => readRows(ctx.db, of, ownRowsById(ctx, ids)))

/**
 * Batches lookups by id: those for one organization in the same turn of the event loop become one query, which costs little more than one
 * lookup. A single caller waits only for the end of the turn. A transaction shares only with itself. Text that is not a UUID finds nothing.
 */
export function shareQuery<Row extends { id: string }>(find: Find<Row>): Find<Row> {
  const gathering = new WeakMap<Connection, Map<string, Batch<Row>>>()

  function gather(ctx: Context, batches: Map<string, Batch<Row>>): Batch<Row> {
    const organizationId = ctx.organization.id
    const ids = new Set<string>()
    const found = endOfTurn().then(async () => {
      if (batches.get(organizationId)?.ids === ids) batches.delete(organizationId)
      const rows = await find(ctx, [...ids])
      return new Map(rows.map((row) => [row.id, row]))
    })
    const batch = { ids, found }
    batches.set(organizationId, batch)
    return batch
  }

  return async (ctx, ids) => {
    const wanted = ids.filter(isUuid).map((id) => id.toLowerCase())
    if (wanted.length === 0) return []
    const { db } = ctx
    const batches = gathering.get(db) ?? new Map<string, Batch<Row>>()
    gathering.set(db, batches)
    const open = batches.get(ctx.organization.id)
    const batch = open && open.ids.size + wanted.length <= MAX_IDS ? open : gather(ctx, batches)
    for (const id of wanted) batch.ids.add(id)
    const found = await batch.found
    return wanted.flatMap((id) => found.get(id) ?? [])
  }
}
