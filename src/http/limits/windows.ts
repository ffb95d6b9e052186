import { LRUCache } from 'lru-cache'
import { HttpError } from '../errors/failure.ts'

const WINDOW_MS = 60_000
/** Only the most recent are kept: a few megabytes, however many there are. */
const MAX_COUNTED = 10_000

/**
 * Counts what somebody does within a minute of the first time. Each process counts by itself.
 *
 * @param readTime milliseconds since 1970.
 * @returns to be called each time, with the limit. @throws HttpError rate_limited beyond it, from what is returned.
 */
export function createWindows(readTime = () => Date.now()): (whose: string, limit: number) => void {
  const windows = new LRUCache<string, { count: number; endsAt: number }>({ max: MAX_COUNTED })
  const openWindow = (whose: string, now: number) => {
    const window = { count: 0, endsAt: now + WINDOW_MS }
    windows.set(whose, window)
    return window
  }
  return (whose, limit) => {
    const now = readTime()
    const latest = windows.get(whose)
    const window = latest && latest.endsAt > now ? latest : openWindow(whose, now)
    window.count++
    if (window.count > limit) throw new HttpError('rate_limited', { retryAfter: Math.ceil((window.endsAt - now) / 1000) })
  }
}
