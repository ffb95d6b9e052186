const AFTER_LAST_KEY_MS = 1_000
const AT_LEAST_EVERY_MS = 5_000

/** Acts a moment after the last key, and every few seconds while somebody types on. */
export function actWhileTyping(act: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let changedAt = 0
  return {
    /** Something was typed. */
    changed(): void {
      if (changedAt === 0) changedAt = performance.now()
      clearTimeout(timer)
      timer = setTimeout(act, Math.min(AFTER_LAST_KEY_MS, Math.max(0, changedAt + AT_LEAST_EVERY_MS - performance.now())))
    },
    /** It is being acted on, or is not going to be. */
    done(): void {
      clearTimeout(timer)
      changedAt = 0
    },
  }
}
