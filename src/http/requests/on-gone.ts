import type { FastifyReply } from 'fastify'
import type { Context, OnGone } from '../../domain/context.ts'

/** Context of a request that can report when its client disconnects. */
export type RequestContext = Context & { onGone: OnGone }

/** Calls a function when the connection closes, at once if it is closed already. */
export const onGone =
  ({ raw }: FastifyReply): OnGone =>
  (notify) => {
    if (raw.destroyed) notify()
    raw.once('close', notify)
    return () => void raw.off('close', notify)
  }
