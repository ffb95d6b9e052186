import { sql } from '../../db/builder.ts'
import { identity } from '../../db/identity.ts'
import { unscoped } from '../../db/unscoped.ts'
import { insertFromSelect } from '../../db/writes.ts'
import type { Connection, ServiceContext } from '../context.ts'
import { inTransaction } from '../transaction.ts'

/**
 * Records the identity of the database. If it differs from the recorded one (a restored backup, or a promoted standby), readers and
 * webhooks may know events that this database lacks, at positions that it would assign again. Positions therefore continue at the current
 * time in milliseconds, which no predecessor can have reached. Cursors in the gap are gone.
 */
export async function detectRestore(ctx: ServiceContext): Promise<void> {
  await inTransaction(ctx, async ({ db, deps: { clock, log } }) => {
    await unscoped(db).selectFrom('eventSequence').select('position').forUpdate().execute()
    const gap = await skipMissingPositions(db, clock().getTime()).executeTakeFirst()
    if (!gap) return
    const [after, until] = [Number(gap.after), Number(gap.until)]
    log.warn(
      { after, until },
      'the database was restored or failed over: the feed continues after a gap, and readers within the gap have to list everything again',
    )
  })
}

function skipMissingPositions(db: Connection, milliseconds: number) {
  const restored = unscoped(db).selectFrom('eventSequence').where('database', '<>', identity).where('position', '>', '0')
  const insertion = insertFromSelect(db, 'missingEventPositions', restored, (eb) => ({
    after: eb.ref('position'),
    until: sql<string>`greatest(${eb.ref('position')} + 1, ${milliseconds}::bigint)`,
  }))
  return unscoped(db)
    .with('gap', () => insertion.returning(['after', 'until']))
    .with('numbering', (cte) =>
      cte.updateTable('eventSequence').set((eb) => {
        const end = eb.selectFrom('gap').select('until')
        return { database: identity, position: eb.fn.coalesce(end, 'position') }
      }),
    )
    .selectFrom('gap')
    .select(['after', 'until'])
}
