import { sql } from '../../../db/builder.ts'
import type { Context } from '../../context.ts'

/** Rows of a list that would be invited without a name. */
export async function countNameless(ctx: Context, batchId: string): Promise<number> {
  const rows = ctx.db
    .selectFrom('inviteBatchRows')
    .where('batchId', '=', batchId)
    .where('state', '=', 'ready')
    .where('name', '=', '')
  return (await rows.select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow()).count
}
