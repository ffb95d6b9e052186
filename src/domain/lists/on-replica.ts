import { type Context, enterOrganization } from '../context.ts'

/**
 * Reads from the replica, where the context has one, to spare the primary. Whatever it fails by, the primary has the last word: the
 * replica may be away, cancel the query to go on following, not have yet what is asked for, or be asked to write.
 */
export async function onReplica<T>(ctx: Context, read: (ctx: Context) => Promise<T>): Promise<T> {
  if (!ctx.replica) return read(ctx)
  try {
    const answer = await read(enterOrganization({ ...ctx, db: ctx.replica.db }, ctx.organization, ctx.mode))
    ctx.deps.metrics.replicaRead('replica')
    return answer
  } catch {
    ctx.deps.metrics.replicaRead('primary')
    return read(ctx)
  }
}
