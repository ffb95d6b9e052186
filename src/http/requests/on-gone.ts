import type { FastifyReply } from 'fastify'
import type { Context, OnGone } from '../../domain/context.ts'

/** The context of a request: of each it is known when nobody waits for its answer any more. */
export type RequestContext = Context & { onGone: OnGone }

/** The connection is closed before the answer is whole. */
export const onGone =
  ({ raw }: FastifyReply): OnGone =>
  (tell) => {
    if (raw.destroyed) tell()
    raw.once('close', tell)
    return () => void raw.off('close', tell)
  }
