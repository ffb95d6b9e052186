import type { Connection } from '../../db/client.ts'
import { API_KEY_PATTERN, fingerprintApiKey, generateApiKey } from '../api-keys/api-keys.ts'
import { anyHash, createBatchedKeyLookup, findApiKey } from '../api-keys/find-api-key.ts'
import { fingerprintOf, toBase64 } from '../api-keys/key-fingerprints.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import { type Context, enterOrganization, type KeyMode, type ServiceContext } from '../context.ts'
import { DomainError, type Issue } from '../errors.ts'
import { MAX_NAME_LENGTH } from '../limits.ts'
import type { Ats } from '../ports/ats-settings.ts'
import { decrypt, encrypt } from '../secrets/encryption.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import { checkName, findIssues } from '../validation/checks.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { findConnection, requireEnabled } from './connections.ts'

// Keys of connections: the keys by which an ATS calls the service, and the key by which the service calls the ATS.

const USE_RECORDED_EVERY_MS = 60_000

/**
 * Authenticates an ATS by its key, and records the key's use.
 *
 * @throws DomainError api_key_missing; api_key_unknown, also for another ATS's; api_key_revoked; organization_suspended.
 */
export async function authenticateAts(service: ServiceContext, ats: Ats, key: string | undefined): Promise<Context> {
  const { db, deps } = service
  if (!key) throw new DomainError('api_key_missing')
  const found = API_KEY_PATTERN.test(key) ? await findKey(db, fingerprintOf(key)) : null
  if (!found) throw new DomainError('api_key_unknown', { issues: await nameApiKey(db, key) })
  if (found.connection.ats !== ats) throw new DomainError('api_key_unknown', { issues: [keyIssue(FOR_ANOTHER_ATS)] })
  if (found.revokedAt) throw new DomainError('api_key_revoked')
  if (found.connection.organization.suspension) throw new DomainError('organization_suspended')
  const now = deps.clock()
  const before = new Date(now.getTime() - USE_RECORDED_EVERY_MS)
  if (!found.lastUsedAt || found.lastUsedAt <= before) {
    const unused = { OR: [{ lastUsedAt: null }, { lastUsedAt: { lte: before } }] }
    await db.atsKey.updateMany({ where: { id: found.id, ...unused }, data: { lastUsedAt: now } })
  }
  const { id, createdById, connection } = found
  const {
    mode,
    organization: { id: organizationId, name, tier },
  } = connection
  const organization = { id: organizationId, name, tier }
  return enterOrganization(
    { ...service, actor: { kind: 'ats', id, ats, connectionId: connection.id, mode, createdById } },
    organization,
    mode,
  )
}

/** Only the owner of an existing API key can send it, so naming its kind tells nothing to others. */
async function nameApiKey(db: Connection, key: string): Promise<Issue[]> {
  const isApiKey = API_KEY_PATTERN.test(key) && (await findApiKey(db, fingerprintOf(key))) !== null
  return isApiKey ? [keyIssue(API_KEY_SENT)] : []
}

const keyIssue = (text: string): Issue => ({ field: 'key', rule: 'malformed', text })
const GENERATE = 'Generate a key in the assessment portal, under Integrations, Recruiting systems.'
const API_KEY_SENT = `This is an API key, which applicant tracking systems can’t use. ${GENERATE}`
const FOR_ANOTHER_ATS = `This key is for another applicant tracking system. ${GENERATE}`

const findKey = createBatchedKeyLookup(findKeys)

async function findKeys(db: Connection, fingerprints: string[]) {
  const organization = { select: { id: true, name: true, tier: true, suspension: { select: { id: true } } } } as const
  const rows = await db.atsKey.findMany({
    where: { hash: anyHash(fingerprints) },
    select: {
      ...{ id: true, hash: true, createdById: true, revokedAt: true, lastUsedAt: true },
      connection: { select: { id: true, ats: true, mode: true, organization } },
    },
  })
  return new Map(rows.map(({ hash, ...key }) => [toBase64(hash), key] as const))
}

/**
 * Generates a key for an ATS. Earlier keys stay valid until they are revoked, because changing over may take days.
 *
 * @returns the key, which is shown only once. @throws DomainError not_permitted; ats_not_found.
 */
export async function generateAtsKey(ctx: Context, ats: Ats, mode: KeyMode): Promise<string> {
  authorize(ctx, 'manage_ats')
  requireEnabled(ctx, ats)
  return inTransaction(ctx, async (inside) => {
    const { actor, db, deps, organization } = inside
    const connection = await findConnection(inside, ats, mode)
    const [id, key] = [deps.newId(), generateApiKey(mode)]
    const createdById = actor.kind === 'member' ? actor.id : null
    const columns = { id, organizationId: organization.id, connectionId: connection.id, createdById, createdAt: deps.clock() }
    await db.atsKey.create({
      data: { ...columns, ...fingerprintApiKey(key), encryptedKey: encrypt(deps.secretKeys, keyPurpose(id), key) },
    })
    await recordAudit(inside, { action: 'generated_ats_key', target: { kind: 'ats_key', id }, details: { ats, mode } })
    return key
  })
}

/** Refuses a key from now on; without another one nothing more is reported. @throws DomainError not_permitted; ats_not_found. */
export async function revokeAtsKey(ctx: Context, id: string): Promise<void> {
  authorize(ctx, 'manage_ats')
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    const where = { organizationId: organization.id, id }
    const found = isUuid(id) ? await db.atsKey.findFirst({ where, select: { connection: true } }) : null
    if (!found) throw new DomainError('ats_not_found')
    const { count } = await db.atsKey.updateMany({ where: { ...where, revokedAt: null }, data: { revokedAt: deps.clock() } })
    const { ats, mode } = found.connection
    if (count > 0)
      await recordAudit(inside, { action: 'revoked_ats_key', target: { kind: 'ats_key', id }, details: { ats, mode } })
  })
}

/** Keeps the key that the ATS has given to the organization. @throws DomainError not_permitted; ats_not_found; invalid. */
export async function saveAtsApiKey(ctx: Context, ats: Ats, mode: KeyMode, typedKey: string): Promise<void> {
  authorize(ctx, 'manage_ats')
  requireEnabled(ctx, ats)
  const key = typedKey.trim()
  throwIfIssues(findIssues([['theirKey', checkName(key, MAX_NAME_LENGTH)]]))
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    const { id } = await findConnection(inside, ats, mode)
    const encryptedColumns = {
      encryptedApiKey: encrypt(deps.secretKeys, atsKeyPurpose(id), key),
      atsApiKeyLastFour: key.slice(-4),
    }
    await db.atsConnection.update({
      where: { organizationId: organization.id, id },
      data: { ...encryptedColumns, updatedAt: deps.clock() },
    })
    await recordAudit(inside, { action: 'entered_key_of_ats', target: { kind: 'ats_connection', id }, details: { ats, mode } })
  })
}

/** Credentials of a report. `ours`: the key of the order, or another valid one; null if it can't be decrypted. */
export type Credentials = { inboundKey: string | null; apiKey: string | null }

type EncryptedCredentials = { keyId: string; encryptedKey: Uint8Array; connectionId: string; encryptedApiKey: Uint8Array | null }

export const decryptCredentials = (
  { deps }: ServiceContext,
  { keyId, encryptedKey, connectionId, encryptedApiKey }: EncryptedCredentials,
): Credentials => ({
  inboundKey: decrypt(deps.secretKeys, keyPurpose(keyId), encryptedKey),
  apiKey: encryptedApiKey && decrypt(deps.secretKeys, atsKeyPurpose(connectionId), encryptedApiKey),
})

/** Ties the ciphertext to one key. */
const keyPurpose = (id: string): string => `ats key ${id}`
const atsKeyPurpose = (connectionId: string): string => `key of the ats ${connectionId}`

/** Re-encrypts keys under the newest secret key, so that the operator can remove older ones. */
export async function reencryptAtsKeys({ db, deps }: ServiceContext): Promise<void> {
  const [newest, ...older] = deps.secretKeys
  if (older.length === 0) return
  const reencrypt = (purpose: string, encrypted: Uint8Array) => {
    const text = decrypt([newest!], purpose, encrypted) === null ? decrypt(older, purpose, encrypted) : null
    return text === null ? null : encrypt(deps.secretKeys, purpose, text)
  }
  for (const { id, encryptedKey } of await db.atsKey.findMany({ select: { id: true, encryptedKey: true } })) {
    const resealed = reencrypt(keyPurpose(id), encryptedKey)
    if (resealed) await db.atsKey.updateMany({ where: { id }, data: { encryptedKey: resealed } })
  }
  for (const { id, encryptedApiKey } of await db.atsConnection.findMany({ where: { encryptedApiKey: { not: null } } })) {
    const resealed = reencrypt(atsKeyPurpose(id), encryptedApiKey!)
    // Unless another was entered meanwhile.
    if (resealed) await db.atsConnection.updateMany({ where: { id, encryptedApiKey }, data: { encryptedApiKey: resealed } })
  }
}
