import { Prisma } from '../../generated/prisma/client.ts'
import type { ServiceContext } from '../context.ts'
import { TEST_EVENT } from '../events/event.ts'
import { inTransaction } from '../transaction.ts'
import { holdFanOut } from './access.ts'

// Events become deliveries: one for each endpoint that wants to be told.

/** Positions of the feed a transaction: even with all the endpoints that an organization may have far from the time of a statement. */
const AT_ONCE = 2_000n

type Done = { made: number; more: boolean }
const NOTHING: Done = { made: 0, more: false }

type Work = { isBehind: boolean; replays: boolean }

/** Takes one step: hands over the next events, or those that are to be replayed. @returns how many deliveries it made, and whether there may be more. */
export async function handOver(ctx: ServiceContext): Promise<Done> {
  const { isBehind, replays } = await findWork(ctx)
  const handed = isBehind ? await inTransaction(ctx, handOverNext) : NOTHING
  const replayed = replays ? await inTransaction(ctx, replayNext) : NOTHING
  return { made: handed.made + replayed.made, more: handed.more || replayed.more }
}

/** Without endpoints that are told of anything there is nothing to do. */
async function findWork({ db }: ServiceContext): Promise<Work> {
  const [work] = await db.$queryRaw<[Work]>`
    SELECT f.position < n.position AND EXISTS (SELECT FROM webhook_endpoints WHERE state = 'active') AS "isBehind",
      EXISTS (SELECT FROM webhook_endpoints WHERE replay_position IS NOT NULL AND deleted_at IS NULL) AS replays
    FROM webhook_fanout f, event_numbering n`
  return work
}

/** The position moves in the transaction that makes the deliveries: each event is handed over once, whatever becomes of the process. */
async function handOverNext(ctx: ServiceContext): Promise<Done> {
  const { position, head } = await holdFanOut(ctx)
  const [{ first }] = await ctx.db.$queryRaw<[{ first: bigint | null }]>`
    SELECT min(position) AS first FROM webhook_endpoints WHERE state = 'active'`
  // What no endpoint is told of is passed over: there may be years of it before the first is made.
  const from = first !== null && first > position ? first : position
  const until = smaller(from + AT_ONCE, head)
  if (until <= position) return NOTHING
  const active = Prisma.sql`endpoint.state = 'active' AND event.position > endpoint.position`
  const made = await makeDeliveries(ctx, { from, until }, active, Prisma.sql`DO NOTHING`)
  await ctx.db.webhookFanout.update({ where: { id: 1 }, data: { position: until } })
  return { made, more: until < head }
}

/** One endpoint's. What was delivered, or has failed, is waiting again; what waits for its next attempt waits no longer. */
async function replayNext(ctx: ServiceContext): Promise<Done> {
  const { db, deps } = ctx
  const [replay] = await db.$queryRaw<{ id: string; position: bigint; until: bigint }[]>`
    SELECT id, replay_position AS position, replay_until AS until FROM webhook_endpoints
    WHERE replay_position IS NOT NULL AND deleted_at IS NULL LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED`
  if (!replay) return NOTHING
  const until = smaller(replay.position + AT_ONCE, replay.until)
  const now = deps.clock()
  const again = Prisma.sql`(organization_id, endpoint_id, event_id) DO UPDATE
    SET state = 'waiting', queued_at = ${now}, next_attempt_at = ${now}, attempts_before = delivery.attempt_count`
  const its = Prisma.sql`endpoint.id = ${replay.id}::uuid`
  const made = await makeDeliveries(ctx, { from: replay.position, until }, its, again)
  const isOver = until >= replay.until
  const data = isOver ? { replayPosition: null, replayUntil: null } : { replayPosition: until }
  await db.webhookEndpoint.update({ where: { id: replay.id }, data })
  return { made, more: true }
}

/** A test event goes to the endpoint that it was made for, see `sendTestEvent`. */
const makeDeliveries = (
  { db, deps }: ServiceContext,
  { from, until }: { from: bigint; until: bigint },
  endpoints: Prisma.Sql,
  onConflict: Prisma.Sql,
): Promise<number> => {
  const now = deps.clock()
  return db.$executeRaw`
    INSERT INTO webhook_deliveries AS delivery (organization_id, endpoint_id, event_id, queued_at, next_attempt_at)
    SELECT endpoint.organization_id, endpoint.id, event.id, ${now}, ${now}
    FROM events event JOIN webhook_endpoints endpoint ON endpoint.organization_id = event.organization_id
    WHERE event.position > ${from} AND event.position <= ${until} AND event.type <> ${TEST_EVENT} AND ${endpoints}
      AND endpoint.mode::text IN ('all', event.mode::text)
      AND (cardinality(endpoint.types) = 0 OR event.type = ANY (endpoint.types))
    ON CONFLICT ${onConflict}`
}

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)
