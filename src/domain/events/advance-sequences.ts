import { sql } from '../../db/builder.ts'
import { unscoped } from '../../db/unscoped.ts'
import type { ServiceContext } from '../context.ts'
import { inTransaction } from '../transaction.ts'

/**
 * Moves the ends of the feeds past those of another installation, so that its cursors are before everything that is imported from it.
 *
 * @param ends ends of the feeds there. Positions of events can't be later than the time in milliseconds, to which a restore moves them.
 * @returns the end of the feed of events. @throws Error for impossible ends.
 */
export function advanceSequences(ctx: ServiceContext, ends: { events: number; audit: number }): Promise<number> {
  const latest = ctx.deps.clock().getTime()
  if (Math.max(ends.events, ends.audit) > latest) throw new Error('The ends of the feeds are impossible.')
  return inTransaction(ctx, async ({ db }) => {
    const audit = unscoped(db).updateTable('auditSequence')
    await audit.set(({ ref }) => ({ position: sql<string>`greatest(${ref('position')}, ${ends.audit}::bigint)` })).execute()
    const events = unscoped(db).updateTable('eventSequence')
    const moved = events.set(({ ref }) => ({ position: sql<string>`greatest(${ref('position')}, ${ends.events}::bigint) + 1` }))
    return Number((await moved.returning('position').executeTakeFirstOrThrow()).position)
  })
}
