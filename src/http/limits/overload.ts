import type { FastifyInstance, FastifyRequest } from 'fastify'
import { clientOf } from '../addresses/client.ts'
import { HttpError } from '../errors/failure.ts'
import { isHealthCheck } from '../operations/health.ts'

/**
 * A request that waits for its answer.
 *
 * @property since performance.now(). @property source API key, link, or network. @property index position in the array of waiting requests.
 */
type WaitingRequest = { since: number; source: string; index: number }

declare module 'fastify' {
  interface FastifyRequest {
    /** Entry in the queue. A Map keyed by request would be slower: an old, refilled Map keeps past requests out of minor garbage collections. */
    waiting: WaitingRequest | undefined
  }
  interface FastifyContextConfig {
    /** True if the route has its own bounded queue. Its requests don't count towards the overload limit. */
    hasOwnQueue?: boolean
  }
}

/** The process answers this many requests in a fraction of a second, so fewer are no overload. */
const MIN_QUEUE_LENGTH = 100
/** Protects memory: at this length every new request is refused. */
const MAX_QUEUE_LENGTH = 1_000
const RETRY_AFTER_SECONDS = 10

/**
 * Answers 503 at once while requests queue: a few refusals are better than slow answers for everybody. Only the source (API key, link, or
 * network) with the most waiting requests is refused. The measure is the waiting time of requests, not the event loop's delay, which also
 * grows when other processes take the CPU for a moment.
 *
 * @param maxRequestWait milliseconds. The service is overloaded while {@link MIN_QUEUE_LENGTH} requests have waited longer.
 * @param sourceOf API key or link of a request; undefined if it has neither, then its network counts.
 */
export function shedLoad(
  app: FastifyInstance,
  { maxRequestWait }: { maxRequestWait: number },
  sourceOf: (request: FastifyRequest) => string | undefined,
): void {
  const waiting: WaitingRequest[] = []
  const counts = new Map<string, number>()
  const nameOf = (request: FastifyRequest) => sourceOf(request) ?? `network ${clientOf(request).network}`
  const isQueueing = () => {
    if (waiting.length < MIN_QUEUE_LENGTH) return false
    const latestStart = performance.now() - maxRequestWait
    return waiting.filter(({ since }) => since <= latestStart).length >= MIN_QUEUE_LENGTH
  }
  const wouldHaveMost = (source: string) => (counts.get(source) ?? 0) + 1 >= Math.max(...counts.values())
  const enqueue = (source: string): WaitingRequest => {
    const entry = { since: performance.now(), source, index: waiting.length }
    waiting.push(entry)
    counts.set(source, (counts.get(source) ?? 0) + 1)
    return entry
  }
  const dequeue = (entry: WaitingRequest) => {
    if (waiting[entry.index] !== entry) return
    const last = waiting.pop()!
    if (last !== entry) waiting[entry.index] = Object.assign(last, { index: entry.index })
    const remaining = counts.get(entry.source)! - 1
    if (remaining > 0) counts.set(entry.source, remaining)
    else counts.delete(entry.source)
  }
  app.decorateRequest('waiting', undefined)
  app.addHook('onRequest', (request, _reply, done) => {
    const isRefused =
      isQueueing() && !isHealthCheck(request) && (waiting.length >= MAX_QUEUE_LENGTH || wouldHaveMost(nameOf(request)))
    if (isRefused) done(new HttpError('overloaded', { retryAfter: RETRY_AFTER_SECONDS }))
    else done()
  })
  // Waiting begins when the body has arrived: before that, the service waits for the client.
  app.addHook('preValidation', (request, reply, done) => {
    if (!request.routeOptions.config.hasOwnQueue) {
      const entry = enqueue(nameOf(request))
      request.waiting = entry
      reply.raw.once('close', () => dequeue(entry))
    }
    done()
  })
  app.addHook('onSend', (request, _reply, payload, done) => {
    if (request.waiting) dequeue(request.waiting)
    done(null, payload)
  })
}
