import type { Connection } from '../../db/client.ts'
import { anyOf } from '../../db/query.ts'
import type { CachedApiKey } from '../context.ts'

type Batch = { fingerprints: string[]; found: Promise<Map<string, CachedApiKey>> }
/** The last batch in the queue, and the one that still takes fingerprints because its query has not begun. */
type Line = { last: Promise<unknown>; open: Batch | undefined }

/** Longer lists would need more prepared statements. */
const MAX_KEYS = 128

const lines = new WeakMap<Connection, Line>()

/**
 * Finds an API key by its fingerprint, in base64. Only one query runs at a time, and requests that arrive meanwhile share the next one:
 * however many unknown keys arrive, they occupy one connection and leave the others to requests with valid keys.
 */
export async function findApiKey(db: Connection, fingerprint: string): Promise<CachedApiKey | null> {
  const line = lines.get(db) ?? { last: Promise.resolve(), open: undefined }
  lines.set(db, line)
  const batch = line.open && line.open.fingerprints.length < MAX_KEYS ? line.open : openBatch(db, line)
  batch.fingerprints.push(fingerprint)
  return (await batch.found).get(fingerprint) ?? null
}

function openBatch(db: Connection, line: Line): Batch {
  const fingerprints: string[] = []
  const find = () => {
    if (line.open === batch) line.open = undefined
    return findApiKeys(db, fingerprints)
  }
  const batch: Batch = { fingerprints, found: line.last.then(find, find) }
  line.last = batch.found
  line.open = batch
  return batch
}

async function findApiKeys(db: Connection, fingerprints: string[]): Promise<Map<string, CachedApiKey>> {
  const wanted = anyOf(fingerprints.map((fingerprint) => new Uint8Array(Buffer.from(fingerprint, 'base64'))))
  const rows = await db.apiKey.findMany({
    where: { OR: [{ hash: wanted }, { previousHash: wanted }] },
    select: {
      hash: true,
      previousHash: true,
      previousExpiresAt: true,
      id: true,
      mode: true,
      createdById: true,
      expiresAt: true,
      revokedAt: true,
      lastUsedAt: true,
      organization: { select: { id: true, name: true, tier: true } },
    },
    relationLoadStrategy: 'join',
  })
  return new Map(
    rows.flatMap(({ hash, previousHash, previousExpiresAt, ...key }): [string, CachedApiKey][] => {
      const current: [string, CachedApiKey] = [toBase64(hash), key]
      if (!previousHash) return [current]
      return [current, [toBase64(previousHash), { ...key, expiresAt: earlier(previousExpiresAt, key.expiresAt) }]]
    }),
  )
}

/** A key's value before it was rotated is good no longer than the key. */
const earlier = (a: Date | null, b: Date | null): Date | null => (a && b ? (a < b ? a : b) : (a ?? b))

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
