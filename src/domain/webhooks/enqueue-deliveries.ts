import { sql } from '../../db/builder.ts'
import type { Rows } from '../../db/queries.ts'
import { executeAll } from '../../db/statements.ts'
import { unscoped } from '../../db/unscoped.ts'
import { DEFAULT, insertFromSelect, timestamp } from '../../db/writes.ts'
import type { Connection, ServiceContext } from '../context.ts'
import { TEST_EVENT } from '../events/event.ts'
import { findEndOfBatch } from '../events/find-end-of-batch.ts'
import { inTransaction } from '../transaction.ts'

// Events become deliveries: one for each subscribed endpoint.

/** Events a transaction: even with all the endpoints that an organization may have far from the time of a statement. */
const EVENTS_PER_TRANSACTION = 2_000
/** Replayed events per transaction. New events wait for one such transaction at most. */
const REPLAYED_EVENTS_PER_TRANSACTION = 500

/**
 * Events that are not handed over yet. @property first position from which the first active endpoint gets events; null: no active endpoint.
 */
type PendingEvents = { position: bigint; head: bigint; first: bigint | null; replays: boolean }

/** Creates deliveries for the next batch of events, or for the next batch of a replay. @returns `more`: true if there may be more. */
export async function enqueueDeliveries(ctx: ServiceContext): Promise<{ more: boolean }> {
  const work = await findPendingEvents(ctx)
  // Without active endpoints there is nothing to do.
  const isBehind = work.first !== null && work.position < work.head
  const handed = isBehind && (await enqueueNext(ctx, work))
  const replayed = work.replays && (await inTransaction(ctx, replayNext))
  return { more: handed || replayed }
}

async function findPendingEvents({ db }: ServiceContext): Promise<PendingEvents> {
  const { position, head, first, replays } = await unscoped(db)
    .selectFrom(['webhookFanout', 'eventSequence'])
    .select((eb) => {
      const active = eb.selectFrom('webhookEndpoints').where('webhookEndpoints.state', '=', 'active')
      return [
        'webhookFanout.position',
        'eventSequence.position as head',
        active.select(({ fn }) => fn.min('webhookEndpoints.position').as('first')).as('first'),
        eb.exists(toReplay(eb.selectFrom('webhookEndpoints'))).as('replays'),
      ]
    })
    .executeTakeFirstOrThrow()
  return {
    position: BigInt(position),
    head: BigInt(head),
    first: first === null ? null : BigInt(first),
    replays: replays === true,
  }
}

/**
 * Creates deliveries and moves the position in one transaction, so that each event is handed over once. Only if the position is unchanged:
 * another process may have moved it, and changes of endpoints lock it, see `lockFanOut`.
 *
 * @returns true if there are more.
 */
async function enqueueNext(ctx: ServiceContext, { position, head, first }: PendingEvents): Promise<boolean> {
  // Skips events before the first endpoint: there may be years of them.
  const from = first !== null && first > position ? first : position
  const until = await findEndOfBatch(ctx, { from, head }, EVENTS_PER_TRANSACTION)
  const active = eventsWithEndpoints({ from, until })
    .where('endpoint.state', '=', 'active')
    .whereRef('event.position', '>', 'endpoint.position')
    .where((eb) => eb(eb.selectFrom('webhookFanout').select('webhookFanout.position'), '=', String(position)))
  await executeAll(ctx.db, [
    unscoped(ctx.db).selectFrom('webhookFanout').select('position').forUpdate(),
    deliveriesOf(ctx.db, active, ctx.deps.clock()).onConflict((conflict) => conflict.doNothing()),
    unscoped(ctx.db).updateTable('webhookFanout').set({ position: until }).where('position', '=', String(position)),
  ])
  return until < head
}

/** Creates deliveries for the oldest requested replay. Delivered and failed events are queued again; waiting ones become due at once. */
async function replayNext(ctx: ServiceContext): Promise<boolean> {
  const { db, deps } = ctx
  const endpoints = unscoped(ctx.db).selectFrom('webhookEndpoints').select(['id', 'replayPosition', 'replayUntil'])
  const replay = await orderByTurn(toReplay(endpoints)).limit(1).forNoKeyUpdate().skipLocked().executeTakeFirst()
  if (!replay) return false
  const [from, end] = [BigInt(replay.replayPosition!), BigInt(replay.replayUntil!)]
  const until = await findEndOfBatch(ctx, { from, head: end }, REPLAYED_EVENTS_PER_TRANSACTION)
  const now = deps.clock()
  const events = eventsWithEndpoints({ from, until }).where('endpoint.id', '=', replay.id)
  const upsert = deliveriesOf(db, events, now, { isReplay: true }).onConflict((conflict) =>
    conflict.columns(['organizationId', 'endpointId', 'eventId']).doUpdateSet((eb) => ({
      ...({ state: 'waiting', queuedAt: now, nextAttemptAt: now } as const),
      attemptsBeforeReplay: eb.ref('webhookDeliveries.attemptCount'),
      isReplay: sql<boolean>`${eb.ref('webhookDeliveries.state')} <> 'waiting' or ${eb.ref('webhookDeliveries.isReplay')}`,
    })),
  )
  await upsert.execute()
  const data = until >= end ? { replayPosition: null, replayUntil: null } : { replayPosition: until }
  await db.webhookEndpoint.update({ where: { id: replay.id }, data: { ...data, replayTurnAt: now } })
  return true
}

const toReplay = <Row>(endpoints: Rows<'webhookEndpoints', Row>): Rows<'webhookEndpoints', Row> =>
  endpoints.where('webhookEndpoints.replayPosition', 'is not', null).where('webhookEndpoints.deletedAt', 'is', null)

/** Reading the last turn of each endpoint is cheap, because an organization has few. */
const orderByTurn = <Row>(endpoints: Rows<'webhookEndpoints', Row>): Rows<'webhookEndpoints', Row> =>
  endpoints
    .orderBy(
      (eb) =>
        unscoped()
          .selectFrom('webhookEndpoints as sibling')
          .where('sibling.organizationId', '=', eb.ref('webhookEndpoints.organizationId'))
          .select(({ fn }) => fn.max('sibling.replayTurnAt').as('lastTurn')),
      (order) => order.asc().nullsFirst(),
    )
    .orderBy('webhookEndpoints.replayTurnAt', (order) => order.asc().nullsFirst())

/** Events with the endpoints that get each. A test event goes to its own endpoint, see `sendTestEvent`. */
const eventsWithEndpoints = ({ from, until }: { from: bigint; until: bigint }) =>
  unscoped()
    .selectFrom('events as event')
    .innerJoin('webhookEndpoints as endpoint', 'endpoint.organizationId', 'event.organizationId')
    .where('event.position', '>', String(from))
    .where('event.position', '<=', String(until))
    .where('event.type', '<>', TEST_EVENT)
    .where(({ ref }) => sql<boolean>`${ref('endpoint.mode')}::text in ('all', ${ref('event.mode')}::text)`)
    .where((eb) => {
      const isForAll = eb(eb.fn<number>('cardinality', ['endpoint.types']), '=', eb.lit(0))
      return eb.or([isForAll, eb('event.type', '=', eb.fn.any('endpoint.types'))])
    })

const deliveriesOf = (
  db: Connection,
  eventsWithReceivers: ReturnType<typeof eventsWithEndpoints>,
  now: Date,
  { isReplay } = { isReplay: false },
) =>
  insertFromSelect(db, 'webhookDeliveries', eventsWithReceivers, (eb) => ({
    organizationId: eb.ref('endpoint.organizationId'),
    endpointId: eb.ref('endpoint.id'),
    eventId: eb.ref('event.id'),
    state: DEFAULT,
    queuedAt: timestamp(now),
    nextAttemptAt: timestamp(now),
    leasedUntil: DEFAULT,
    attemptCount: DEFAULT,
    attemptsBeforeReplay: DEFAULT,
    isReplay: sql<boolean>`${isReplay}::boolean`,
  }))
