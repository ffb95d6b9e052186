import { unscoped } from '../../db/unscoped.ts'
import { repeatBatch } from '../concurrency/bisect.ts'
import type { ServiceContext } from '../context.ts'
import { DAY_MS } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'

/** No events are numbered during the transaction. */
const EVENTS_AT_ONCE = 2_000

/**
 * Deletes old events in the order of the feed, and stores the last deleted position, so that readers who are behind it get an error instead
 * of a gap.
 */
export async function deleteExpiredEvents(ctx: ServiceContext, keptDays: number): Promise<void> {
  const until = new Date(ctx.deps.clock().getTime() - keptDays * DAY_MS)
  await repeatBatch(EVENTS_AT_ONCE, (atMost) => inTransaction(ctx, (inside) => deleteSome(inside, until, atMost)))
}

/** @returns how many. */
async function deleteSome({ db }: ServiceContext, until: Date, atMost: number): Promise<number> {
  const { deletedUpTo } = await unscoped(db)
    .selectFrom('eventSequence')
    .select('deletedUpTo')
    .forUpdate()
    .executeTakeFirstOrThrow()
  const events = unscoped(db).selectFrom('events').select(['position', 'createdAt']).where('position', '>', deletedUpTo)
  const oldest = await events.orderBy('position').limit(atMost).execute()
  const firstKept = oldest.findIndex(({ createdAt }) => createdAt >= until)
  const last = oldest.at(firstKept < 0 ? -1 : firstKept - 1)?.position
  if (firstKept === 0 || !last) return 0
  await unscoped(db).deleteFrom('events').where('position', '<=', last).execute()
  await unscoped(db).updateTable('eventSequence').set({ deletedUpTo: last }).execute()
  return firstKept < 0 ? oldest.length : firstKept
}
