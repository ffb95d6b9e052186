import { Prisma } from '../../generated/prisma/client.ts'
import type { ServiceContext } from '../context.ts'
import { inTransaction } from '../transaction.ts'

/**
 * SQL: which database this is. One that is restored from a dump has another id, or another cluster; one that was wound back, or whose
 * standby took over, another timeline.
 */
const database = Prisma.sql`
  (SELECT oid::text FROM pg_database WHERE datname = current_database()) ||
  CASE WHEN has_function_privilege('pg_control_system()', 'EXECUTE') AND has_function_privilege('pg_control_checkpoint()', 'EXECUTE')
    THEN (SELECT '.' || system_identifier FROM pg_control_system()) || (SELECT '.' || timeline_id FROM pg_control_checkpoint())
    ELSE '' END`

/**
 * Notices that the database is the restored copy of a backup: readers and webhooks may have been told of events that it does not have,
 * under positions that it would give again. It goes on at a position that none of its former selves can have reached, the time in
 * milliseconds; a cursor in between is gone.
 */
export async function noticeRestore(ctx: ServiceContext): Promise<void> {
  const changed = await ctx.db.$queryRaw<object[]>`SELECT FROM event_numbering WHERE database IS DISTINCT FROM ${database}`
  if (changed.length === 0) return
  await inTransaction(ctx, async ({ db, deps: { clock, log } }) => {
    await db.$queryRaw`SELECT position FROM event_numbering FOR UPDATE`
    const [gap] = await db.$queryRaw<{ after: bigint; until: bigint }[]>`
      WITH gap AS (
        INSERT INTO event_gaps (after, until)
        SELECT position, greatest(position + 1, ${clock().getTime()}::bigint) FROM event_numbering
        WHERE database <> ${database} AND position > 0
        RETURNING after, until
      ), numbering AS (
        UPDATE event_numbering SET database = ${database}, position = coalesce((SELECT until FROM gap), position)
      )
      SELECT after, until FROM gap`
    if (!gap) return
    const [after, until] = [Number(gap.after), Number(gap.until)]
    log.warn(
      { after, until },
      'the database has been restored: the feed goes on behind a gap, and readers from within it list everything again',
    )
  })
}
