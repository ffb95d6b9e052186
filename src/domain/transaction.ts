import { type Session, sessionOf } from '../db/client.ts'
import { executeAll, type Query } from '../db/statements.ts'
import { transact } from '../db/transact.ts'
import type { ServiceContext } from './context.ts'

/** The transactions that have recorded events. */
const recording = new WeakSet<Session>()

/**
 * Does the work in a transaction. Inside an open transaction it becomes a savepoint: when it fails, the transaction can go on.
 *
 * @param work does all its reading and writing through the context it is given.
 */
export async function inTransaction<Ctx extends ServiceContext, T>(ctx: Ctx, work: (ctx: Ctx) => Promise<T>): Promise<T> {
  let hasRecorded = false
  const result = await transact(ctx.db, async (db) => {
    const result = await work({ ...ctx, db })
    hasRecorded = recording.has(sessionOf(db))
    return result
  })
  if (hasRecorded) notifySequence(ctx)
  return result
}

/** Does the same by statements that are known beforehand, and record events. */
export async function executeWrites(ctx: ServiceContext, writes: [...Query<unknown>[], Query<unknown>]): Promise<void> {
  await executeAll(ctx.db, writes)
  notifySequence(ctx)
}

function notifySequence({ db, deps }: ServiceContext): void {
  recording.add(sessionOf(db)) // of the part of a transaction, the whole is to tell
  deps.events.recorded()
}

/** Wakes the event sequencer when the open transaction is committed, so that its events are soon in the feed. */
export const notifyAfterCommit = ({ db }: Pick<ServiceContext, 'db'>): void => void recording.add(sessionOf(db))
