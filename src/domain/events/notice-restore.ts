import { sql } from '../../db/builder.ts'
import { everyones } from '../../db/everyone.ts'
import { first, run } from '../../db/statements.ts'
import { insertForEach } from '../../db/writes.ts'
import type { ServiceContext } from '../context.ts'
import { inTransaction } from '../transaction.ts'

/**
 * Which database this is. One that is restored from a dump has another id, or another cluster; one that was wound back, or whose
 * standby took over, another timeline.
 */
const database = sql<string>`
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
  const changed = everyones.selectFrom('eventNumbering').select('id').where('database', 'is distinct from', database)
  if (!(await first(ctx.db, changed))) return
  await inTransaction(ctx, async ({ db, deps: { clock, log } }) => {
    await run(db, everyones.selectFrom('eventNumbering').select('position').forUpdate())
    const gap = await first(db, goOnBehindGap(clock().getTime()))
    if (!gap) return
    const [after, until] = [Number(gap.after), Number(gap.until)]
    log.warn(
      { after, until },
      'the database has been restored: the feed goes on behind a gap, and readers from within it list everything again',
    )
  })
}

function goOnBehindGap(milliseconds: number) {
  const restored = everyones.selectFrom('eventNumbering').where('database', '<>', database).where('position', '>', '0')
  const insertion = insertForEach('eventGaps', restored, (eb) => ({
    after: eb.ref('position'),
    until: sql<string>`greatest(${eb.ref('position')} + 1, ${milliseconds}::bigint)`,
  }))
  return everyones
    .with('gap', () => insertion.returning(['after', 'until']))
    .with('numbering', (db) =>
      db.updateTable('eventNumbering').set((eb) => {
        const end = eb.selectFrom('gap').select('until')
        return { database, position: eb.fn.coalesce(end, 'position') }
      }),
    )
    .selectFrom('gap')
    .select(['after', 'until'])
}
