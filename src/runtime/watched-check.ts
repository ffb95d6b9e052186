import { singleFlight } from '../domain/concurrency/single-flight.ts'

type WatchOptions = { trustedForMs: number; onFailure: (err: unknown) => void; onRecovery: () => void }

/** Wraps a readiness check: a success is valid for a while, concurrent callers share one run, and each failure and recovery is reported once. */
export function createWatchedCheck(check: () => Promise<unknown>, { trustedForMs, onFailure, onRecovery }: WatchOptions) {
  let healthyAt = Number.NEGATIVE_INFINITY
  let isHealthy = true
  return singleFlight(async () => {
    if (performance.now() - healthyAt < trustedForMs) return
    try {
      await check()
    } catch (err) {
      if (isHealthy) onFailure(err)
      isHealthy = false
      throw err
    }
    if (!isHealthy) onRecovery()
    isHealthy = true
    healthyAt = performance.now()
  })
}
