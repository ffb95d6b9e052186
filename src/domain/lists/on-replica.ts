import { type Context, enterOrganization } from '../context.ts'

/**
 * Reads from the replica if the context has one. Any error repeats the read on the primary: the replica may be away, cancel the query, lag,
 * or refuse a write.
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
