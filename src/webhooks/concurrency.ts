import { LRUCache } from 'lru-cache'
import type { AttemptResult } from '../domain/webhooks/record-attempt.ts'

/** Deliveries to one endpoint at a time, of one process, however well it answers. */
const MOST = 32
/** Milliseconds for an answer, above which more at a time would only make it slower. */
const SLOW_MS = 2_000
/** Of so many endpoints it is known how they answer; of others, as of those never asked. */
const KNOWN_ENDPOINTS = 10_000

/**
 * How many deliveries to an endpoint may be under way: one more after each that is taken in time, half as many after one that is not, and
 * never less than `least`. (Of one that fails they are fewer, see domain/webhooks/record-attempt.ts.)
 */
export function createConcurrency(least: number) {
  const known = new LRUCache<string, number>({ max: KNOWN_ENDPOINTS })
  const of = (endpointId: string): number => known.get(endpointId) ?? least
  return {
    of,
    note(endpointId: string, { answer, milliseconds }: Pick<AttemptResult, 'answer' | 'milliseconds'>): void {
      const isWell = 'status' in answer && answer.status >= 200 && answer.status < 300 && milliseconds <= SLOW_MS
      const next = isWell ? Math.min(of(endpointId) + 1, Math.max(MOST, least)) : Math.max(Math.floor(of(endpointId) / 2), least)
      if (next === least) known.delete(endpointId)
      else known.set(endpointId, next)
    },
  }
}

export type Concurrency = ReturnType<typeof createConcurrency>
