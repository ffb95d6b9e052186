import { coalesce } from '../domain/work/coalesce.ts'

type Watching = { trustedForMs: number; onFailure: (err: unknown) => void; onRecovery: () => void }

/** Wraps a readiness check: a success is valid for a while, concurrent callers share one run, and each failure and recovery is reported once. */
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
