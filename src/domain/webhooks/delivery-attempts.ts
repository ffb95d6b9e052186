import { sql } from '../../db/builder.ts'
import { isNotSuspended, type RawBuilder, sameOrganization } from '../../db/queries.ts'
import { type TenantDb, tenantDb } from '../../db/tenant-db.ts'
import { unscoped } from '../../db/unscoped.ts'
import { copyColumns, insertFromSelect, timestamp } from '../../db/writes.ts'
import type { WebhookDelivery, WebhookEndpoint } from '../../generated/prisma/client.ts'
import type { Connection, ServiceContext } from '../context.ts'
import { findEvents, type WebhookEvent } from '../events/feed.ts'
import { type DueSendings, grantedRows } from './due-sendings.ts'
import { disableEndpoint, type FailingNotice, recordEndpointFailure, recordEndpointSuccess } from './endpoint-state.ts'
import { nextAttempt } from './retries.ts'

// Any process leases deliveries, attempts them, and records the outcome.

/** Longer than an attempt takes. After that another process attempts the deliveries of a killed one. */
const LEASE_SECONDS = 30

/** A delivery that this process is to attempt now. */
export type LeasedDelivery = { delivery: Delivery; endpoint: Endpoint; event: WebhookEvent }
type Delivery = Pick<
  WebhookDelivery,
  'organizationId' | 'endpointId' | 'eventId' | 'leasedUntil' | 'attemptCount' | 'attemptsBeforeReplay'
>
type Endpoint = Pick<WebhookEndpoint, 'id' | 'url' | 'encryptedSecret' | 'encryptedPreviousSecret' | 'previousSecretUntil'>
type LeasedRow = Delivery & Omit<Endpoint, 'id'>

/** Result of an attempt: a response, or the reason for having none. */
export type AttemptResult = {
  startedAt: Date
  milliseconds: number
  answer: { status: number; body: string; retryAfter: string | undefined } | { error: string }
}

/**
 * Counts the due deliveries of each endpoint, new events and replays separately. The cost depends on the endpoints with waiting deliveries:
 * a recursive query skips from one to the next through the index.
 *
 * @param most largest number to count per endpoint.
 */
export const findDueDeliveries = ({ db, deps }: ServiceContext, most: number): Promise<DueSendings[]> =>
  unscoped(db)
    .withRecursive('waiting', (query) =>
      query
        .selectFrom(nextWaitingEndpoint(db).as('first'))
        .select('first.endpointId')
        .unionAll(
          query
            .selectFrom('waiting')
            .innerJoinLateral(
              (eb) => nextWaitingEndpoint(db).where('delivery.endpointId', '>', eb.ref('waiting.endpointId')).as('next'),
              (join) => join.onTrue(),
            )
            .select('next.endpointId'),
        ),
    )
    .selectFrom('waiting')
    .innerJoin('webhookEndpoints as endpoint', 'endpoint.id', 'waiting.endpointId')
    .crossJoin(sql<{ isReplay: boolean }>`(values (false), (true))`.as<'kind'>(sql`kind (is_replay)`))
    .crossJoinLateral((eb) =>
      eb
        .selectFrom(
          dueDeliveries(db, deps.clock())
            .where('delivery.endpointId', '=', eb.ref('endpoint.id'))
            .where('delivery.isReplay', '=', eb.ref('kind.isReplay'))
            .limit(most)
            .as('first'),
        )
        .select(sql<number>`count(*)::int`.as('count'))
        .as('due'),
    )
    .where('endpoint.state', '=', 'active')
    .where(isNotSuspended('endpoint'))
    .where('due.count', '>', 0)
    .select(['endpoint.organizationId', 'endpoint.id as receiverId', 'kind.isReplay', 'due.count'])
    .select(({ ref }) => sql<boolean>`${ref('endpoint.failingSince')} is not null`.as('isFailing'))
    .execute()

const nextWaitingEndpoint = (db: Connection) =>
  unscoped(db)
    .selectFrom('webhookDeliveries as delivery')
    .select('delivery.endpointId')
    .where('delivery.state', '=', sql.lit('waiting'))
    .orderBy('delivery.endpointId')
    .limit(1)

/**
 * Leases due deliveries, by the database's clock. No other process attempts them until the lease ends.
 *
 * @param granted number of deliveries to lease per endpoint. @returns also `forgotten`: deliveries that failed because their event was
 *   deleted before a late replay.
 */
export async function leaseDeliveries(
  { db, deps }: ServiceContext,
  granted: readonly DueSendings[],
): Promise<{ deliveries: LeasedDelivery[]; forgotten: number }> {
  const leased = await leaseOfDue(db, deps.clock(), granted).execute()
  const ids = new Set(leased.map(({ eventId }) => eventId))
  const events = new Map((ids.size > 0 ? await findEvents({ db }, [...ids]) : []).map((event) => [event.id, event]))
  const forgotten = leased.filter(({ eventId }) => !events.has(eventId))
  await failDeliveries({ db }, forgotten)
  return {
    deliveries: leased.flatMap((delivery) => toAttempt(delivery, events.get(delivery.eventId))),
    forgotten: forgotten.length,
  }
}

const leaseOfDue = (db: Connection, now: Date, granted: readonly DueSendings[]) =>
  unscoped(db)
    .with(
      (cte) => cte('due').materialized(),
      (cte) =>
        cte
          .selectFrom(grantedRows(granted))
          .innerJoin('webhookEndpoints as endpoint', 'endpoint.id', 'granted.id')
          .crossJoinLateral((eb) =>
            dueDeliveries(db, now)
              .where('delivery.endpointId', '=', eb.ref('endpoint.id'))
              .where('delivery.isReplay', '=', eb.ref('granted.isReplay'))
              .limit(eb.ref('granted.count'))
              .forUpdate()
              .skipLocked()
              .as('next'),
          )
          .where('endpoint.state', '=', 'active')
          .where(isNotSuspended('endpoint'))
          .select(['next.organizationId', 'next.endpointId', 'next.eventId'])
          .select([
            'endpoint.url',
            'endpoint.encryptedSecret',
            'endpoint.encryptedPreviousSecret',
            'endpoint.previousSecretUntil',
          ]),
    )
    .updateTable('webhookDeliveries')
    .from('due')
    .set({ leasedUntil: sql<Date>`clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})` })
    .where(sameOrganization('webhookDeliveries', 'due'))
    .whereRef('webhookDeliveries.endpointId', '=', 'due.endpointId')
    .whereRef('webhookDeliveries.eventId', '=', 'due.eventId')
    .returning(['webhookDeliveries.organizationId', 'webhookDeliveries.endpointId', 'webhookDeliveries.eventId'])
    .returning(['webhookDeliveries.leasedUntil', 'webhookDeliveries.attemptCount', 'webhookDeliveries.attemptsBeforeReplay'])
    .returning(['due.url', 'due.encryptedSecret', 'due.encryptedPreviousSecret', 'due.previousSecretUntil'])

const dueDeliveries = (db: Connection, now: Date) =>
  unscoped(db)
    .selectFrom('webhookDeliveries as delivery')
    .select(['delivery.organizationId', 'delivery.endpointId', 'delivery.eventId', 'delivery.nextAttemptAt'])
    .where('delivery.state', '=', sql.lit('waiting'))
    .where('delivery.nextAttemptAt', '<=', now)
    .where(({ eb, or, ref }) => {
      const isOver = sql<boolean>`${ref('delivery.leasedUntil')} < clock_timestamp()`
      return or([eb('delivery.leasedUntil', 'is', null), isOver])
    })
    .where(({ not, exists, selectFrom }) => {
      // An event without a position is not in the feed yet. Its payload must match the feed's.
      const eventOfDelivery = selectFrom('events').whereRef('events.id', '=', 'delivery.eventId')
      return not(exists(eventOfDelivery.where('events.position', 'is', null)))
    })
    .orderBy('delivery.nextAttemptAt')

function toAttempt(leased: LeasedRow, event: WebhookEvent | undefined): LeasedDelivery[] {
  const { url, encryptedSecret, encryptedPreviousSecret, previousSecretUntil, ...delivery } = leased
  const endpoint = { id: delivery.endpointId, url, encryptedSecret, encryptedPreviousSecret, previousSecretUntil }
  return event ? [{ delivery, endpoint, event }] : []
}

async function failDeliveries({ db }: Pick<ServiceContext, 'db'>, deliveries: Delivery[]): Promise<void> {
  for (const { organizationId, endpointId, eventId, leasedUntil } of deliveries)
    await db.webhookDelivery.updateMany({
      where: { organizationId, endpointId, eventId, leasedUntil },
      data: { state: 'failed', leasedUntil: null },
    })
}

/** Returns a leased delivery without an attempt, so that it needn't wait for the end of the lease. */
export async function releaseDelivery({ db }: ServiceContext, { delivery }: LeasedDelivery): Promise<void> {
  const { organizationId, endpointId, eventId, leasedUntil } = delivery
  await db.webhookDelivery.updateMany({
    where: { organizationId, endpointId, eventId, leasedUntil },
    data: { leasedUntil: null },
  })
}

export type DeliveryOutcome = {
  /** `lost`: the lease expired or the delivery was replayed, so another attempt decides the outcome. */
  outcome: 'delivered' | 'failed' | 'retried' | 'lost'
  /** Notice to the endpoint's organization. */
  notice: FailingNotice | null
}

/** Records an attempt, and what follows from it for the delivery and its endpoint. */
export async function recordDeliveryAttempt(
  ctx: ServiceContext,
  leased: LeasedDelivery,
  result: AttemptResult,
): Promise<DeliveryOutcome> {
  const { id } = leased.endpoint
  const status = 'status' in result.answer ? result.answer.status : null
  const isDelivered = status !== null && status >= 200 && status < 300
  const isGone = status === 410
  const next = isDelivered || isGone ? null : nextAfterFailure(ctx, leased, result)
  const outcome = isDelivered ? 'delivered' : next ? 'retried' : 'failed'
  const outcomeRow = await writeAttempt(ctx, leased, result, { state: outcome === 'retried' ? 'waiting' : outcome, next })
  if (!outcomeRow) return { outcome: 'lost', notice: null }
  // In separate transactions: changing an endpoint must not block its deliveries.
  if (isDelivered && outcomeRow.wasFailing) await recordEndpointSuccess(ctx, id)
  const notice = isDelivered ? null : isGone ? await disableGone(ctx, id) : await recordEndpointFailure(ctx, id)
  return { outcome, notice }
}

const disableGone = async (ctx: ServiceContext, id: string): Promise<FailingNotice | null> =>
  (await disableEndpoint(ctx, id, 'gone')) ? 'disabled' : null

function nextAfterFailure({ deps }: ServiceContext, { delivery }: LeasedDelivery, { answer }: AttemptResult): Date | null {
  const { attemptCount, attemptsBeforeReplay } = delivery
  return nextAttempt(
    deps.clock(),
    attemptCount - attemptsBeforeReplay + 1,
    'retryAfter' in answer ? answer.retryAfter : undefined,
  )
}

/** Writes an attempt if this process still has the lease. @returns true if the endpoint was failing until now; undefined without the lease. */
async function writeAttempt(
  { db }: ServiceContext,
  { delivery, event }: LeasedDelivery,
  { startedAt, milliseconds, answer }: AttemptResult,
  { state, next }: { state: WebhookDelivery['state']; next: Date | null },
): Promise<{ wasFailing: boolean } | undefined> {
  const { endpointId, eventId, leasedUntil } = delivery
  const { status, body, error } = { status: null, body: '', error: '', ...answer }
  const tenant = tenantDb(db, { organization: { id: delivery.organizationId }, mode: 'all' })
  const inviteId = 'inviteId' in event.data ? event.data.inviteId : null
  const deliveryUpdate = tenant
    .updateTable('webhookDeliveries')
    .where('endpointId', '=', endpointId)
    .where('eventId', '=', eventId)
  const attempt = deliveryUpdate
    .where('leasedUntil', '=', leasedUntil)
    .set((eb) => ({ state, leasedUntil: null, attemptCount: eb('attemptCount', '+', 1), ...(next && { nextAttemptAt: next }) }))
    .returning(['webhookDeliveries.organizationId', 'endpointId', 'eventId', 'attemptCount'])
  const update = tenant
    .with('attempted', () => attempt)
    .with('recorded', (cte) =>
      insertFromSelect(db, 'webhookAttempts', cte.selectFrom('attempted'), (eb) => ({
        ...copyColumns(eb, 'organizationId', 'endpointId', 'eventId'),
        number: eb.ref('attemptCount'),
        createdAt: timestamp(startedAt),
        milliseconds: sql<number>`${milliseconds}::int`,
        status: sql<number | null>`${status}::int`,
        error: sql<string>`${storable(error)}::text`,
        answer: unlessErased(tenant, inviteId, storable(body)),
      })),
    )
    .selectFrom('attempted')
    .innerJoin(
      tenant.selectFrom('webhookEndpoints').select(['id', 'failingSince']).as('endpoint'),
      'endpoint.id',
      'attempted.endpointId',
    )
    .select(({ ref }) => sql<boolean>`${ref('endpoint.failingSince')} is not null`.as('wasFailing'))
  return update.executeTakeFirst()
}

/** Drops a receiver's response about an erased person: it may name them. */
function unlessErased(db: TenantDb, inviteId: string | null, answer: string): RawBuilder<string> {
  const erased = db.selectFrom('erasedInvites').select('inviteId').where('inviteId', '=', sql<string>`${inviteId}::uuid`)
  return sql`case when exists (${erased}) then '' else ${answer}::text end`
}

/** A receiver may answer anything, and PostgreSQL stores no NUL in a text. */
const storable = (text: string): string => text.replaceAll('\0', '')
