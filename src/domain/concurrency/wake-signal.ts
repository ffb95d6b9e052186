import { setTimeout as sleep } from 'node:timers/promises'

export type WakeSignal = {
  /** Has whoever waits look soon; when nobody waits, the next. */
  wake: () => void
  /** Waits until it rings, and then as long as it may ring again; or, if it does not, the whole time. While it waits it keeps no process alive. */
  wait: (ms: number) => Promise<void>
}

/** Wakes a worker before its next scheduled time. @param gatherMs milliseconds within which several rings wake it once. */
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
