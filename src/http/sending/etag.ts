import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifySchema {
    /** Answers have an ETag, and `If-None-Match` is honored (304). */
    hasEtag?: boolean
  }
}

/** Base64url characters of a hash: 132 bits. */
const HASH_LENGTH = 22

/**
 * Adds ETags to routes with `hasEtag`, and answers 304 when `If-None-Match` matches (RFC 9110, section 13.1.2). The ETag is a hash of the
 * body, so a 304 costs the same queries. It is weak, because the compressed answer has the same.
 */
export function addEtags(app: FastifyInstance): void {
  // Runs before the compression, which is a hook of each route, too.
  app.addHook('onRoute', (route) => {
    if (route.schema?.hasEtag) route.onSend = [tagAnswer, ...[route.onSend ?? []].flat()]
  })
}

type Done = (error: null, payload?: unknown) => void

function tagAnswer(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done): void {
  if (reply.statusCode !== 200 || typeof payload !== 'string') {
    done(null, payload)
    return
  }
  const opaque = `"${hash('sha256', payload, 'base64url').slice(0, HASH_LENGTH)}"`
  reply.headers({ etag: `W/${opaque}`, vary: 'accept-encoding' })
  if (!matchesIfNoneMatch(request, opaque)) {
    done(null, payload)
    return
  }
  reply.code(304)
  // Fastify removes the body of HEAD later, after it has set the length.
  if (request.method === 'HEAD') {
    done(null, payload)
    return
  }
  reply.removeHeader('content-type').removeHeader('content-length')
  done(null, null)
}

/** True if `If-None-Match` is `*` or has this tag, weak or strong. A substring search is enough: no other tag can contain this one. */
export function matchesIfNoneMatch({ headers }: FastifyRequest, opaque: string): boolean {
  const condition = headers['if-none-match']
  return condition !== undefined && (condition.trim() === '*' || condition.includes(opaque))
}
