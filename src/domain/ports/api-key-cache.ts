import type { KeyMode, Tier } from '../../generated/prisma/client.ts'

export type CachedApiKey = {
  id: string
  mode: KeyMode
  rights: readonly string[]
  scopes: readonly string[]
  networks: readonly string[]
  /** The organization's allowed networks, which apply in addition to the key's. */
  organizationNetworks: readonly string[]
  /** True if the organization is suspended: no key works. */
  isSuspended: boolean
  requestsPerMinute: number | null
  createdById: string | null
  expiresAt: Date | null
  revokedAt: Date | null
  lastUsedAt: Date | null
  organization: { id: string; name: string; tier: Tier }
}

/** API keys by fingerprint. Entries are stale only until a database notification arrives. */
export type ApiKeyCache = {
  get: (fingerprint: string) => CachedApiKey | undefined
  /** Caches what `load` finds, unless a key has changed in the meantime. */
  load: (fingerprint: string, load: () => Promise<CachedApiKey | null>) => Promise<CachedApiKey | null>
  /** Called after a key changes in this process, which then does not depend on the notification. */
  empty: () => void
}
