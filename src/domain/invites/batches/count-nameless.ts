import { sql } from '../../../db/builder.ts'
import { own } from '../../../db/own.ts'
import { one } from '../../../db/statements.ts'
import type { Context } from '../../context.ts'

/** Rows of a list that would be invited without a name. */
export async function countNameless(ctx: Context, batchId: string): Promise<number> {
  const rows = own(ctx, 'inviteBatchRows').where('batchId', '=', batchId).where('state', '=', 'ready').where('name', '=', '')
  return (await one(ctx.db, rows.select(sql<number>`count(*)::int`.as('count')))).count
}
