import type { KeyMode, Tier } from '../../generated/prisma/client.ts'

/** What authentication reads of an API key. */
export type CachedApiKey = {
  id: string
  mode: KeyMode
  createdById: string | null
  expiresAt: Date | null
  revokedAt: Date | null
  lastUsedAt: Date | null
  organization: { id: string; name: string; tier: Tier }
}

/** API keys by fingerprint; stale for no longer than a notification takes. */
export type ApiKeyCache = {
  get: (fingerprint: string) => CachedApiKey | undefined
  /** Caches what `load` finds, unless a key has changed in the meantime. */
  load: (fingerprint: string, load: () => Promise<CachedApiKey | null>) => Promise<CachedApiKey | null>
  /** Forgets all of them: called once a key is changed here, so that this process waits for no notification of it. */
  empty: () => void
}
