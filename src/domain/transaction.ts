import type { Connection } from '../db/client.ts'
import type { ServiceContext } from './context.ts'

/** The transactions that have recorded events. */
const recording = new WeakSet<Connection>()

/**
 * Does the work in a transaction. Inside an open transaction it becomes a savepoint: when it fails, the transaction can go on.
 *
 * @param work does all its reading and writing through the context it is given.
 */
export async function inTransaction<Ctx extends ServiceContext, T>(ctx: Ctx, work: (ctx: Ctx) => Promise<T>): Promise<T> {
  let hasRecorded = false
  const result = await ctx.db.$transaction(async (db) => {
    const result = await work({ ...ctx, db })
    hasRecorded = recording.has(db)
    return result
  })
  if (hasRecorded) {
    recording.add(ctx.db) // of the part of a transaction, the whole is to tell
    ctx.deps.events.recorded()
  }
  return result
}

/** Has the numbering of events told when the open transaction is committed, so that what it recorded is soon in the feed. */
export const tellAfterCommit = ({ db }: Pick<ServiceContext, 'db'>): void => void recording.add(db)
