import type { FastifyInstance, FastifyRequest } from 'fastify'
import { HttpError } from './failure.ts'
import { isHealthCheck } from './health.ts'

/** So many requests at a time are answered in a fraction of a second: fewer are no queue, however long one of them takes. */
const QUEUE_LENGTH = 100
const RETRY_AFTER_SECONDS = 10

/**
 * Turns requests away at once while others queue: better a few 503s than slow answers for all. It is the requests that tell, not the
 * process: one that was held up for a moment by its neighbours has no queue when it goes on.
 *
 * @param maxRequestWait milliseconds that the longest waiting {@link QUEUE_LENGTH} requests may have waited for their answers.
 */
export function shedLoad(app: FastifyInstance, { maxRequestWait }: { maxRequestWait: number }): void {
  /** The requests that wait for their answers, the first first, and since when. */
  const waiting = new Map<FastifyRequest, number>()
  const isQueueing = () => {
    if (waiting.size < QUEUE_LENGTH) return false
    const tooLong = performance.now() - maxRequestWait
    let length = 0
    for (const since of waiting.values()) {
      if (since > tooLong) return false
      if (++length === QUEUE_LENGTH) return true
    }
    return false
  }
  app.addHook('onRequest', (request, _reply, done) => {
    // Whoever watches the service still gets an answer.
    if (isQueueing() && !isHealthCheck(request)) done(new HttpError('overloaded', { retryAfter: RETRY_AFTER_SECONDS }))
    else done()
  })
  // When the body is there: until then it is we who wait, for the client.
  app.addHook('preValidation', (request, _reply, done) => {
    waiting.set(request, performance.now())
    done()
  })
  app.addHook('onSend', (request, _reply, payload, done) => {
    waiting.delete(request)
    done(null, payload)
  })
}
