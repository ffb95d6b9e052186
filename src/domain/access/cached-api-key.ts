import type { KeyMode, Tier } from '../../generated/prisma/client.ts'

/** What a request needs to know of its key. */
export type CachedApiKey = {
  id: string
  mode: KeyMode
  createdById: string | null
  expiresAt: Date | null
  revokedAt: Date | null
  lastUsedAt: Date | null
  organization: { id: string; name: string; tier: Tier }
}

/** Keys that were looked up before, by fingerprint; never out of date for longer than a notification takes. */
export type ApiKeyCache = {
  get: (fingerprint: string) => CachedApiKey | undefined
  /** Remembers what `load` finds, unless a key has changed meanwhile. */
  load: (fingerprint: string, load: () => Promise<CachedApiKey | null>) => Promise<CachedApiKey | null>
}
