import type { Prisma } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { notifyAfterCommit } from '../transaction.ts'
import type { OrderStatus } from './order-status.ts'

/**
 * Queues a report of an order's current status, or a connection test, after its earlier reports.
 *
 * @param inside a transaction. @param report.orderId null: a test.
 */
export async function queueReport(
  inside: Context,
  { connectionId, orderId, status }: { connectionId: string; orderId: string | null; status: OrderStatus },
): Promise<void> {
  const { db, deps, organization } = inside
  const key = { organizationId: organization.id, connectionId, orderId }
  const [now, { position: head }] = [deps.clock(), await db.eventSequence.findUniqueOrThrow({ where: { id: 1 } })]
  const last = await db.atsReport.findFirst({ where: key, orderBy: [{ position: 'desc' }, { id: 'desc' }] })
  const isBehind = orderId !== null && last?.state === 'waiting' && last.nextAttemptAt > now
  const data: Prisma.AtsReportUncheckedCreateInput = {
    ...{ ...key, id: deps.newId(), status, queuedAt: now, nextAttemptAt: isBehind ? last.nextAttemptAt : now },
    position: last && last.position > head ? last.position : head,
    happenedAt: last ? laterThan(last.happenedAt, now) : now,
  }
  await db.atsReport.create({ data })
  notifyAfterCommit(inside) // the worker looks then
}

/** Time of the next report, always later than the last one's, because clocks of processes may differ. */
export const laterThan = (last: Date, time: Date): Date => (time > last ? time : new Date(last.getTime() + 1))
