import underPressure from '@fastify/under-pressure'
import type { FastifyInstance } from 'fastify'
import { HttpError } from './failure.ts'

/** Far beyond what the service needs, and short of what makes it fail. */
const LIMITS = { maxHeapUsedBytes: 1_000_000_000, maxRssBytes: 1_500_000_000 }
const RETRY_AFTER_SECONDS = 10

/** Turns requests away at once while the process can't keep up: better a few 503s than slow answers for all. */
export async function shedLoad(app: FastifyInstance, { maxEventLoopDelay }: { maxEventLoopDelay: number }): Promise<void> {
  await app.register(underPressure, {
    ...LIMITS,
    maxEventLoopDelay,
    pressureHandler: (request) => {
      // Whoever watches the service still gets an answer.
      if (request.url !== '/healthz' && request.url !== '/readyz')
        throw new HttpError('overloaded', { retryAfter: RETRY_AFTER_SECONDS })
    },
  })
}
