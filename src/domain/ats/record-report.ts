import type { ServiceContext } from '../context.ts'
import { inTransaction } from '../transaction.ts'
import type { AttemptResult } from '../webhooks/delivery-attempts.ts'
import { nextAttempt } from '../webhooks/retries.ts'
import type { LeasedReport } from './lease-reports.ts'
import { lockOrder } from './lock-order.ts'

/** `lost`: the lease expired, so another attempt decides the outcome. */
export type ReportOutcome = 'delivered' | 'failed' | 'retried' | 'lost'

const TOO_MANY = 429
/** Stored characters of a response or error. */
const KEPT_LENGTH = 1_000

/**
 * Records an attempt and its effect on the report and its order. Rejected reports are not retried, except after 429, 5xx, or no response:
 * those are, at the intervals of webhooks.
 */
export function recordReport(ctx: ServiceContext, lease: LeasedReport, result: AttemptResult): Promise<ReportOutcome> {
  const { report, connection, order } = lease
  const { status, body, error } = { status: null, body: '', error: '', ...result.answer }
  const now = ctx.deps.clock()
  const next = isPassing(status) ? nextAttempt(now, report.attemptCount + 1, retryAfterOf(result)) : null
  const isDelivered = status !== null && status >= 200 && status < 300
  const outcome = isDelivered ? 'delivered' : next ? 'retried' : 'failed'
  return inTransaction(ctx, async (inside) => {
    const { db, deps } = inside
    if (order) await lockOrder(inside, connection.organization, order.id)
    const { count } = await db.atsReport.updateMany({
      where: { id: report.id, leasedUntil: report.leasedUntil },
      data: {
        ...{ state: outcome === 'retried' ? 'waiting' : outcome, leasedUntil: null, attemptCount: { increment: 1 } },
        ...(next && { nextAttemptAt: next }),
      },
    })
    if (count === 0) return 'lost'
    if (next && order) await delayFollowing(inside, { organizationId: connection.organization.id, orderId: order.id }, next)
    const key = { organizationId: connection.organization.id, connectionId: connection.id, orderId: order?.id ?? null }
    const response = { status, error: storable(error), answer: storable(body), milliseconds: result.milliseconds }
    const call = { ...key, ...response, id: deps.newId(), isInbound: false, name: report.status, createdAt: result.startedAt }
    await db.atsCall.create({ data: call })
    const data = isDelivered
      ? { reportedStatus: report.status, reportedAt: now, lastError: '' }
      : { lastError: shownError({ status, body, error }) }
    if (order) await db.atsOrder.updateMany({ where: { id: order.id }, data })
    return outcome
  })
}

/** Delays the reports that wait behind one. Otherwise each poll would read and skip them. */
async function delayFollowing(
  { db }: ServiceContext,
  key: { organizationId: string; orderId: string },
  until: Date,
): Promise<void> {
  await db.atsReport.updateMany({
    where: { ...key, state: 'waiting', nextAttemptAt: { lt: until } },
    data: { nextAttemptAt: until },
  })
}

/** Completes a report that needed no call. */
export async function skipReport({ db }: ServiceContext, { report }: LeasedReport): Promise<void> {
  await db.atsReport.updateMany({
    where: { id: report.id, leasedUntil: report.leasedUntil },
    data: { state: 'delivered', leasedUntil: null },
  })
}

/** Returns a leased report without an attempt, so that it needn't wait for the end of the lease. */
export async function releaseReport({ db }: ServiceContext, { report }: LeasedReport): Promise<void> {
  await db.atsReport.updateMany({ where: { id: report.id, leasedUntil: report.leasedUntil }, data: { leasedUntil: null } })
}

/** True if a retry may succeed. */
const isPassing = (status: number | null): boolean => status === null || status === TOO_MANY || status >= 500

const retryAfterOf = ({ answer }: AttemptResult): string | undefined => ('retryAfter' in answer ? answer.retryAfter : undefined)

const shownError = ({ status, body, error }: { status: number | null; body: string; error: string }): string =>
  storable(error) || `${status} ${storable(body)}`.trim()

/** PostgreSQL stores no NUL in a text. */
const storable = (text: string): string => text.replaceAll('\0', '').slice(0, KEPT_LENGTH)
