import { anyOf } from '../../db/query.ts'
import type { WebhookDelivery, WebhookEndpoint } from '../../generated/prisma/client.ts'
import type { ServiceContext } from '../context.ts'
import { findEvents, type ToldEvent } from '../events/feed.ts'
import { nextAttempt } from './retries.ts'
import { disableEndpoint, type FailingNotice, noteEndpointFailing, noteEndpointWell } from './state.ts'

// Deliveries are taken by any process, attempted, and what became of them is recorded.

/** At a time, of one process: of an endpoint that answers well, and of one that has failed last. */
const AT_ONCE = 4
const AT_ONCE_FAILING = 1
/** Longer than an attempt takes. What a process has taken that was killed is attempted by another when this is over. */
const LEASE_SECONDS = 30

/** A delivery that this process is to attempt now. */
export type TakenDelivery = { delivery: WebhookDelivery; endpoint: WebhookEndpoint; event: ToldEvent }

/** What an attempt has led to: an answer, or the reason why there is none. */
export type AttemptResult = {
  startedAt: Date
  milliseconds: number
  answer: { status: number; body: string; retryAfter: string | undefined } | { error: string }
}

/**
 * Takes deliveries that are due: nobody else attempts them while the lease lasts. It is measured by the database's clock, which all
 * processes share. Endpoints that answer well come first, so that those that don't hold up nobody.
 *
 * @param busy how many deliveries to each endpoint this process has under way.
 * @param room how many to take at most.
 * @returns null when none is due. One whose event the feed has forgotten, because it was replayed late, is not among them: it has failed.
 */
export async function takeDeliveries(
  { db, deps }: ServiceContext,
  busy: ReadonlyMap<string, number>,
  room: number,
): Promise<TakenDelivery[] | null> {
  const now = deps.clock()
  // An event that has no position yet is not in the feed: it is to be told of as the feed tells of it.
  const deliveries = await db.$queryRaw<WebhookDelivery[]>`
    WITH due AS MATERIALIZED (
      SELECT next.* FROM webhook_endpoints endpoint
      LEFT JOIN unnest(${[...busy.keys()]}::uuid[], ${[...busy.values()]}::int[]) AS busy (id, count) ON busy.id = endpoint.id
      CROSS JOIN LATERAL (
        SELECT organization_id, endpoint_id, event_id, next_attempt_at FROM webhook_deliveries delivery
        WHERE endpoint_id = endpoint.id AND state = 'waiting' AND next_attempt_at <= ${now}
          AND (leased_until IS NULL OR leased_until < clock_timestamp())
          AND NOT EXISTS (SELECT FROM events WHERE events.id = delivery.event_id AND position IS NULL)
        ORDER BY next_attempt_at
        LIMIT greatest(0, CASE WHEN endpoint.failing_since IS NULL THEN ${AT_ONCE}::int ELSE ${AT_ONCE_FAILING}::int END - coalesce(busy.count, 0))
        FOR UPDATE SKIP LOCKED
      ) next
      WHERE endpoint.state = 'active'
      ORDER BY endpoint.failing_since IS NOT NULL, next.next_attempt_at LIMIT ${room}
    )
    UPDATE webhook_deliveries delivery SET leased_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}) FROM due
    WHERE delivery.organization_id = due.organization_id AND delivery.endpoint_id = due.endpoint_id AND delivery.event_id = due.event_id
    RETURNING delivery.organization_id AS "organizationId", delivery.endpoint_id AS "endpointId", delivery.event_id AS "eventId",
      state, queued_at AS "queuedAt", delivery.next_attempt_at AS "nextAttemptAt", leased_until AS "leasedUntil",
      attempt_count AS "attemptCount", attempts_before AS "attemptsBefore"`
  return deliveries.length === 0 ? null : complete({ db }, deliveries)
}

async function complete({ db }: Pick<ServiceContext, 'db'>, deliveries: WebhookDelivery[]): Promise<TakenDelivery[]> {
  const endpointIds = [...new Set(deliveries.map(({ endpointId }) => endpointId))]
  const endpoints = await db.webhookEndpoint.findMany({ where: { id: anyOf(endpointIds) } })
  const events = await findEvents(
    { db },
    deliveries.map(({ eventId }) => eventId),
  )
  const known = new Set(events.map(({ id }) => id))
  await failDeliveries(
    { db },
    deliveries.filter(({ eventId }) => !known.has(eventId)),
  )
  return deliveries.flatMap((delivery) => {
    const endpoint = endpoints.find(({ id }) => id === delivery.endpointId)
    const event = events.find(({ id }) => id === delivery.eventId)
    return endpoint && event ? [{ delivery, endpoint, event }] : []
  })
}

/** Of those that can't be attempted. */
async function failDeliveries({ db }: Pick<ServiceContext, 'db'>, deliveries: WebhookDelivery[]): Promise<void> {
  for (const { organizationId, endpointId, eventId, leasedUntil } of deliveries)
    await db.webhookDelivery.updateMany({
      where: { organizationId, endpointId, eventId, leasedUntil },
      data: { state: 'failed', leasedUntil: null },
    })
}

/** Gives back what was taken and not attempted to the end, so that nobody has to wait for the lease. */
export async function releaseDelivery({ db }: ServiceContext, { delivery }: TakenDelivery): Promise<void> {
  const { organizationId, endpointId, eventId, leasedUntil } = delivery
  await db.webhookDelivery.updateMany({
    where: { organizationId, endpointId, eventId, leasedUntil },
    data: { leasedUntil: null },
  })
}

export type Recorded = {
  /** `lost`: the lease was over or the delivery replayed, and what becomes of it is for another attempt to say. */
  outcome: 'delivered' | 'failed' | 'retried' | 'lost'
  /** What the endpoint's organization is to be told. */
  notice: FailingNotice | null
}

/** Records an attempt, and what follows from it for the delivery and its endpoint. */
export async function recordAttempt(ctx: ServiceContext, taken: TakenDelivery, result: AttemptResult): Promise<Recorded> {
  const { id } = taken.endpoint
  const status = 'status' in result.answer ? result.answer.status : null
  const isDelivered = status !== null && status >= 200 && status < 300
  const isGone = status === 410
  const next = isDelivered || isGone ? null : nextAfterFailure(ctx, taken, result)
  const outcome = isDelivered ? 'delivered' : next ? 'retried' : 'failed'
  const isOurs = await writeAttempt(ctx, taken, result, { state: outcome === 'retried' ? 'waiting' : outcome, next })
  if (!isOurs) return { outcome: 'lost', notice: null }
  // In transactions of their own: an endpoint that is being changed is not to hold up its deliveries, nor they it.
  if (isDelivered) await noteEndpointWell(ctx, id)
  const notice = isDelivered ? null : isGone ? await disableGone(ctx, id) : await noteEndpointFailing(ctx, id)
  return { outcome, notice }
}

const disableGone = async (ctx: ServiceContext, id: string): Promise<FailingNotice | null> =>
  (await disableEndpoint(ctx, id, 'gone')) ? 'disabled' : null

function nextAfterFailure({ deps }: ServiceContext, { delivery }: TakenDelivery, { answer }: AttemptResult): Date | null {
  const { attemptCount, attemptsBefore } = delivery
  return nextAttempt(deps.clock(), attemptCount - attemptsBefore + 1, 'retryAfter' in answer ? answer.retryAfter : undefined)
}

/** One statement, by whoever has the lease. @returns false when it was lost. */
async function writeAttempt(
  { db }: ServiceContext,
  { delivery }: TakenDelivery,
  { startedAt, milliseconds, answer }: AttemptResult,
  { state, next }: { state: WebhookDelivery['state']; next: Date | null },
): Promise<boolean> {
  const { organizationId, endpointId, eventId, leasedUntil } = delivery
  const { status, body, error } = { status: null, body: '', error: '', ...answer }
  const written = await db.$executeRaw`
    WITH attempted AS (
      UPDATE webhook_deliveries
      SET state = ${state}::webhook_delivery_state, next_attempt_at = coalesce(${next}, next_attempt_at), leased_until = NULL,
        attempt_count = attempt_count + 1
      WHERE organization_id = ${organizationId}::uuid AND endpoint_id = ${endpointId}::uuid AND event_id = ${eventId}::uuid
        AND leased_until = ${leasedUntil}
      RETURNING organization_id, endpoint_id, event_id, attempt_count
    )
    INSERT INTO webhook_attempts (organization_id, endpoint_id, event_id, number, created_at, milliseconds, status, error, answer)
    SELECT organization_id, endpoint_id, event_id, attempt_count, ${startedAt}, ${milliseconds}, ${status}, ${storable(error)}, ${storable(body)}
    FROM attempted`
  return written > 0
}

/** A receiver may answer anything, and PostgreSQL stores no NUL in a text. */
const storable = (text: string): string => text.replaceAll('\0', '')
