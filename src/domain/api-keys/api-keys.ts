import { randomInt } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { tenantDb } from '../../db/tenant-db.ts'
import { unscopedPrisma } from '../../db/unscoped.ts'
import { type AuditDetails, toAuditDetails } from '../audit/audit-details.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { type KeyRight, type KeyScope, rightsOfScopes } from '../authorization/permissions.ts'
import { type Context, enterOrganization, type KeyMode, type ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { totalOrder } from '../lists/page.ts'
import { isAllowedFrom } from '../networks/ip-networks.ts'
import { recordRefusal } from '../sign-in/record-refusal.ts'
import { inTransaction } from '../transaction.ts'
import { findApiKey } from './find-api-key.ts'
import { fingerprintOf, isRestricted, restrictedFingerprint, storedFingerprints, toBase64, toBytes } from './key-fingerprints.ts'

/** A key without its secret. */
export type ApiKeySummary = {
  id: string
  name: string
  mode: KeyMode
  lastFour: string
  createdAt: Date
  expiresAt: Date | null
  revokedAt: Date | null
  lastUsedAt: Date | null
  /** Address of the last use. */
  lastUsedFrom: string | null
  /** See KEY_RIGHTS. */
  rights: string[]
  /** See KEY_SCOPES; empty: unrestricted. */
  scopes: string[]
  /** Networks that may use the key; empty: all. */
  networks: string[]
  /** The key's own limit; null: the organization's limit. */
  requestsPerMinute: number | null
}

/** Only compared, never read. */
const omit = { hash: true, previousHash: true, hasRestrictedHash: true } as const

type NewApiKey = {
  organizationId: string
  name: string
  mode: KeyMode
  expiresAt?: Date | null
  createdById?: string | null
  /** Empty: unrestricted. */
  scopes?: readonly KeyScope[]
  networks?: readonly string[]
}

/** Changes of a key. With scopes its rights follow from these. */
export type KeyChange = Partial<{
  rights: readonly KeyRight[]
  scopes: readonly KeyScope[]
  networks: readonly string[]
  requestsPerMinute: number | null
}>

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const SECRET_LENGTH = 32
const USE_RECORDED_EVERY_MS = 60_000

/** v1.md, Authentication 4, of characters that a header carries. */
export const API_KEY_PATTERN = /^ak_(live|test)_[!-~]{32}$/

/** The prefix of all keys of a mode: v1.md, Authentication 4. */
export const apiKeyPrefix = (mode: KeyMode): string => `ak_${mode}_`

/** A new key: its mode's prefix and 32 characters (190 bits) from the system's cryptographic source. */
export const generateApiKey = (mode: KeyMode): string =>
  apiKeyPrefix(mode) + Array.from({ length: SECRET_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')

/** Stored fingerprint of a key, see key-fingerprints.ts. */
export const fingerprintApiKey = (key: string, { isRestricted = false } = {}) => {
  const [unrestricted, restricted] = storedFingerprints(key)
  return { hash: toBytes(isRestricted ? restricted : unrestricted), lastFour: key.slice(-4) }
}

/**
 * Finds the organization a key belongs to, and records that the key was used (v1.md, Authentication 1 to 5).
 *
 * @param from where the request comes from: its address, and the network that is kept of it.
 * @throws DomainError api_key_missing, api_key_unknown, api_key_revoked, api_key_expired, organization_suspended, network_not_allowed.
 */
export async function authenticate(
  service: ServiceContext,
  key: string | undefined,
  from: { address: string; network: string },
): Promise<Context> {
  const { deps } = service
  if (!key) throw new DomainError('api_key_missing')
  const fingerprint = fingerprintOf(key)
  const found = deps.apiKeyCache.get(fingerprint) ?? (await findCachedKey(service, key, fingerprint))
  if (!found) throw new DomainError('api_key_unknown')
  const now = deps.clock()
  if (found.revokedAt) throw new DomainError('api_key_revoked')
  if (found.expiresAt && found.expiresAt <= now) throw new DomainError('api_key_expired')
  if (found.isSuspended) throw new DomainError('organization_suspended')
  const { id, mode, createdById, rights, scopes, requestsPerMinute, organization } = found
  const actor = { kind: 'apiKey', id, mode, createdById, rights, scopes, requestsPerMinute } as const
  const ctx: Context = enterOrganization({ ...service, actor }, organization, mode)
  const allowances = [found.networks, found.organizationNetworks]
  if (!allowances.every((networks) => isAllowedFrom(networks, from.address))) {
    void recordRefusal(ctx, 'network')
    throw new DomainError('network_not_allowed')
  }

  if (!found.lastUsedAt || now.getTime() - found.lastUsedAt.getTime() >= USE_RECORDED_EVERY_MS) {
    found.lastUsedAt = now
    // Not awaited: no request waits for bookkeeping.
    recordUse(service, { id: found.id, now, address: from.network }).catch((error) =>
      deps.log.warn({ err: error, apiKeyId: found.id }, 'the last use of an API key could not be recorded'),
    )
  }
  return ctx
}

/** Without a query for text that has not the form of a key. */
const findCachedKey = async ({ db, deps }: ServiceContext, key: string, fingerprint: string) =>
  API_KEY_PATTERN.test(key) ? deps.apiKeyCache.load(fingerprint, () => findApiKey(db, fingerprint)) : null

/** The condition lets only one of several simultaneous requests write. */
async function recordUse(
  { db }: ServiceContext,
  { id, now, address }: { id: string; now: Date; address: string },
): Promise<void> {
  const before = new Date(now.getTime() - USE_RECORDED_EVERY_MS)
  await db.apiKey.updateMany({
    where: { id, OR: [{ lastUsedAt: null }, { lastUsedAt: { lte: before } }] },
    data: { lastUsedAt: now, lastUsedFrom: address },
  })
}

/**
 * Creates a key and returns it: the only time it is shown (v1.md, Authentication 3).
 *
 * @throws Error when the organization already has a key of that name, or has no such member.
 */
export async function createApiKey(ctx: ServiceContext, input: NewApiKey): Promise<{ key: string; apiKey: ApiKeySummary }> {
  const created = await createApiKeyUnlessNamed(ctx, input)
  if (!created) throw new Error(`The organization already has a key named ${input.name}.`)
  return created
}

/** Like createApiKey, but returns null if the organization has a key of that name. One of several simultaneous calls creates the key. */
export async function createApiKeyUnlessNamed(
  ctx: ServiceContext,
  { organizationId, name, mode, expiresAt = null, createdById = null, scopes = [], networks = [] }: NewApiKey,
): Promise<{ key: string; apiKey: ApiKeySummary } | null> {
  const { clock, newId } = ctx.deps
  const key = generateApiKey(mode)
  const hasRestrictedHash = isRestricted({ scopes, networks })
  const allowance = { rights: rightsOfScopes(scopes), scopes: [...scopes], networks: [...networks], hasRestrictedHash }
  const stored = { ...allowance, ...fingerprintApiKey(key, { isRestricted: hasRestrictedHash }) }
  const data = { id: newId(), organizationId, name, mode, expiresAt, createdById, createdAt: clock(), ...stored }
  return inTransaction(ctx, async (inside) => {
    const [apiKey] = await inside.db.apiKey.createManyAndReturn({ data: [data], skipDuplicates: true, omit })
    if (!apiKey) return null
    await recordKey(inside, 'generated_key', apiKey, {
      ...(scopes.length > 0 && { scopes: [...scopes] }),
      ...(networks.length > 0 && { networks: [...networks] }),
    })
    return { key, apiKey }
  })
}

/** The organization's keys, oldest first. */
export const listApiKeys = ({ db }: ServiceContext, organizationId: string): Promise<ApiKeySummary[]> =>
  db.apiKey.findMany({
    where: { organizationId },
    orderBy: totalOrder({ field: 'createdAt', direction: 'asc' }),
    omit,
  })

/**
 * Revokes the key: both its current and its previous value stop working. A revoked key stays as it is.
 *
 * @throws Error if the key does not exist.
 */
export async function revokeApiKey(ctx: ServiceContext, id: string): Promise<ApiKeySummary> {
  const revoked = await inTransaction(ctx, async (inside) => {
    const { db, deps } = inside
    const where = { organizationId: await findOrganizationId(inside, id), id }
    const { count } = await db.apiKey.updateMany({ where: { ...where, revokedAt: null }, data: { revokedAt: deps.clock() } })
    const apiKey = await db.apiKey.findUniqueOrThrow({ where, omit })
    if (count > 0) await recordKey(inside, 'revoked_key', apiKey)
    return apiKey
  })
  ctx.deps.apiKeyCache.empty()
  return revoked
}

/** Changes a key's rights, restrictions, and limit. Only actual changes are recorded. @throws Error if the key does not exist. */
export async function changeApiKey(ctx: ServiceContext, id: string, change: KeyChange): Promise<ApiKeySummary> {
  const changed = await inTransaction(ctx, async (inside) => {
    const { db } = inside
    const organizationId = await findOrganizationId(inside, id)
    const where = { organizationId, id }
    const tenant = tenantDb(db, { organization: { id: organizationId }, mode: 'all' })
    await tenant.selectFrom('apiKeys').select('id').where('id', '=', id).forNoKeyUpdate().execute()
    const before = await db.apiKey.findUniqueOrThrow({ where, omit })
    const wanted = applyChange(before, change)
    const details = changesOf(before, wanted)
    if (Object.keys(details).length === 0) return before
    if (isRestricted(wanted)) await storeAsRestricted(inside, where)
    const apiKey = await db.apiKey.update({ where, data: wanted, omit })
    await recordKey(inside, 'changed_key', apiKey, details)
    return apiKey
  })
  ctx.deps.apiKeyCache.empty()
  return changed
}

/** Finds a key's organization, because operators name a key without it. @throws Error if the key does not exist. */
async function findOrganizationId({ db }: ServiceContext, id: string): Promise<string> {
  const key = await unscopedPrisma(db).apiKey.findUnique({ where: { id }, select: { organizationId: true } })
  if (!key) throw new Error(`There is no key ${id}.`)
  return key.organizationId
}

type ChangeableFields = Pick<ApiKeySummary, 'rights' | 'scopes' | 'networks' | 'requestsPerMinute'>

function applyChange(before: ChangeableFields, change: KeyChange): ChangeableFields {
  const { scopes = before.scopes, networks = before.networks, requestsPerMinute = before.requestsPerMinute } = change
  const keptRights = before.scopes.length > 0 ? [] : before.rights
  const rights = scopes.length > 0 ? rightsOfScopes(scopes) : (change.rights ?? keptRights)
  return { rights: [...rights], scopes: [...scopes], networks: [...networks], requestsPerMinute }
}

const changesOf = (before: ChangeableFields, after: ChangeableFields): AuditDetails =>
  toAuditDetails(
    (['rights', 'scopes', 'networks', 'requestsPerMinute'] as const)
      .filter((field) => !isDeepStrictEqual(before[field], after[field]))
      .map((field) => [field, { before: before[field] ?? 'none', after: after[field] ?? 'none' }] as const),
  )

/** Once and for good: from the hash of a restricted key there is no way back. */
async function storeAsRestricted({ db }: ServiceContext, where: { organizationId: string; id: string }): Promise<void> {
  const select = { hash: true, previousHash: true, hasRestrictedHash: true } as const
  const { hash, previousHash, hasRestrictedHash } = await db.apiKey.findUniqueOrThrow({ where, select })
  if (hasRestrictedHash) return
  const restricted = (stored: Uint8Array) => toBytes(restrictedFingerprint(toBase64(stored)))
  const data = { hash: restricted(hash), previousHash: previousHash && restricted(previousHash), hasRestrictedHash: true }
  await db.apiKey.update({ where, data })
}

export const recordKey = (
  ctx: ServiceContext,
  action: 'generated_key' | 'rotated_key' | 'changed_key' | 'revoked_key',
  { id, name, organizationId }: { id: string; name: string; organizationId: string },
  details: AuditDetails = {},
): Promise<void> =>
  recordAudit(enterOrganization(ctx, { id: organizationId }), {
    action,
    target: { kind: 'api_key', id },
    details: { name, ...details },
  })
