import { type Context, enterOrganization } from '../context.ts'

/**
 * Reads from the replica if the context has one. Any error repeats the read on the primary: the replica may be away, cancel the query, lag,
 * or refuse a write.
 */
export async function onReplica<T>(ctx: Context, readFrom: (ctx: Context) => Promise<T>): Promise<T> {
  if (!ctx.replica) return readFrom(ctx)
  try {
    const answer = await readFrom(enterOrganization({ ...ctx, db: ctx.replica.db }, ctx.organization, ctx.mode))
    ctx.deps.metrics.replicaRead('replica')
    return answer
  } catch {
    ctx.deps.metrics.replicaRead('primary')
    return readFrom(ctx)
  }
}
