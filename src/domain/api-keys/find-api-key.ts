import type { Connection } from '../../db/client.ts'
import { anyOf } from '../../db/query.ts'
import type { CachedApiKey } from '../ports/api-key-cache.ts'
import { restrictedFingerprint, toBase64, toBytes } from './key-fingerprints.ts'

type FoundKeys<Key> = Promise<Map<string, Key>>
type KeyBatch<Key> = { fingerprints: string[]; found: FoundKeys<Key> }
/** The last batch in the queue, and the one that still takes fingerprints because its query has not begun. */
type LookupQueue<Key> = { last: Promise<unknown>; openBatch: KeyBatch<Key> | undefined }

/** Longer lists would need more prepared statements. */
const MAX_KEYS = 128

/**
 * Finds keys of a kind by their fingerprints, in base64. Only one query runs at a time, and requests that arrive meanwhile share the next
 * one: however many unknown keys arrive, they occupy one connection and leave the others to requests with valid keys.
 */
export function createBatchedKeyLookup<Key>(
  findKeys: (db: Connection, fingerprints: string[]) => FoundKeys<Key>,
): (db: Connection, fingerprint: string) => Promise<Key | null> {
  const lines = new WeakMap<Connection, LookupQueue<Key>>()

  function openBatch(db: Connection, line: LookupQueue<Key>): KeyBatch<Key> {
    const fingerprints: string[] = []
    const find = () => {
      if (line.openBatch === batch) line.openBatch = undefined
      return findKeys(db, fingerprints)
    }
    const batch: KeyBatch<Key> = { fingerprints, found: line.last.then(find, find) }
    line.last = batch.found
    line.openBatch = batch
    return batch
  }

  return async (db, fingerprint) => {
    const line = lines.get(db) ?? { last: Promise.resolve(), openBatch: undefined }
    lines.set(db, line)
    const batch = line.openBatch && line.openBatch.fingerprints.length < MAX_KEYS ? line.openBatch : openBatch(db, line)
    batch.fingerprints.push(fingerprint)
    return (await batch.found).get(fingerprint) ?? null
  }
}

/** Finds an API key by its fingerprint. */
export const findApiKey = createBatchedKeyLookup(findApiKeys)

async function findApiKeys(db: Connection, fingerprints: string[]): Promise<Map<string, CachedApiKey>> {
  const keysByFingerprint = new Map(
    fingerprints.flatMap((fingerprint) =>
      [fingerprint, restrictedFingerprint(fingerprint)].map((stored) => [stored, fingerprint]),
    ),
  )
  const wanted = anyHash([...keysByFingerprint.keys()])
  const rows = await db.apiKey.findMany({
    where: { OR: [{ hash: wanted }, { previousHash: wanted }] },
    select: {
      hash: true,
      previousHash: true,
      previousExpiresAt: true,
      id: true,
      mode: true,
      rights: true,
      scopes: true,
      networks: true,
      requestsPerMinute: true,
      createdById: true,
      expiresAt: true,
      revokedAt: true,
      lastUsedAt: true,
      organization: {
        select: {
          id: true,
          name: true,
          tier: true,
          security: { select: { apiKeyNetworks: true } },
          suspension: { select: { id: true } },
        },
      },
    },
    relationLoadStrategy: 'join',
  })
  return new Map(
    rows.flatMap(({ hash, previousHash, previousExpiresAt, organization, ...found }): [string, CachedApiKey][] => {
      const { security, suspension, ...ofOrganization } = organization
      const organizationNetworks = security?.apiKeyNetworks ?? []
      const key = { ...found, organization: ofOrganization, organizationNetworks, isSuspended: suspension !== null }
      const keyOf = (stored: Uint8Array) => keysByFingerprint.get(toBase64(stored)) ?? ''
      const current: [string, CachedApiKey] = [keyOf(hash), key]
      if (!previousHash) return [current]
      return [current, [keyOf(previousHash), { ...key, expiresAt: earlierOf(previousExpiresAt, key.expiresAt) }]]
    }),
  )
}

/** A key's value before it was rotated is good no longer than the key. */
const earlierOf = (a: Date | null, b: Date | null): Date | null => (a && b ? (a < b ? a : b) : (a ?? b))

/** Any of the hashes that these fingerprints are. */
export const anyHash = (fingerprints: string[]) => anyOf(fingerprints.map(toBytes))
