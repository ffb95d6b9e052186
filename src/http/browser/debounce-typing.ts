const DELAY_MS = 1_000
const MAX_DELAY_MS = 5_000

/** Calls `act` a second after the last key, and every five seconds during continuous typing. */
export function debounceTyping(act: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let changedAt = 0
  return {
    schedule(): void {
      if (changedAt === 0) changedAt = performance.now()
      clearTimeout(timer)
      timer = setTimeout(act, Math.min(DELAY_MS, Math.max(0, changedAt + MAX_DELAY_MS - performance.now())))
    },
    cancel(): void {
      clearTimeout(timer)
      changedAt = 0
    },
  }
}
