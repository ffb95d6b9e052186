import { listenForNotifications } from '../../db/notifications.ts'
import { createLruCache } from '../concurrency/lru-cache.ts'
import type { ApiKeyCache, CachedApiKey } from '../ports/api-key-cache.ts'
import type { Log } from '../ports/log-events.ts'

/** For processes that authenticate too rarely to need a cache. */
export const noApiKeyCache: ApiKeyCache = { get: () => undefined, load: (_, load) => load(), empty: () => {} }

/** Notified by triggers whenever a key or its organization changes. */
const CHANNEL = 'api_keys_changed'
const MAX_KEYS = 10_000

/**
 * Caches API keys, so that most requests need no query. A change of a key or an organization in any process empties the cache. It stays
 * empty while notifications are interrupted.
 */
export function createApiKeyCache(url: string, log: Log): { cache: ApiKeyCache; close: () => Promise<void> } {
  const entries = createLruCache<CachedApiKey>(MAX_KEYS)
  /** Lookups in progress. A burst of requests with one key shares one: a query for each would exhaust the connection pool. */
  const loading = new Map<string, Promise<CachedApiKey | null>>()
  let listening = false
  let generation = 0
  const empty = () => {
    generation++
    entries.clear()
    loading.clear()
  }
  const close = listenForNotifications(url, CHANNEL, {
    onNotification: empty,
    onUp() {
      empty()
      listening = true
    },
    onDown(error) {
      if (listening) log.warn({ err: error }, 'notifications of API key changes are interrupted: the key cache is off')
      listening = false
      empty()
    },
  })
  const cache: ApiKeyCache = {
    get: (fingerprint) => entries.get(fingerprint),
    load(fingerprint, load) {
      const underWay = loading.get(fingerprint)
      if (underWay) return underWay
      const before = generation
      const result = load()
        .then((found) => {
          // A key that changed while it was being loaded may have been loaded as it was.
          if (found && listening && generation === before) entries.set(fingerprint, found)
          return found
        })
        .finally(() => {
          if (loading.get(fingerprint) === result) loading.delete(fingerprint)
        })
      loading.set(fingerprint, result)
      return result
    },
    empty,
  }
  return { cache, close }
}
