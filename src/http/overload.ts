import underPressure from '@fastify/under-pressure'
import type { FastifyInstance } from 'fastify'
import { HttpError } from './failure.ts'

/** Far beyond what the service needs, and short of what makes it fail. */
const LIMITS = { maxHeapUsedBytes: 1_000_000_000, maxRssBytes: 1_500_000_000 }
const RETRY_AFTER_SECONDS = 10
/** How often the delay is measured. A process that was held up for all of that time has no measurement, which is given as infinity. */
const MEASURED_EVERY_MS = 1_000
/** The start itself holds a process up. */
const STARTING_MS = 10_000

/** Turns requests away at once while the process can't keep up: better a few 503s than slow answers for all. */
export async function shedLoad(app: FastifyInstance, { maxEventLoopDelay }: { maxEventLoopDelay: number }): Promise<void> {
  const begun = performance.now()
  const countsWhenUnmeasured = () => maxEventLoopDelay <= MEASURED_EVERY_MS && performance.now() - begun > STARTING_MS
  await app.register(underPressure, {
    ...LIMITS,
    sampleInterval: MEASURED_EVERY_MS,
    maxEventLoopDelay,
    pressureHandler: (request, _reply, _type, value) => {
      if (value === Number.POSITIVE_INFINITY && !countsWhenUnmeasured()) return
      // Whoever watches the service still gets an answer.
      if (request.url !== '/healthz' && request.url !== '/readyz')
        throw new HttpError('overloaded', { retryAfter: RETRY_AFTER_SECONDS })
    },
  })
}
