import type { Expression } from '../../db/queries.ts'
import { timestamp } from '../../db/writes.ts'
import type { Context } from '../context.ts'

/** Until the end of the transaction nobody else changes the version, or corrects its key. */
export async function lockVersion(ctx: Pick<Context, 'db' | 'organization'>, id: string): Promise<void> {
  await ctx.db.selectFrom('questionVersions').select('id').where('id', '=', id).forNoKeyUpdate().execute()
}

/**
 * From now on these versions stay as they are: somebody is asked them, or more than one question has them. Those that are sealed already
 * are left alone, so that the starts of many candidates do not wait for each other; one that somebody is changing is waited for.
 *
 * @param ids a query of their ids; null stands for none.
 */
export async function sealVersions(ctx: Pick<Context, 'db' | 'organization' | 'deps'>, ids: Expression<unknown>): Promise<void> {
  const seal = ctx.db
    .updateTable('questionVersions')
    .where('questionVersions.lockedAt', 'is', null)
    .where(({ eb, ref }) => eb(ref('questionVersions.id'), 'in', ids as Expression<string>))
    .set({ lockedAt: timestamp(ctx.deps.clock()) })
  await seal.execute()
}
