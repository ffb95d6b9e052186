import { setImmediate as endOfTurn } from 'node:timers/promises'
import type { Db } from '../db/client.ts'
import type { Context } from './context.ts'
import { isUuid } from './uuid.ts'

type Find<Row> = (ctx: Context, ids: string[]) => Promise<Row[]>
type Batch<Row> = { ids: Set<string>; found: Promise<Map<string, Row>> }

/** The longest list that is still one of the prepared statements. */
const MAX_IDS = 128

/**
 * Makes a look-up of one row from a query for several: an organization's look-ups that arrive in the same turn of the event loop share a
 * query, which costs little more than a query for one. A lone request waits for nothing but the end of its turn; within a transaction
 * each asks for itself. The look-up gives undefined for what is no id, or no id of the organization's.
 */
export function lookUpBy<Row extends { id: string }>(find: Find<Row>): (ctx: Context, id: string) => Promise<Row | undefined> {
  const gathering = new WeakMap<Db, Map<string, Batch<Row>>>()

  function gather(ctx: Context, batches: Map<string, Batch<Row>>): Batch<Row> {
    const organizationId = ctx.organization.id
    const ids = new Set<string>()
    const close = () => {
      if (batches.get(organizationId)?.ids === ids) batches.delete(organizationId)
    }
    const found = endOfTurn().then(async () => {
      close()
      return byId(await find(ctx, [...ids]))
    })
    const batch = { ids, found }
    batches.set(organizationId, batch)
    return batch
  }

  return async (ctx, id) => {
    if (!isUuid(id)) return undefined
    const wanted = id.toLowerCase()
    if (ctx.transaction) return byId(await find(ctx, [wanted])).get(wanted)
    const { db } = ctx.deps
    const batches = gathering.get(db) ?? new Map<string, Batch<Row>>()
    gathering.set(db, batches)
    const open = batches.get(ctx.organization.id)
    const batch = open && open.ids.size < MAX_IDS ? open : gather(ctx, batches)
    batch.ids.add(wanted)
    return (await batch.found).get(wanted)
  }
}

const byId = <Row extends { id: string }>(rows: Row[]): Map<string, Row> => new Map(rows.map((row) => [row.id, row]))
