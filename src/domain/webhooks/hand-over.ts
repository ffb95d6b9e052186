import { queryRows, sendTogether } from '../../db/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { ServiceContext } from '../context.ts'
import { TEST_EVENT } from '../events/event.ts'
import { inTransaction } from '../transaction.ts'

// Events become deliveries: one for each endpoint that wants to be told.

/** Positions of the feed a transaction: even with all the endpoints that an organization may have far from the time of a statement. */
const AT_ONCE = 2_000n

/** What there is to do. @property first the position behind which the first of the active endpoints is told; null when none is active. */
type Work = { position: bigint; head: bigint; first: bigint | null; replays: boolean }

/** Takes one step: hands over the next events, or those that are to be replayed. @returns whether there may be more. */
export async function handOver(ctx: ServiceContext): Promise<{ more: boolean }> {
  const work = await findWork(ctx)
  // Without endpoints that are told of anything there is nothing to do.
  const isBehind = work.first !== null && work.position < work.head
  const handed = isBehind && (await handOverNext(ctx, work))
  const replayed = work.replays && (await inTransaction(ctx, replayNext))
  return { more: handed || replayed }
}

async function findWork({ db }: ServiceContext): Promise<Work> {
  const statement = Prisma.sql`
    SELECT f.position::text, n.position::text AS head,
      (SELECT min(position)::text FROM webhook_endpoints WHERE state = 'active') AS first,
      EXISTS (SELECT FROM webhook_endpoints WHERE replay_position IS NOT NULL AND deleted_at IS NULL) AS replays
    FROM webhook_fanout f, event_numbering n`
  const [work] = await queryRows<{ position: string; head: string; first: string | null; replays: boolean }>(db, statement)
  const { position, head, first, replays } = work!
  return { position: BigInt(position), head: BigInt(head), first: first === null ? null : BigInt(first), replays }
}

/**
 * The position moves in the transaction that makes the deliveries: each event is handed over once, whatever becomes of the process. Both
 * happen only where the position is still the one that was found: else another process has handed over, and whoever changes endpoints
 * holds it, see `holdFanOut`.
 *
 * @returns whether there is more.
 */
async function handOverNext(ctx: ServiceContext, { position, head, first }: Work): Promise<boolean> {
  // What no endpoint is told of is passed over: there may be years of it before the first is made.
  const from = first !== null && first > position ? first : position
  const until = smaller(from + AT_ONCE, head)
  const isThere = Prisma.sql`(SELECT position FROM webhook_fanout) = ${position}`
  const active = Prisma.sql`endpoint.state = 'active' AND event.position > endpoint.position AND ${isThere}`
  await sendTogether(ctx.db, [
    Prisma.sql`SELECT position FROM webhook_fanout FOR UPDATE`,
    insertionOfDeliveries(ctx, { from, until }, active, Prisma.sql`DO NOTHING`),
    Prisma.sql`UPDATE webhook_fanout SET position = ${until} WHERE position = ${position}`,
  ])
  return until < head
}

/** One endpoint's. What was delivered, or has failed, is waiting again; what waits for its next attempt waits no longer. */
async function replayNext(ctx: ServiceContext): Promise<boolean> {
  const { db, deps } = ctx
  const [replay] = await db.$queryRaw<{ id: string; position: bigint; until: bigint }[]>`
    SELECT id, replay_position AS position, replay_until AS until FROM webhook_endpoints
    WHERE replay_position IS NOT NULL AND deleted_at IS NULL LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED`
  if (!replay) return false
  const until = smaller(replay.position + AT_ONCE, replay.until)
  const now = deps.clock()
  const again = Prisma.sql`(organization_id, endpoint_id, event_id) DO UPDATE
    SET state = 'waiting', queued_at = ${now}, next_attempt_at = ${now}, attempts_before = delivery.attempt_count`
  const its = Prisma.sql`endpoint.id = ${replay.id}::uuid`
  await db.$executeRaw(insertionOfDeliveries(ctx, { from: replay.position, until }, its, again))
  const isOver = until >= replay.until
  const data = isOver ? { replayPosition: null, replayUntil: null } : { replayPosition: until }
  await db.webhookEndpoint.update({ where: { id: replay.id }, data })
  return true
}

/** SQL. A test event goes to the endpoint that it was made for, see `sendTestEvent`. */
const insertionOfDeliveries = (
  { deps }: ServiceContext,
  { from, until }: { from: bigint; until: bigint },
  endpoints: Prisma.Sql,
  onConflict: Prisma.Sql,
): Prisma.Sql => {
  const now = deps.clock()
  return Prisma.sql`
    INSERT INTO webhook_deliveries AS delivery (organization_id, endpoint_id, event_id, queued_at, next_attempt_at)
    SELECT endpoint.organization_id, endpoint.id, event.id, ${now}, ${now}
    FROM events event JOIN webhook_endpoints endpoint ON endpoint.organization_id = event.organization_id
    WHERE event.position > ${from} AND event.position <= ${until} AND event.type <> ${TEST_EVENT} AND ${endpoints}
      AND endpoint.mode::text IN ('all', event.mode::text)
      AND (cardinality(endpoint.types) = 0 OR event.type = ANY (endpoint.types))
    ON CONFLICT ${onConflict}`
}

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)
