import { LRUCache } from 'lru-cache'

/** Cache of the most recently used entries. Its memory grows with them: the package's option `max` allocates for all at once. */
export const createLruCache = <V extends {}>(maxEntries: number): LRUCache<string, V> =>
  new LRUCache({ maxSize: maxEntries, sizeCalculation: () => 1 })
