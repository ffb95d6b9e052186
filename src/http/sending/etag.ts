import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifySchema {
    /** A read of one thing: its answers have an ETag, and who has the newest already is told so (304). */
    hasEtag?: boolean
  }
}

/** As many characters of a hash as nobody meets twice: 132 bits. */
const LENGTH = 22

/**
 * Has reads that ask for it say by an ETag which answer this is, and sends nobody an answer that they have already (RFC 9110, section
 * 13.1.2). It is made of the body, so it costs the same queries as the answer. It is weak, because compressed or not it is the same.
 */
export function sendEtags(app: FastifyInstance): void {
  // Before the compression, which is of each route as well.
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
  const opaque = `"${hash('sha256', payload, 'base64url').slice(0, LENGTH)}"`
  reply.headers({ etag: `W/${opaque}`, vary: 'accept-encoding' })
  if (!isKnown(request, opaque)) {
    done(null, payload)
    return
  }
  reply.code(304)
  // For HEAD the body is taken away later, by what tells its length.
  if (request.method === 'HEAD') {
    done(null, payload)
    return
  }
  reply.removeHeader('content-type').removeHeader('content-length')
  done(null, null)
}

/** Whether the client has it: `*` is whatever there is. Weak and strong are compared alike, and no other tag can hold all of this one. */
export function isKnown({ headers }: FastifyRequest, opaque: string): boolean {
  const asked = headers['if-none-match']
  return asked !== undefined && (asked.trim() === '*' || asked.includes(opaque))
}
