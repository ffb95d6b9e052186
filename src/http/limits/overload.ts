import type { FastifyInstance, FastifyRequest } from 'fastify'
import { clientOf } from '../addresses/client.ts'
import { HttpError } from '../errors/failure.ts'
import { isHealthCheck } from '../operations/health.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether its requests wait in a line of their own that has an end: how many do says nothing of the service. */
    hasOwnLine?: boolean
  }
}

/** So many requests at a time are answered in a fraction of a second: fewer are no queue, however long one of them takes. */
const QUEUE_LENGTH = 100
/** More than that nobody's request is taken in besides: the process has no memory for any number of them. */
const LONGEST_QUEUE = 1_000
const RETRY_AFTER_SECONDS = 10

/**
 * Turns requests away at once while others queue: better a few 503s than slow answers for all. They are those of whoever has most in the
 * queue, be it a key, a link or a network: beside them others are answered. It is the requests that tell, not the process: one that was
 * held up for a moment by its neighbours has no queue when it goes on.
 *
 * @param maxRequestWait milliseconds that the longest waiting {@link QUEUE_LENGTH} requests may have waited for their answers.
 * @param sourceOf the key or link of a request, by which those of one network are told apart; undefined where it has none.
 */
export function shedLoad(
  app: FastifyInstance,
  { maxRequestWait }: { maxRequestWait: number },
  sourceOf: (request: FastifyRequest) => string | undefined,
): void {
  /** The requests that wait for their answers, the first first: since when, and whose. */
  const waiting = new Map<FastifyRequest, { since: number; source: string }>()
  const counts = new Map<string, number>()
  const nameOf = (request: FastifyRequest) => sourceOf(request) ?? `network ${clientOf(request).network}`
  const isQueueing = () => {
    if (waiting.size < QUEUE_LENGTH) return false
    const tooLong = performance.now() - maxRequestWait
    let length = 0
    for (const { since } of waiting.values()) {
      if (since > tooLong) return false
      if (++length === QUEUE_LENGTH) return true
    }
    return false
  }
  /** With one more, nobody has more in the queue. */
  const hasMost = (source: string) => (counts.get(source) ?? 0) + 1 >= Math.max(...counts.values())
  const leave = (request: FastifyRequest) => {
    const source = waiting.get(request)?.source
    if (source === undefined) return
    waiting.delete(request)
    const left = counts.get(source)! - 1
    if (left > 0) counts.set(source, left)
    else counts.delete(source)
  }
  app.addHook('onRequest', (request, _reply, done) => {
    // Whoever watches the service still gets an answer.
    const isRefused = isQueueing() && !isHealthCheck(request) && (waiting.size >= LONGEST_QUEUE || hasMost(nameOf(request)))
    if (isRefused) done(new HttpError('overloaded', { retryAfter: RETRY_AFTER_SECONDS }))
    else done()
  })
  // When the body is there: until then it is we who wait, for the client.
  app.addHook('preValidation', (request, reply, done) => {
    if (!request.routeOptions.config.hasOwnLine) {
      const source = nameOf(request)
      waiting.set(request, { since: performance.now(), source })
      counts.set(source, (counts.get(source) ?? 0) + 1)
      reply.raw.once('close', () => leave(request))
    }
    done()
  })
  app.addHook('onSend', (request, _reply, payload, done) => {
    leave(request)
    done(null, payload)
  })
}
