import { setTimeout as sleep, setImmediate as untilEndOfTurn } from 'node:timers/promises'
import type { Connection } from '../db/client.ts'
import { isAmong } from '../db/query.ts'
import { type Reading, readTogether, type Shape, toRead } from '../db/rows.ts'
import type { Prisma } from '../generated/prisma/client.ts'
import type { Context } from './context.ts'
import { ownRows } from './listing.ts'

/** Rows that can be found by their ids. @param hasId SQL: the condition that `id` is one of those. */
export type Source<Row> = (ctx: Context, hasId: Prisma.Sql) => Reading<Row>
export type Ids<Name> = Map<Name, Set<string>>
type Found<Name, Row> = Map<Name, Map<string, Row>>
type Batch<Name, Row> = { ids: Ids<Name>; size: number; isOpen: boolean; found: Promise<Found<Name, Row>> }

/** A batch with so many takes no more callers, so that a statement takes milliseconds. */
const MAX_IDS = 1_000
/** How long a batch waits for the one before, so that a slow one holds nobody up. */
const LONGEST_WAIT_MS = 50

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

/**
 * Looks up rows of several tables by one statement, and batches such look-ups: an organization has one statement under way, and what is
 * asked for meanwhile gathers for the next. A single caller waits only for the end of the turn of the event loop. A transaction shares only
 * with itself.
 *
 * @returns what finds rows by the ids, which are UUIDs in lower case. It may find more than was asked for, which is shared: not to be changed.
 */
export function findTogether<Name extends string, Row extends { id: string }>(sources: Record<Name, Source<Row>>) {
  const batches = new WeakMap<Connection, Map<string, Batch<Name, Row>>>()
  // In one order, whatever the order they are asked for in: one set of sources is one prepared statement.
  const names = Object.keys(sources) as Name[]

  async function find(ctx: Context, ids: Ids<Name>): Promise<Found<Name, Row>> {
    const asked = names.filter((name) => ids.has(name))
    const readings = asked.map((name) => sources[name](ctx, isAmong([...ids.get(name)!])))
    const rows = await readTogether(ctx.db, readings)
    return new Map(asked.map((name, i) => [name, new Map(rows[i]!.map((row) => [row.id, row]))]))
  }

  function begin(ctx: Context, latest: Map<string, Batch<Name, Row>>, before?: Batch<Name, Row>): Batch<Name, Row> {
    const ids: Ids<Name> = new Map()
    const found = endOf(before?.found).then(() => {
      batch.isOpen = false
      return find(ctx, ids)
    })
    const batch = { ids, size: 0, isOpen: true, found }
    const organizationId = ctx.organization.id
    latest.set(organizationId, batch)
    const forget = () => latest.get(organizationId) === batch && latest.delete(organizationId)
    found.then(forget, forget)
    return batch
  }

  return (ctx: Context, ids: Ids<Name>): Promise<Found<Name, Row>> => {
    const latest = batches.get(ctx.db) ?? new Map<string, Batch<Name, Row>>()
    batches.set(ctx.db, latest)
    const last = latest.get(ctx.organization.id)
    const batch = last?.isOpen && last.size < MAX_IDS ? last : begin(ctx, latest, last)
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

/** Until what is under way has ended, and whoever waits for it has had the turn to ask for more. */
async function endOf(underWay?: Promise<unknown>): Promise<void> {
  const ended = underWay?.catch(() => {})
  if (ended) await Promise.race([ended, sleep(LONGEST_WAIT_MS, undefined, { ref: false })])
  await untilEndOfTurn()
}
