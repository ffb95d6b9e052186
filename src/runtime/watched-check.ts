import { coalesce } from '../domain/concurrency/coalesce.ts'

type Watching = { trustedForMs: number; onFailure: (err: unknown) => void; onRecovery: () => void }

/**
 * A check of readiness whose success is trusted for a while, and whose callers share one answer. It reports each failure and each recovery
 * once.
 *
 * @returns rejects with what the check rejects with.
 */
export function createWatchedCheck(check: () => Promise<unknown>, { trustedForMs, onFailure, onRecovery }: Watching) {
  let wellAt = Number.NEGATIVE_INFINITY
  let isWell = true
  return coalesce(async () => {
    if (performance.now() - wellAt < trustedForMs) return
    try {
      await check()
    } catch (err) {
      if (isWell) onFailure(err)
      isWell = false
      throw err
    }
    if (!isWell) onRecovery()
    isWell = true
    wellAt = performance.now()
  })
}
