import type { FastifyInstance, FastifyRequest } from 'fastify'
import { clientOf } from '../addresses/client.ts'
import { HttpError } from '../errors/failure.ts'
import { isHealthCheck } from '../operations/health.ts'

/**
 * A request that waits for its answer.
 *
 * @property since of performance.now(). @property source who has asked. @property index where it stands among those that wait, in no order.
 */
type Waiting = { since: number; source: string; index: number }

declare module 'fastify' {
  interface FastifyRequest {
    /** Its place in the queue. Not a map's key: one that is old and refilled keeps the requests it has had from the young collector. */
    waiting: Waiting | undefined
  }
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
  const waiting: Waiting[] = []
  const counts = new Map<string, number>()
  const nameOf = (request: FastifyRequest) => sourceOf(request) ?? `network ${clientOf(request).network}`
  const isQueueing = () => {
    if (waiting.length < QUEUE_LENGTH) return false
    const tooLong = performance.now() - maxRequestWait
    return waiting.filter(({ since }) => since <= tooLong).length >= QUEUE_LENGTH
  }
  /** With one more, nobody has more in the queue. */
  const hasMost = (source: string) => (counts.get(source) ?? 0) + 1 >= Math.max(...counts.values())
  const join = (source: string): Waiting => {
    const one = { since: performance.now(), source, index: waiting.length }
    waiting.push(one)
    counts.set(source, (counts.get(source) ?? 0) + 1)
    return one
  }
  const leave = (one: Waiting) => {
    if (waiting[one.index] !== one) return
    const last = waiting.pop()!
    if (last !== one) waiting[one.index] = Object.assign(last, { index: one.index })
    const left = counts.get(one.source)! - 1
    if (left > 0) counts.set(one.source, left)
    else counts.delete(one.source)
  }
  app.decorateRequest('waiting', undefined)
  app.addHook('onRequest', (request, _reply, done) => {
    // Whoever watches the service still gets an answer.
    const isRefused = isQueueing() && !isHealthCheck(request) && (waiting.length >= LONGEST_QUEUE || hasMost(nameOf(request)))
    if (isRefused) done(new HttpError('overloaded', { retryAfter: RETRY_AFTER_SECONDS }))
    else done()
  })
  // When the body is there: until then it is we who wait, for the client.
  app.addHook('preValidation', (request, reply, done) => {
    if (!request.routeOptions.config.hasOwnLine) {
      const one = join(nameOf(request))
      request.waiting = one
      reply.raw.once('close', () => leave(one))
    }
    done()
  })
  app.addHook('onSend', (request, _reply, payload, done) => {
    if (request.waiting) leave(request.waiting)
    done(null, payload)
  })
}
