import { setTimeout as sleep } from 'node:timers/promises'

export type WakeSignal = {
  /** Wakes the waiting worker, or the next one that waits. */
  wake: () => void
  /** Resolves some time after a wake-up, so that several are handled together, or after `ms`. Doesn't keep the process alive. */
  wait: (ms: number) => Promise<void>
}

/** Wakes a worker before its next scheduled time. @param gatherMs milliseconds within which several signals wake it once. */
export function createWakeSignal(gatherMs: number): WakeSignal {
  let rang = false
  let end = () => {}
  const ringing = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms).unref()
      end = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  return {
    wake() {
      rang = true
      end()
    },
    async wait(ms) {
      if (!rang) await ringing(ms)
      if (rang) await sleep(gatherMs)
      rang = false
    },
  }
}
