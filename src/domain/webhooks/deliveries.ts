import { sql } from '../../db/builder.ts'
import { anyOf } from '../../db/query.ts'
import type { WebhookDelivery as DeliveryRow, WebhookAttempt, WebhookDeliveryState } from '../../generated/prisma/client.ts'
import { type Context, inMode } from '../context.ts'
import { DomainError } from '../errors.ts'
import { TEST_EVENT, type TestedType } from '../events/event.ts'
import { checkCursor } from '../events/feed.ts'
import { recordEvents } from '../events/record-events.ts'
import { createSampleData } from '../events/sample-data.ts'
import { type ListPage, type Order, type PageRequest, readPage } from '../lists/page.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import { changeEndpoint, getEndpoint, recordEndpoint, visibleEndpoints, type WebhookEndpoint } from './change-endpoint.ts'

// Deliveries of an endpoint. Beyond both documents.

export const DELIVERY_STATES = ['waiting', 'delivered', 'failed'] as const satisfies WebhookDeliveryState[]
export type DeliveryOrder = Order<'queuedAt'>
export type DeliveryFilter = { state?: WebhookDeliveryState }

/** With the type of its event; null when the feed has forgotten it. */
export type WebhookDelivery = DeliveryRow & { type: string | null }
export type WebhookDeliveryDetail = WebhookDelivery & { attempts: WebhookAttempt[] }

/** @throws DomainError webhook_not_found. */
export async function listDeliveries(
  ctx: Context,
  endpointId: string,
  filter: DeliveryFilter,
  { field, direction }: DeliveryOrder,
  page: PageRequest,
): Promise<ListPage<WebhookDelivery>> {
  const { id, organizationId } = await getEndpoint(ctx, endpointId)
  const { webhookDelivery } = ctx.db
  const where = { organizationId, endpointId: id, ...filter }
  return readPage(
    page,
    () => webhookDelivery.count({ where }),
    async (window) => {
      const orderBy = [{ [field]: direction }, { eventId: direction }]
      return withTypes(ctx, await webhookDelivery.findMany({ where, orderBy, ...window }))
    },
  )
}

/** Number of deliveries by state; `retried` counts those waiting after a failed attempt. */
export type DeliveryCounts = Record<WebhookDeliveryState | 'retried', number>

/** Deliveries of an endpoint that say how it does. */
export const LAST_DELIVERIES = 20

/** Results of the latest deliveries by endpoint id, without endpoints that have none. */
export async function countLastDeliveries(ctx: Context): Promise<Map<string, DeliveryCounts>> {
  const endpoints = await ctx.db.webhookEndpoint.findMany({ where: visibleEndpoints(ctx), select: { id: true } })
  const ids = endpoints.map(({ id }) => id)
  const counted = ctx.db
    .selectFrom(sql<{ id: string }>`unnest(${ids}::uuid[])`.as<'endpoint'>(sql`endpoint (id)`))
    .crossJoinLateral((eb) =>
      ctx.db
        .selectFrom('webhookDeliveries')
        .select(['state', 'attemptCount', 'attemptsBeforeReplay'])
        .where('endpointId', '=', eb.ref('endpoint.id'))
        .orderBy('queuedAt', 'desc')
        .orderBy('eventId', 'desc')
        .limit(LAST_DELIVERIES)
        .as('last'),
    )
    .groupBy('endpoint.id')
    .select((eb) => {
      const inState = (state: WebhookDeliveryState) => eb.fn.countAll().filterWhere('last.state', '=', state)
      const waiting = inState('waiting').filterWhereRef('last.attemptCount', '=', 'last.attemptsBeforeReplay')
      const retried = inState('waiting').filterWhereRef('last.attemptCount', '>', 'last.attemptsBeforeReplay')
      return [
        'endpoint.id',
        eb.cast<number>(inState('delivered'), 'integer').as('delivered'),
        eb.cast<number>(inState('failed'), 'integer').as('failed'),
        eb.cast<number>(waiting, 'integer').as('waiting'),
        eb.cast<number>(retried, 'integer').as('retried'),
      ]
    })
  const rows = await counted.execute()
  return new Map(rows.map(({ id, ...counts }) => [id, counts]))
}

/** @param eventId a delivery is known by its event. @throws DomainError webhook_not_found, delivery_not_found. */
export async function getDelivery(ctx: Context, endpointId: string, eventId: string): Promise<WebhookDeliveryDetail> {
  const { id, organizationId } = await getEndpoint(ctx, endpointId)
  const include = { attempts: { orderBy: { number: 'asc' } } } as const
  const key = { organizationId_endpointId_eventId: { organizationId, endpointId: id, eventId } }
  const row = isUuid(eventId) ? await ctx.db.webhookDelivery.findUnique({ where: key, include }) : null
  if (!row) throw new DomainError('delivery_not_found')
  const [delivery] = await withTypes(ctx, [row])
  return delivery!
}

async function withTypes<Row extends DeliveryRow>(ctx: Context, rows: Row[]): Promise<(Row & { type: string | null })[]> {
  const where = { organizationId: ctx.organization.id, id: anyOf(rows.map(({ eventId }) => eventId)) }
  // An endpoint may get live and test events.
  const events = await inMode(ctx, 'all').db.event.findMany({ where, select: { id: true, type: true } })
  const types = new Map(events.map(({ id, type }) => [id, type]))
  return rows.map((row) => ({ ...row, type: types.get(row.eventId) ?? null }))
}

/**
 * Sends the endpoint a test event, whatever its types. It is numbered, signed, and retried like any other, but not in the feed.
 *
 * @param type what the endpoint is sent: with made-up data, so that no integration changes an invite that exists.
 * @throws DomainError webhook_not_found, webhook_disabled.
 */
export const sendTestEvent = (ctx: Context, endpointId: string, type: TestedType = TEST_EVENT): Promise<WebhookDeliveryDetail> =>
  inTransaction(ctx, async (inside) => {
    const endpoint = await getActive(inside, endpointId)
    const { id, organizationId, mode } = endpoint
    const [eventId, now] = [ctx.deps.newId(), ctx.deps.clock()]
    const tested =
      type === TEST_EVENT
        ? { testedType: null, data: { endpointId: id } }
        : { testedType: type, data: createSampleData(inside, type) }
    const event = { id: eventId, type: TEST_EVENT, organizationId, ...tested } as const
    await recordEvents(inside, [{ ...event, mode: mode === 'test' ? 'test' : 'live' }])
    const data = { organizationId, endpointId: id, eventId, queuedAt: now, nextAttemptAt: now }
    await inside.db.webhookDelivery.create({ data })
    await recordEndpoint(inside, 'tested_webhook', endpoint)
    return getDelivery(inside, id, eventId)
  })

/**
 * Attempts a delivery anew, with all its retries, whatever became of it. One that waits is attempted at once; an attempt that is under way
 * counts for nothing, as what it leads to would take the place of this.
 *
 * @throws DomainError webhook_not_found, webhook_disabled, delivery_not_found.
 */
export const replayDelivery = (ctx: Context, endpointId: string, eventId: string): Promise<WebhookDeliveryDetail> =>
  inTransaction(ctx, async (inside) => {
    const endpoint = await getActive(inside, endpointId)
    const { id } = endpoint
    const delivery = await getDelivery(inside, id, eventId)
    const now = ctx.deps.clock()
    const its = inside.db.updateTable('webhookDeliveries').where('endpointId', '=', id).where('eventId', '=', delivery.eventId)
    const again = { state: 'waiting', queuedAt: now, nextAttemptAt: now, leasedUntil: null, isReplay: true } as const
    await its.set((eb) => ({ ...again, attemptsBeforeReplay: eb.ref('attemptCount') })).execute()
    await recordEndpoint(inside, 'replayed_webhook', endpoint, { event: eventId })
    return getDelivery(inside, id, eventId)
  })

/**
 * Delivers all events after a position again, including delivered ones. The worker does it in batches. A replay in progress is merged
 * with it, and its remaining events are still delivered.
 *
 * @throws DomainError webhook_not_found, webhook_disabled; cursor_gone, as the feed does.
 */
export const replayFrom = (ctx: Context, endpointId: string, position: bigint): Promise<WebhookEndpoint> =>
  inTransaction(ctx, async (inside) => {
    const { position: reached } = await inside.db.webhookFanout.findUniqueOrThrow({ where: { id: 1 } })
    await getActive(inside, endpointId)
    // Nobody moves a replay that is under way until this is committed.
    await inside.db.selectFrom('webhookEndpoints').select('id').where('id', '=', endpointId).forUpdate().execute()
    const endpoint = await getActive(inside, endpointId)
    const { id, position: start, missedFrom, replayPosition: running, replayUntil: until } = endpoint
    await checkCursor(inside, position)
    // Events behind that are yet to be handed over, and are sent by that: made twice at once, the same deliveries would wait for each other.
    const replayUntil = [start, until ?? 0n].reduce((last, other) => (other > last ? other : last), reached)
    const replayPosition = running !== null && running < position ? running : position
    await recordEndpoint(inside, 'replayed_webhook', endpoint, { after: String(position) })
    const isMissedNoMore = missedFrom !== null && position <= missedFrom
    const replay = { replayPosition, replayUntil, ...(isMissedNoMore && { missedFrom: null }) }
    return changeEndpoint(inside, id, { ...replay, updatedAt: ctx.deps.clock() })
  })

/** Deliveries to a disabled endpoint would wait indefinitely. */
async function getActive(ctx: Context, id: string): Promise<WebhookEndpoint> {
  const endpoint = await getEndpoint(ctx, id)
  if (endpoint.state === 'disabled') throw new DomainError('webhook_disabled')
  return endpoint
}
