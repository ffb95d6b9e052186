import { createLruCache } from '../domain/concurrency/lru-cache.ts'
import type { AttemptResult } from '../domain/webhooks/delivery-attempts.ts'

/** Most concurrent deliveries to one endpoint, per process. */
const MAX_CONCURRENCY = 32
/** Milliseconds of a response above which more concurrency would only slow the endpoint down. */
const SLOW_MS = 2_000
/** Endpoints whose concurrency is remembered. */
const MAX_REMEMBERED = 10_000

/**
 * Limits concurrent deliveries per endpoint: one more after each fast success, half after a failure or slow success, never below `least`.
 * (domain/webhooks/delivery-attempts.ts lowers it further for failing endpoints.)
 */
export function createConcurrency(least: number) {
  const known = createLruCache<number>(MAX_REMEMBERED)
  const limitOf = (endpointId: string): number => known.get(endpointId) ?? least
  return {
    of: limitOf,
    record(endpointId: string, { answer, milliseconds }: Pick<AttemptResult, 'answer' | 'milliseconds'>): void {
      const isWell = 'status' in answer && answer.status >= 200 && answer.status < 300 && milliseconds <= SLOW_MS
      const next = isWell
        ? Math.min(limitOf(endpointId) + 1, Math.max(MAX_CONCURRENCY, least))
        : Math.max(Math.floor(limitOf(endpointId) / 2), least)
      if (next === least) known.delete(endpointId)
      else known.set(endpointId, next)
    },
  }
}

export type Concurrency = ReturnType<typeof createConcurrency>
