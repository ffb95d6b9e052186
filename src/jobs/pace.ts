/** So many times as many as have a place may be under way. */
const UNDER_WAY = 4
/** Milliseconds: after a server wanted fewer mails, until the next is tried; how far this doubles; and from when on it is an outage. */
const EASE_MS = 1_000
const EASE_LONGEST_MS = 30_000
const EASED_TOO_LONG_MS = 300_000
/** Milliseconds after which a server that wanted fewer is tried with one more at a time. */
const WIDEN_AFTER_MS = 60_000

export type Pace = {
  /** Whether one more may begin beside those that have a place, and those that are under way in all, the ones that take long among them. */
  hasRoom: (places: number, underWay: number) => boolean
  /** Milliseconds until the next may begin. At 0 it is taken for begun. */
  pauseBeforeNext: () => number
  /** The server has taken a mail: twice as many at a time, as far as it goes. */
  widen: () => void
  /**
   * The server wants fewer mails at a time, or a minute: half as many, after a pause that doubles until one is taken.
   *
   * @returns `known` where several were told so at once; `tooLong` when it has taken none for minutes; `atOnce` when it begins.
   */
  easeOff: (underWay: number) => { told: 'known' | 'tooLong' | 'again' } | { told: 'first'; atOnce: number }
  /** One at a time from now on: the server takes none. */
  narrow: () => void
  /** The server takes mails again. */
  resume: () => void
}

/**
 * How fast mails go to the mail server: one at first, then as many at a time as it takes, and fewer where it asks for fewer.
 *
 * @param widest mails at a time, at most. @param perMinute 0: as many as go.
 */
export function createPace(widest: number, perMinute: number): Pace {
  let width = 1
  let ceiling = widest
  let ease = { ms: 0, until: -Infinity, since: Infinity, widenAt: Infinity }
  let nextStart = -Infinity
  return {
    // A server that takes long over some may take others meanwhile: only one that has asked for fewer is held to them.
    hasRoom: (places, underWay) => places < width && underWay < (ceiling < widest ? ceiling : widest * UNDER_WAY),
    pauseBeforeNext() {
      const now = performance.now()
      const pause = Math.max(ease.until, nextStart) - now
      if (pause > 0) return pause
      nextStart = perMinute > 0 ? now + 60_000 / perMinute : -Infinity
      return 0
    },
    widen() {
      const now = performance.now()
      if (now >= ease.widenAt && ceiling < widest) {
        ceiling++
        ease.widenAt = now + WIDEN_AFTER_MS
      }
      ease = { ...ease, ms: 0, since: Infinity }
      width = Math.min(width * 2, ceiling)
    },
    easeOff(underWay) {
      const now = performance.now()
      if (now < ease.until) return { told: 'known' }
      const since = Math.min(ease.since, now)
      if (now - since > EASED_TOO_LONG_MS) return { told: 'tooLong' }
      const isFirst = ease.ms === 0
      if (isFirst) ceiling = Math.max(1, Math.floor(Math.min(width, underWay) / 2))
      const ms = isFirst ? EASE_MS : Math.min(ease.ms * 2, EASE_LONGEST_MS)
      ease = { ms, since, until: now + ms, widenAt: now + WIDEN_AFTER_MS }
      width = 1
      return isFirst ? { told: 'first', atOnce: ceiling } : { told: 'again' }
    },
    narrow() {
      width = 1
    },
    resume() {
      ease = { ms: 0, until: -Infinity, since: Infinity, widenAt: ease.widenAt }
    },
  }
}
