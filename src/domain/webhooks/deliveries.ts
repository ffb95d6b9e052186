import { sql } from '../../db/builder.ts'
import type { Expressions, TenantDb } from '../../db/queries.ts'
import {
  type WebhookDelivery as DeliveryRow,
  Prisma,
  type WebhookAttempt,
  type WebhookDeliveryState,
} from '../../generated/prisma/client.ts'
import { type Context, inMode } from '../context.ts'
import { DomainError } from '../errors.ts'
import { TEST_EVENT, type TestedType } from '../events/event.ts'
import { checkCursor } from '../events/feed.ts'
import { recordEvents } from '../events/record-events.ts'
import { createSampleData } from '../events/sample-data.ts'
import { listPage, projectionOf, type RowOf } from '../lists/listing.ts'
import type { ListPage, Order, PageRequest } from '../lists/page.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import { changeEndpoint, getEndpoint, recordEndpoint, visibleEndpoints, type WebhookEndpoint } from './change-endpoint.ts'

// Deliveries of an endpoint. Beyond both documents.

export const DELIVERY_STATES = ['waiting', 'delivered', 'failed'] as const satisfies WebhookDeliveryState[]
export type DeliveryOrder = Order<'queuedAt'>
export type DeliveryFilter = { state?: WebhookDeliveryState }

const wholeDelivery = projectionOf('webhookDeliveries', Prisma.WebhookDeliveryScalarFieldEnum, {
  type: (eb: Expressions<'webhookDeliveries'>, db: TenantDb) =>
    eb.selectFrom(db.table('events')).select('events.type').whereRef('events.id', '=', 'webhookDeliveries.eventId').$asScalar(),
})
/** @property type type of its event; null if the event was deleted. */
export type WebhookDelivery = Omit<RowOf<typeof wholeDelivery>, 'type'> & { type: string | null }
export type WebhookDeliveryDetail = DeliveryRow & { type: string | null; attempts: WebhookAttempt[] }
const deliveryList = { table: 'webhookDeliveries', key: 'eventId', filters: { endpointId: '=', state: '=' } } as const

/** @throws DomainError webhook_not_found. */
export async function listDeliveries(
  ctx: Context,
  endpointId: string,
  filter: DeliveryFilter,
  order: DeliveryOrder,
  page: PageRequest,
): Promise<ListPage<WebhookDelivery>> {
  const { id } = await getEndpoint(ctx, endpointId)
  // An endpoint may get live and test events.
  const ofBoth = inMode(ctx, 'all')
  return listPage(ofBoth, deliveryList, { projection: wholeDelivery, filter: { ...filter, endpointId: id }, order, page })
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
  const event = await inMode(ctx, 'all').db.event.findFirst({ where: { organizationId, id: eventId }, select: { type: true } })
  return { ...row, type: event?.type ?? null }
}

/**
 * Sends the endpoint a test event, regardless of its types. Sequenced, signed, and retried like others, but not in the feed.
 *
 * @param type type of the event, with made-up data. @throws DomainError webhook_not_found, webhook_disabled.
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
 * Restarts a delivery with all its retries, in any state. Waiting deliveries are attempted at once; the result of a running attempt is
 * ignored.
 *
 * @throws DomainError webhook_not_found, webhook_disabled, delivery_not_found.
 */
export const replayDelivery = (ctx: Context, endpointId: string, eventId: string): Promise<WebhookDeliveryDetail> =>
  inTransaction(ctx, async (inside) => {
    const endpoint = await getActive(inside, endpointId)
    const { id } = endpoint
    const delivery = await getDelivery(inside, id, eventId)
    const now = ctx.deps.clock()
    const deliveryRow = inside.db
      .updateTable('webhookDeliveries')
      .where('endpointId', '=', id)
      .where('eventId', '=', delivery.eventId)
    const requeued = { state: 'waiting', queuedAt: now, nextAttemptAt: now, leasedUntil: null, isReplay: true } as const
    await deliveryRow.set((eb) => ({ ...requeued, attemptsBeforeReplay: eb.ref('attemptCount') })).execute()
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
    // Locks the endpoint, so that no running replay moves meanwhile.
    await inside.db.selectFrom('webhookEndpoints').select('id').where('id', '=', endpointId).forUpdate().execute()
    const endpoint = await getActive(inside, endpointId)
    const { id, position: start, missedFrom, replayPosition: running, replayUntil: until } = endpoint
    await checkCursor(inside, position)
    // Later events are not fanned out yet, and will be sent anyway. Creating the same deliveries twice simultaneously could deadlock.
    const replayUntil = [start, until ?? 0n].reduce((last, end) => (end > last ? end : last), reached)
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
