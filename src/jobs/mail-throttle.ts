/** Slow mails don't count towards the width, but at most width × this many mails are in progress. */
const SLOW_FACTOR = 4
/** Milliseconds: the pause after throttling, its limit when doubling, and the time after which throttling counts as an outage. */
const PAUSE_MS = 1_000
const MAX_PAUSE_MS = 30_000
const OUTAGE_AFTER_MS = 300_000
/** Milliseconds after throttling until one more mail at a time is tried. */
const WIDEN_AFTER_MS = 60_000

export type MailThrottle = {
  /** True if another mail may start. @param places mails that count towards the width. @param pending all mails in progress, slow ones included. */
  hasRoom: (places: number, underWay: number) => boolean
  /** Milliseconds until the next mail may start. 0 counts the mail as started. */
  pauseBeforeNext: () => number
  /** Doubles the width up to the limit, after an accepted mail. */
  widen: () => void
  /**
   * Halves the limit after a throttled mail, and pauses. The pause doubles until a mail is accepted.
   *
   * @returns `known` during a pause; `tooLong` after minutes without an accepted mail; `first` with the new limit when throttling begins.
   */
  reduce: (underWay: number) => { kind: 'known' | 'tooLong' | 'again' } | { kind: 'first'; atOnce: number }
  /** Falls back to one mail at a time, because the server takes none. */
  narrow: () => void
  resume: () => void
}

/**
 * Controls how fast mails go to the mail server: one at first, then as many at a time as it takes, fewer when it throttles.
 *
 * @param maxWidth most mails at a time. @param perMinute 0: unlimited.
 */
export function createMailThrottle(maxWidth: number, perMinute: number): MailThrottle {
  let width = 1
  let currentLimit = maxWidth
  let throttling = { ms: 0, until: -Infinity, since: Infinity, widenAt: Infinity }
  let nextStart = -Infinity
  return {
    // Slow mails don't block others, unless the server has throttled: then all mails in progress count.
    hasRoom: (places, underWay) => places < width && underWay < (currentLimit < maxWidth ? currentLimit : maxWidth * SLOW_FACTOR),
    pauseBeforeNext() {
      const now = performance.now()
      const pause = Math.max(throttling.until, nextStart) - now
      if (pause > 0) return pause
      nextStart = perMinute > 0 ? now + 60_000 / perMinute : -Infinity
      return 0
    },
    widen() {
      const now = performance.now()
      if (now >= throttling.widenAt && currentLimit < maxWidth) {
        currentLimit++
        throttling.widenAt = now + WIDEN_AFTER_MS
      }
      throttling = { ...throttling, ms: 0, since: Infinity }
      width = Math.min(width * 2, currentLimit)
    },
    reduce(underWay) {
      const now = performance.now()
      if (now < throttling.until) return { kind: 'known' }
      const throttledSince = Math.min(throttling.since, now)
      if (now - throttledSince > OUTAGE_AFTER_MS) return { kind: 'tooLong' }
      const isFirst = throttling.ms === 0
      if (isFirst) currentLimit = Math.max(1, Math.floor(Math.min(width, underWay) / 2))
      const ms = isFirst ? PAUSE_MS : Math.min(throttling.ms * 2, MAX_PAUSE_MS)
      throttling = { ms, since: throttledSince, until: now + ms, widenAt: now + WIDEN_AFTER_MS }
      width = 1
      return isFirst ? { kind: 'first', atOnce: currentLimit } : { kind: 'again' }
    },
    narrow() {
      width = 1
    },
    resume() {
      throttling = { ms: 0, until: -Infinity, since: Infinity, widenAt: throttling.widenAt }
    },
  }
}
