import { isDeepStrictEqual } from 'node:util'
import { apiKeyPrefix, fingerprintApiKey, generateApiKey } from '../domain/api-keys/api-keys.ts'
import { storedFingerprints, toBase64, toBytes } from '../domain/api-keys/key-fingerprints.ts'
import type { KeyMode } from '../domain/context.ts'
import { omitUndefined } from '../domain/fields/omit-undefined.ts'
import type { ApiKeyEntry, ImportDocument } from './format.ts'
import { type FoundRow, type ImportCheck, rowsIn } from './match.ts'
import type { RowContext } from './rows.ts'
import type { KeyObserver, WantedRow } from './save.ts'
import type { ApiKeyRow } from './tables.ts'

/** The mode in the key's prefix. */
const modeOf = (key: string): KeyMode => (key.startsWith(apiKeyPrefix('test')) ? 'test' : 'live')

/** Reports keys whose prefix contradicts their mode, and keys in use. */
export async function checkApiKeys(check: ImportCheck, { organizations }: ImportDocument): Promise<void> {
  const rows = rowsIn(organizations, 'organizations').flatMap(({ path, row }) => rowsIn(row.apiKeys, `${path}.apiKeys`))
  await checkModes(check, rows)
  await checkUniqueness(check, rows)
}

async function checkModes(check: ImportCheck, rows: FoundRow<ApiKeyEntry>[]): Promise<void> {
  const ids = rows.flatMap(({ row }) => check.ids.get(row) ?? [])
  const existing = await check.db.apiKey.findMany({ where: { id: { in: ids } }, select: { id: true, mode: true } })
  const modes = new Map(existing.map(({ id, mode }) => [id, mode]))
  for (const { path, row } of rows) {
    if (row.mode === undefined) continue
    const stored = modes.get(check.ids.get(row)!)
    if (row.key && modeOf(row.key) !== row.mode)
      check.report(`${path}.key`, `must begin with ${apiKeyPrefix(row.mode)}, as its mode says`)
    else if (!row.key && stored && stored !== row.mode)
      check.report(`${path}.mode`, `can't be changed without a new key: the key is a ${stored} key`)
  }
}

async function checkUniqueness(check: ImportCheck, rows: FoundRow<ApiKeyEntry>[]): Promise<void> {
  const pathByKey = new Map<string, string>()
  const keyed = rows.flatMap(({ path, row }) => (row.key ? [{ path, id: check.ids.get(row), key: row.key }] : []))
  const hashes = keyed.map(({ key }) => storedFingerprints(key))
  const wanted = hashes.flat().map(toBytes)
  const existing = await check.db.apiKey.findMany({ where: { hash: { in: wanted } }, select: { id: true, hash: true } })
  const idByHash = new Map(existing.map(({ id, hash }) => [toBase64(hash), id]))
  for (const [index, { path, id, key }] of keyed.entries()) {
    const twin = pathByKey.get(key)
    const existingKeyId = hashes[index]!.map((hash) => idByHash.get(hash)).find((found) => found !== undefined)
    if (twin !== undefined) check.report(`${path}.key`, `is taken by ${twin}`)
    else if (existingKeyId !== undefined && existingKeyId !== id) check.report(`${path}.key`, 'is taken by another API key')
    pathByKey.set(key, path)
  }
}

/** Creates missing keys. Existing keys never change: an older document doesn't know of their rotation or revocation. */
export function wantApiKey(
  { name, key, mode: givenMode, expiresAt, revokedAt, createdById }: ApiKeyEntry,
  { id, organizationId, now }: RowContext,
  { onKey, onKeptKey }: KeyObserver,
): WantedRow<ApiKeyRow> {
  const mode = key ? modeOf(key) : givenMode
  const terms = omitUndefined({ name, mode, expiresAt, revokedAt, createdById })
  const isOther = (current: ApiKeyRow) =>
    key !== undefined &&
    !isDeepStrictEqual(current.hash, fingerprintApiKey(key, { isRestricted: current.hasRestrictedHash }).hash)
  return {
    id,
    values: {},
    deriveValues: (current) => {
      const differs = ([field, value]: [string, unknown]) => !isDeepStrictEqual(current[field as keyof ApiKeyRow], value)
      if (isOther(current) || Object.entries(terms).some(differs)) onKeptKey(current.name)
      return {}
    },
    create: () => {
      const secret = key ?? generateApiKey(mode ?? 'live')
      if (!key) onKey(name, secret)
      return {
        id,
        organizationId,
        name,
        mode: mode ?? 'live',
        ...fingerprintApiKey(secret),
        createdById: createdById ?? null,
        createdAt: now,
        expiresAt: expiresAt ?? null,
        revokedAt: revokedAt ?? null,
        lastUsedAt: null,
        lastUsedFrom: null,
        rights: [],
        scopes: [],
        networks: [],
        hasRestrictedHash: false,
        requestsPerMinute: null,
      }
    },
  }
}
