import { createLruCache } from '../../domain/concurrency/lru-cache.ts'
import { HttpError } from '../errors/failure.ts'

const WINDOW_MS = 60_000
/** Keeps memory at a few megabytes: the least recently used windows are dropped. */
const MAX_WINDOWS = 10_000

/**
 * Fixed windows of one minute. A window opens with the first call for a key. Each process counts by itself.
 *
 * @param readTime milliseconds since 1970.
 * @returns a function that counts one call for a key. It throws HttpError rate_limited above the limit.
 */
export function createRequestCounter(readTime = () => Date.now()): (key: string, limit: number) => void {
  const windows = createLruCache<{ count: number; endsAt: number }>(MAX_WINDOWS)
  const openWindow = (key: string, now: number) => {
    const window = { count: 0, endsAt: now + WINDOW_MS }
    windows.set(key, window)
    return window
  }
  return (key, limit) => {
    const now = readTime()
    const latest = windows.get(key)
    const window = latest && latest.endsAt > now ? latest : openWindow(key, now)
    window.count++
    if (window.count > limit) throw new HttpError('rate_limited', { retryAfter: Math.ceil((window.endsAt - now) / 1000) })
  }
}
