import { isIPv6 } from 'node:net'
import { LRUCache } from 'lru-cache'
import { HttpError } from './failure.ts'

const WINDOW_MS = 60_000
/** Only the most recent are kept: a few megabytes, however many networks there are. */
const MAX_NETWORKS = 10_000
/** What a proxy calls its client can be as long as a header. */
const MAX_NAME_LENGTH = 50

/**
 * Counts requests with an unknown key by the network they came from: who tries keys, or sends a wrong one again and again, is told to
 * wait. A good key is none of them, whoever else is behind the same address. Each process counts by itself.
 *
 * @param limit unknown keys of a network within a minute of the first.
 * @returns to be called for each of them. @throws HttpError rate_limited, from what is returned.
 */
export function createUnknownKeyLimiter(limit: number): (address: string | undefined) => void {
  const windows = new LRUCache<string, { count: number; endsAt: number }>({ max: MAX_NETWORKS })
  const openWindow = (network: string, now: number) => {
    const window = { count: 0, endsAt: now + WINDOW_MS }
    windows.set(network, window)
    return window
  }
  return (address = '') => {
    const now = Date.now()
    const network = networkOf(address)
    const latest = windows.get(network)
    const window = latest && latest.endsAt > now ? latest : openWindow(network, now)
    window.count++
    if (window.count > limit) throw new HttpError('rate_limited', { retryAfter: Math.ceil((window.endsAt - now) / 1000) })
  }
}

/**
 * Who can be held together: of IPv4 one address, since neighbours in a data centre are strangers; of IPv6 the first 64 bits, since that
 * much is given to one customer, who can take a new address for each request.
 */
function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped) return mapped[1]!
  if (!isIPv6(address)) return address.slice(0, MAX_NAME_LENGTH)
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''))
  const groups = [...head, ...Array(Math.max(0, 8 - head.length - tail.length)).fill('0'), ...tail]
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16))
    .join(':')
}
