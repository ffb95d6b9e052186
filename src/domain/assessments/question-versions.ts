import type { Expression } from '../../db/queries.ts'
import { timestamp } from '../../db/writes.ts'
import type { Context } from '../context.ts'

/** Locks the version and its keys until the end of the transaction. */
export async function lockVersion(ctx: Pick<Context, 'db' | 'organization'>, id: string): Promise<void> {
  await ctx.db.selectFrom('questionVersions').select('id').where('id', '=', id).forNoKeyUpdate().execute()
}

/**
 * Seals versions that are in use, so that they never change again. Sealed versions are not locked, so that concurrent starts don't wait for
 * each other. A version that is being changed is waited for.
 *
 * @param ids query of their ids; null values are ignored.
 */
export async function sealVersions(ctx: Pick<Context, 'db' | 'organization' | 'deps'>, ids: Expression<unknown>): Promise<void> {
  const seal = ctx.db
    .updateTable('questionVersions')
    .where('questionVersions.lockedAt', 'is', null)
    .where(({ eb, ref }) => eb(ref('questionVersions.id'), 'in', ids as Expression<string>))
    .set({ lockedAt: timestamp(ctx.deps.clock()) })
  await seal.execute()
}
