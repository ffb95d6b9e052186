import type { FastifyReply } from 'fastify'
import type { Context } from '../../domain/context.ts'

/** Context of a request that is aborted when its client disconnects. */
export type RequestContext = Context & { signal: AbortSignal }

/** Aborts when the client disconnects before its response is sent. Fastify's `request.signal` also aborts when the request's body was read. */
export function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const disconnect = new AbortController()
  const abort = () => {
    if (!raw.writableFinished) disconnect.abort()
  }
  if (raw.destroyed) abort()
  else raw.once('close', abort)
  return disconnect.signal
}
