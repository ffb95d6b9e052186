import { anyOfIds, sameOrganization } from '../../db/queries.ts'
import { unscoped } from '../../db/unscoped.ts'
import { insertRows, type NewRows } from '../../db/writes.ts'
import type { Connection, ServiceContext } from '../context.ts'
import type { EventPayload, EventType } from '../events/event.ts'
import { findEndOfBatch } from '../events/find-end-of-batch.ts'
import type { Ats } from '../ports/ats-settings.ts'
import { inTransaction } from '../transaction.ts'
import { isReported, statusAfterEvent } from './order-status.ts'
import { laterThan } from './queue-report.ts'

// Creates reports from events: one for each order of the invite, if its ATS reports that status.

/** Events a transaction. */
const AT_ONCE = 2_000

/**
 * Handles one batch of events. The position moves in the transaction that creates the reports, so that each event is handled once.
 *
 * @returns true if there may be more.
 */
export async function enqueueReports(ctx: ServiceContext): Promise<{ more: boolean }> {
  const { position, head } = await unscoped(ctx.db)
    .selectFrom(['atsFanout', 'eventSequence'])
    .select(['atsFanout.position', 'eventSequence.position as head'])
    .executeTakeFirstOrThrow()
  if (BigInt(position) >= BigInt(head)) return { more: false }
  return inTransaction(ctx, enqueueNext)
}

async function enqueueNext(inside: ServiceContext): Promise<{ more: boolean }> {
  const { db } = inside
  const { position } = await unscoped(db).selectFrom('atsFanout').select('position').forUpdate().executeTakeFirstOrThrow()
  const { position: head } = await db.eventSequence.findUniqueOrThrow({ where: { id: 1 } })
  const first = await db.atsOrder.findFirst({ orderBy: { startPosition: 'asc' }, select: { startPosition: true } })
  // Skips events before the first order: there may be years of them.
  const start = first ? first.startPosition : head
  const from = start > BigInt(position) ? start : BigInt(position)
  const until = await findEndOfBatch(inside, { from, head }, AT_ONCE)
  const reports = await createReports(inside, from, until)
  if (reports.length > 0) await insertRows(db, { atsReports: reports }).execute()
  await unscoped(db).updateTable('atsFanout').set({ position: until }).execute()
  return { more: until < head }
}

type NewReports = NonNullable<NewRows['atsReports']>

async function createReports(inside: ServiceContext, from: bigint, until: bigint): Promise<NewReports> {
  const { db, deps } = inside
  const newReports = (await ordersOfEvents(db, from, until).execute()).flatMap(({ type, data, ...order }) => {
    const status = statusAfterEvent(type as EventType, data as EventPayload)
    return status !== null && isReported(order.ats as Ats, status) ? [{ ...order, status }] : []
  })
  if (newReports.length === 0) return []
  const lastOf = await findLastTimes(inside, [...new Set(newReports.map(({ orderId }) => orderId))])
  const now = deps.clock()
  return newReports.map(({ organizationId, connectionId, orderId, orderedAt, position, createdAt, status }) => {
    const last = lastOf.get(orderId)
    const happenedAt = laterThan(last?.happenedAt ?? orderedAt, createdAt)
    const nextAttemptAt = last?.nextAttemptAt && last.nextAttemptAt > now ? last.nextAttemptAt : now
    lastOf.set(orderId, { happenedAt, nextAttemptAt })
    const columns = { id: deps.newId(), organizationId, connectionId, orderId, position: position!, status, happenedAt }
    return { ...columns, state: 'waiting', queuedAt: now, nextAttemptAt, attemptCount: 0 } as const
  })
}

/** Events with the orders that each is reported to: orders that existed before it, and that the ATS has not canceled. */
const ordersOfEvents = (db: Connection, from: bigint, until: bigint) =>
  unscoped(db)
    .selectFrom('events as event')
    .innerJoin('atsOrders as order', (join) =>
      join.on(sameOrganization('order', 'event')).onRef('order.inviteId', '=', 'event.inviteId'),
    )
    .innerJoin('atsConnections as connection', (join) =>
      join.on(sameOrganization('connection', 'order')).onRef('connection.id', '=', 'order.connectionId'),
    )
    .where('event.position', '>', String(from))
    .where('event.position', '<=', String(until))
    .whereRef('event.sequence', '>', 'order.afterSequence')
    .where('order.cancelledAt', 'is', null)
    .select(['event.type', 'event.data', 'event.position', 'event.createdAt'])
    .select([
      'order.organizationId',
      'order.connectionId',
      'order.id as orderId',
      'order.createdAt as orderedAt',
      'connection.ats',
    ])
    .orderBy('event.position')

type LastTimes = { happenedAt: Date; nextAttemptAt: Date | null }

/** Time of each order's last report, and of the next attempt of waiting ones. A new report is attempted after them. */
async function findLastTimes({ db }: ServiceContext, orderIds: string[]): Promise<Map<string, LastTimes>> {
  const last = unscoped(db)
    .selectFrom('atsReports')
    .where('orderId', '=', anyOfIds(orderIds))
    .groupBy('orderId')
    .select(({ fn }) => [
      'orderId',
      fn.max('happenedAt').as('happenedAt'),
      fn.max('nextAttemptAt').filterWhere('state', '=', 'waiting').as('nextAttemptAt'),
    ])
  return new Map((await last.execute()).map(({ orderId, ...times }) => [orderId!, times]))
}
