import { queryRows } from '../../db/client.ts'
import { Prisma, type WebhookDelivery, type WebhookEndpoint } from '../../generated/prisma/client.ts'
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
export type TakenDelivery = { delivery: Delivery; endpoint: Endpoint; event: ToldEvent }
type Delivery = Pick<
  WebhookDelivery,
  'organizationId' | 'endpointId' | 'eventId' | 'leasedUntil' | 'attemptCount' | 'attemptsBefore'
>
type Endpoint = Pick<WebhookEndpoint, 'id' | 'url' | 'secret' | 'previousSecret' | 'previousSecretUntil'>
type Taken = Delivery & Omit<Endpoint, 'id'>

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
 * @returns all that are due as far as there is room. One whose event the feed has forgotten, because it was replayed late, is not among
 *   them: it has failed, and left room for another.
 */
export async function takeDeliveries(
  { db, deps }: ServiceContext,
  busy: ReadonlyMap<string, number>,
  room: number,
): Promise<{ deliveries: TakenDelivery[]; forgotten: number }> {
  const now = deps.clock()
  // An event that has no position yet is not in the feed: it is to be told of as the feed tells of it.
  const taken = await queryRows<Taken>(
    db,
    Prisma.sql`
    WITH due AS MATERIALIZED (
      SELECT next.*, url, secret, previous_secret, previous_secret_until FROM webhook_endpoints endpoint
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
      leased_until AS "leasedUntil", attempt_count AS "attemptCount", attempts_before AS "attemptsBefore",
      url, secret, previous_secret AS "previousSecret", previous_secret_until AS "previousSecretUntil"`,
  )
  const ids = new Set(taken.map(({ eventId }) => eventId))
  const events = new Map((ids.size > 0 ? await findEvents({ db }, [...ids]) : []).map((event) => [event.id, event]))
  const forgotten = taken.filter(({ eventId }) => !events.has(eventId))
  await failDeliveries({ db }, forgotten)
  return { deliveries: taken.flatMap((one) => toAttempt(one, events.get(one.eventId))), forgotten: forgotten.length }
}

function toAttempt(taken: Taken, event: ToldEvent | undefined): TakenDelivery[] {
  const { url, secret, previousSecret, previousSecretUntil, ...delivery } = taken
  const endpoint = { id: delivery.endpointId, url, secret, previousSecret, previousSecretUntil }
  return event ? [{ delivery, endpoint, event }] : []
}

/** Of those that can't be attempted. */
async function failDeliveries({ db }: Pick<ServiceContext, 'db'>, deliveries: Delivery[]): Promise<void> {
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
  const written = await writeAttempt(ctx, taken, result, { state: outcome === 'retried' ? 'waiting' : outcome, next })
  if (!written) return { outcome: 'lost', notice: null }
  // In transactions of their own: an endpoint that is being changed is not to hold up its deliveries, nor they it.
  if (isDelivered && written.wasFailing) await noteEndpointWell(ctx, id)
  const notice = isDelivered ? null : isGone ? await disableGone(ctx, id) : await noteEndpointFailing(ctx, id)
  return { outcome, notice }
}

const disableGone = async (ctx: ServiceContext, id: string): Promise<FailingNotice | null> =>
  (await disableEndpoint(ctx, id, 'gone')) ? 'disabled' : null

function nextAfterFailure({ deps }: ServiceContext, { delivery }: TakenDelivery, { answer }: AttemptResult): Date | null {
  const { attemptCount, attemptsBefore } = delivery
  return nextAttempt(deps.clock(), attemptCount - attemptsBefore + 1, 'retryAfter' in answer ? answer.retryAfter : undefined)
}

/** One statement, by whoever has the lease. @returns whether the endpoint was failing until now; undefined when the lease was lost. */
async function writeAttempt(
  { db }: ServiceContext,
  { delivery }: TakenDelivery,
  { startedAt, milliseconds, answer }: AttemptResult,
  { state, next }: { state: WebhookDelivery['state']; next: Date | null },
): Promise<{ wasFailing: boolean } | undefined> {
  const { organizationId, endpointId, eventId, leasedUntil } = delivery
  const { status, body, error } = { status: null, body: '', error: '', ...answer }
  const statement = Prisma.sql`
    WITH attempted AS (
      UPDATE webhook_deliveries
      SET state = ${state}::webhook_delivery_state, next_attempt_at = coalesce(${next}, next_attempt_at), leased_until = NULL,
        attempt_count = attempt_count + 1
      WHERE organization_id = ${organizationId}::uuid AND endpoint_id = ${endpointId}::uuid AND event_id = ${eventId}::uuid
        AND leased_until = ${leasedUntil}
      RETURNING organization_id, endpoint_id, event_id, attempt_count
    ), recorded AS (
      INSERT INTO webhook_attempts (organization_id, endpoint_id, event_id, number, created_at, milliseconds, status, error, answer)
      SELECT organization_id, endpoint_id, event_id, attempt_count, ${startedAt}, ${milliseconds}, ${status}, ${storable(error)}, ${storable(body)}
      FROM attempted
    )
    SELECT failing_since IS NOT NULL AS "wasFailing" FROM webhook_endpoints endpoint
    WHERE endpoint.id = ${endpointId}::uuid AND EXISTS (SELECT FROM attempted)`
  const [written] = await queryRows<{ wasFailing: boolean }>(db, statement)
  return written
}

/** A receiver may answer anything, and PostgreSQL stores no NUL in a text. */
const storable = (text: string): string => text.replaceAll('\0', '')
