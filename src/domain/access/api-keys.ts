import { hash as digest, randomInt } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { own } from '../../db/own.ts'
import { run } from '../../db/statements.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { recordAudit } from '../audit/record-audit.ts'
import type { Context, KeyMode, KeyRight, ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { totalOrder } from '../lists/page.ts'
import { inTransaction } from '../transaction.ts'
import { findApiKey } from './find-api-key.ts'

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
  /** The address that it was used from then. */
  lastUsedFrom: string | null
  /** See KEY_RIGHTS. */
  rights: string[]
  /** Its own share of the organization's; null: all of it. */
  requestsPerMinute: number | null
}

/** What is never read but to compare it. */
const omit = { hash: true, previousHash: true } as const

type NewApiKey = {
  organizationId: string
  name: string
  mode: KeyMode
  expiresAt?: Date | null
  createdById?: string | null
}

/** What can be changed of a key. */
export type KeyChange = Partial<{ rights: readonly KeyRight[]; requestsPerMinute: number | null }>

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

/** What is stored of a key. A fast hash is enough: 190 random bits cannot be guessed. */
export const fingerprintApiKey = (key: string) => ({
  hash: new Uint8Array(digest('sha256', key, 'buffer')),
  lastFour: key.slice(-4),
})

/**
 * Finds the organization a key belongs to, and records that the key was used (v1.md, Authentication 1 to 5).
 *
 * @param address where the request comes from.
 * @throws DomainError api_key_missing, api_key_unknown, api_key_revoked, api_key_expired.
 */
export async function authenticate(service: ServiceContext, key: string | undefined, address: string): Promise<Context> {
  const { deps } = service
  if (!key) throw new DomainError('api_key_missing')
  const fingerprint = digest('sha256', key, 'base64')
  const found = deps.apiKeyCache.get(fingerprint) ?? (await lookUp(service, key, fingerprint))
  if (!found) throw new DomainError('api_key_unknown')
  const now = deps.clock()
  if (found.revokedAt) throw new DomainError('api_key_revoked')
  if (found.expiresAt && found.expiresAt <= now) throw new DomainError('api_key_expired')

  if (!found.lastUsedAt || now.getTime() - found.lastUsedAt.getTime() >= USE_RECORDED_EVERY_MS) {
    found.lastUsedAt = now
    // Not awaited: no request waits for bookkeeping.
    recordUse(service, { id: found.id, now, address }).catch((error) =>
      deps.log.warn({ err: error, apiKeyId: found.id }, 'the last use of an API key could not be recorded'),
    )
  }
  const { id, mode, createdById, rights, requestsPerMinute, organization } = found
  return { ...service, organization, mode, actor: { kind: 'apiKey', id, mode, createdById, rights, requestsPerMinute } }
}

/** Without a query for text that has not the form of a key. */
const lookUp = async ({ db, deps }: ServiceContext, key: string, fingerprint: string) =>
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
  const made = await createApiKeyUnlessNamed(ctx, input)
  if (!made) throw new Error(`The organization already has a key named ${input.name}.`)
  return made
}

/** Like createApiKey, but returns null when the organization has a key of that name. Of several simultaneous calls one creates the key. */
export async function createApiKeyUnlessNamed(
  ctx: ServiceContext,
  { organizationId, name, mode, expiresAt = null, createdById = null }: NewApiKey,
): Promise<{ key: string; apiKey: ApiKeySummary } | null> {
  const { clock, newId } = ctx.deps
  const key = generateApiKey(mode)
  const data = { id: newId(), organizationId, name, mode, expiresAt, createdById, createdAt: clock(), ...fingerprintApiKey(key) }
  return inTransaction(ctx, async (inside) => {
    const [apiKey] = await inside.db.apiKey.createManyAndReturn({ data: [data], skipDuplicates: true, omit })
    if (!apiKey) return null
    await recordKey(inside, 'generated_key', apiKey)
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

/** Refuses the key, in both its values, from now on; one that is revoked already stays as it is. @throws Error when there is no such key. */
export async function revokeApiKey(ctx: ServiceContext, id: string): Promise<ApiKeySummary> {
  const revoked = await inTransaction(ctx, async (inside) => {
    const { db, deps } = inside
    const { count } = await db.apiKey.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: deps.clock() } })
    const apiKey = await db.apiKey.findUnique({ where: { id }, omit })
    if (!apiKey) throw new Error(`There is no key ${id}.`)
    if (count > 0) await recordKey(inside, 'revoked_key', apiKey)
    return apiKey
  })
  ctx.deps.apiKeyCache.empty()
  return revoked
}

/**
 * Gives a key these rights and this limit, as far as they are named, from now on. What it has already is not recorded as a change.
 *
 * @throws Error when there is no such key.
 */
export async function changeApiKey(ctx: ServiceContext, id: string, change: KeyChange): Promise<ApiKeySummary> {
  const changed = await inTransaction(ctx, async (inside) => {
    const { db } = inside
    const found = await db.apiKey.findUnique({ where: { id }, select: { organizationId: true } })
    if (!found) throw new Error(`There is no key ${id}.`)
    const owner = { organization: { id: found.organizationId } }
    await run(db, own(owner, 'apiKeys').select('id').where('id', '=', id).forNoKeyUpdate())
    const before = await db.apiKey.findUniqueOrThrow({ where: { id }, omit })
    const { rights = before.rights, requestsPerMinute = before.requestsPerMinute } = change
    const details = {
      ...(!isDeepStrictEqual(before.rights, rights) && { rights: { before: before.rights, after: [...rights] } }),
      ...(before.requestsPerMinute !== requestsPerMinute && {
        requestsPerMinute: { before: before.requestsPerMinute ?? 'none', after: requestsPerMinute ?? 'none' },
      }),
    }
    if (Object.keys(details).length === 0) return before
    const apiKey = await db.apiKey.update({ where: { id }, data: { rights: [...rights], requestsPerMinute }, omit })
    await recordKey(inside, 'changed_key', apiKey, details)
    return apiKey
  })
  ctx.deps.apiKeyCache.empty()
  return changed
}

/** Records what was done to a key. */
export const recordKey = (
  ctx: ServiceContext,
  action: 'generated_key' | 'rotated_key' | 'changed_key' | 'revoked_key',
  { id, name, organizationId }: { id: string; name: string; organizationId: string },
  details: Prisma.InputJsonObject = {},
): Promise<void> =>
  recordAudit(
    { ...ctx, organization: { id: organizationId } },
    { action, target: { kind: 'api_key', id }, details: { name, ...details } },
  )
