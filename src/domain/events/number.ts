import { queryRows, sendTogether } from '../../db/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { ServiceContext } from '../context.ts'

/** Events a transaction: it holds up every other one that numbers, and is far from the time that a statement has. */
const NUMBERED_AT_ONCE = 2_000

/**
 * Gives every committed event its position in the feed. Whoever reads can't miss one: positions have no holes, become visible in their
 * order, and what is committed later is numbered later, however long its transaction took. The lock on the one row of
 * `event_numbering` lets processes take turns; the events are looked at by a statement that begins when it is held, and so sees all
 * that the one before has numbered. Those of one invite are recorded while its row is locked, so the order of insertion is theirs.
 *
 * @returns the highest position given, by whichever process.
 */
export async function numberEvents(ctx: ServiceContext): Promise<bigint> {
  const { head, oldest } = await measureNumbering(ctx)
  if (!oldest) return head
  for (;;) {
    const { numbered, head } = await numberSome(ctx)
    ctx.deps.metrics.eventsNumbered(numbered)
    if (numbered < NUMBERED_AT_ONCE) return head
  }
}

async function numberSome({ db }: ServiceContext): Promise<{ head: bigint; numbered: number }> {
  const hold = Prisma.sql`SELECT position FROM event_numbering FOR UPDATE`
  // What a transaction that deletes an organization holds is skipped: the others' events are not to wait for it.
  const number = Prisma.sql`
    WITH unnumbered AS MATERIALIZED (
      SELECT id, sequence FROM events WHERE position IS NULL ORDER BY sequence LIMIT ${NUMBERED_AT_ONCE} FOR NO KEY UPDATE SKIP LOCKED
    ), numbered AS (
      UPDATE events SET position = next.position
      FROM (
        SELECT unnumbered.id, event_numbering.position + row_number() OVER (ORDER BY sequence) AS position
        FROM unnumbered, event_numbering
      ) next
      WHERE events.id = next.id
      RETURNING 1
    )
    UPDATE event_numbering SET position = position + (SELECT count(*) FROM numbered)
    RETURNING position::text AS head, (SELECT count(*)::int FROM numbered) AS numbered`
  const [batch] = await sendTogether<{ head: string; numbered: number }>(db, [hold, number])
  return { numbered: batch!.numbered, head: BigInt(batch!.head) }
}

/** The highest position given, and since when the event waits that is to be numbered next; null when none waits. */
export async function measureNumbering({ db }: Pick<ServiceContext, 'db'>): Promise<{ head: bigint; oldest: Date | null }> {
  const statement = Prisma.sql`
    SELECT position::text AS head, (SELECT created_at FROM events WHERE position IS NULL ORDER BY sequence LIMIT 1) AS oldest
    FROM event_numbering`
  const [measured] = await queryRows<{ head: string; oldest: Date | null }>(db, statement)
  return { head: BigInt(measured!.head), oldest: measured!.oldest }
}
