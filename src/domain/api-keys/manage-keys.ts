import { authorize, type KeyRight, type KeyScope, may } from '../authorization/permissions.ts'
import type { Context, KeyMode } from '../context.ts'
import { DomainError, type Issue } from '../errors.ts'
import { omitUndefined } from '../fields/omit-undefined.ts'
import { KEY_DAYS, KEY_REQUESTS } from '../limits.ts'
import { nameActor, queueAdminEmails } from '../mails/member-emails.ts'
import { confirmPassword } from '../sign-in/account.ts'
import { NO_PASSWORD } from '../sign-in/passwords.ts'
import type { Browser, SignedIn } from '../sign-in/sessions.ts'
import { isUuid } from '../text/uuid.ts'
import { daysAfter } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import { checkInteger, findIssues } from '../validation/checks.ts'
import { findNameIssues } from '../validation/find-name-issues.ts'
import { findNetworkIssues } from '../validation/find-network-issues.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { changeApiKey, createApiKeyUnlessNamed, fingerprintApiKey, generateApiKey, recordKey, revokeApiKey } from './api-keys.ts'

// An organization's own keys: v1.md, Authentication 3, "in the admin dashboard under Settings, then Integrations".

/** Time during which a rotated key's previous value works. */
const ROTATION_MS = 24 * 3_600_000

const select = {
  id: true,
  organizationId: true,
  name: true,
  mode: true,
  lastFour: true,
  createdAt: true,
  expiresAt: true,
  revokedAt: true,
  lastUsedAt: true,
  lastUsedFrom: true,
  rights: true,
  scopes: true,
  networks: true,
  requestsPerMinute: true,
  previousExpiresAt: true,
  createdBy: { select: { user: { select: { firstName: true, lastName: true, email: true } } } },
} as const

/** The organization's keys, the newest first, each with the member who generated it, if a member did. @throws DomainError not_permitted. */
export async function listKeys(ctx: Context) {
  authorize(ctx, 'manage_keys')
  const where = { organizationId: ctx.organization.id }
  return ctx.db.apiKey.findMany({ where, orderBy: [{ createdAt: 'desc' }, { id: 'desc' }], select })
}

export type ListedKey = Awaited<ReturnType<typeof listKeys>>[number]

/** @property expiresAt null: never. @property scopes, @property networks restrictions that apply from creation. */
type KeyToGenerate = {
  name: string
  mode: KeyMode
  expiresAt: Date | null
  scopes: readonly KeyScope[]
  networks: readonly string[]
}

/**
 * Generates a key.
 *
 * @returns the key, the only time it is seen.
 * @throws DomainError not_permitted; invalid: a name that is missing, too long or `taken`, a time that is not in the `future`, or more
 *   than KEY_DAYS, or than the organization allows, away (`farFuture`), `notNetwork`, with the number of the line, more networks than
 *   MAX_NETWORKS.
 */
export async function generateKey(
  ctx: Context,
  { name, mode, expiresAt, scopes, networks }: KeyToGenerate,
): Promise<{ key: string; name: string }> {
  authorize(ctx, 'manage_keys')
  authorizeScopes(ctx, scopes)
  const expiryIssues = findExpiryIssues(expiresAt, await maxKeyDays(ctx), ctx.deps.clock())
  throwIfIssues([...findNameIssues({ name }), ...expiryIssues, ...findNetworkIssues(networks)])
  const createdById = ctx.actor.kind === 'member' ? ctx.actor.id : null
  const wanted = { organizationId: ctx.organization.id, name: name.trim(), mode, expiresAt, createdById, scopes, networks }
  return inTransaction(ctx, async (inside) => {
    const created = await createApiKeyUnlessNamed(inside, wanted)
    if (!created) throw new DomainError('invalid', { issues: [{ field: 'name', rule: 'account', problem: 'taken' }] })
    await notifyAdmins(inside, created.apiKey.name)
    return { key: created.key, name: created.apiKey.name }
  })
}

const OWNERS_SCOPE: KeyScope = 'candidates:erase'
const TRANSCRIPTS_SCOPE: KeyScope = 'transcripts:read'

/**
 * Nobody may create a key with more rights than their own, or read its value. Keys that erase candidates are for owners.
 *
 * @throws DomainError not_permitted.
 */
function authorizeScopes(ctx: Context, scopes: readonly string[]): void {
  if (!mayGrantScopes(ctx, scopes)) throw new DomainError('not_permitted')
}

/** True if the actor may create or read a key with these scopes. */
export const mayGrantScopes = (ctx: Context, scopes: readonly string[]): boolean =>
  (!scopes.includes(OWNERS_SCOPE) || may(ctx, 'erase_candidates')) &&
  (!scopes.includes(TRANSCRIPTS_SCOPE) || may(ctx, 'read_transcripts'))

/** Notifies all admins, because a key opens much, and for long. */
const notifyAdmins = async (inside: Context, called: string): Promise<void> =>
  queueAdminEmails(inside, { kind: 'key_made', facts: omitUndefined({ person: await nameActor(inside), called }) })

/** Most days until a new key expires; null: it may never expire. */
export async function maxKeyDays({ db, organization }: Context): Promise<number | null> {
  const where = { organizationId: organization.id }
  return (await db.organizationSecurity.findUnique({ where, select: { apiKeyMaxDays: true } }))?.apiKeyMaxDays ?? null
}

function findExpiryIssues(expiresAt: Date | null, apiKeyMaxDays: number | null, now: Date): Issue[] {
  if (expiresAt && expiresAt <= now) return [{ field: 'expiresAt', rule: 'account', problem: 'future' }]
  const limit = apiKeyMaxDays ?? KEY_DAYS.maximum
  // A last day that is chosen ends at midnight.
  const isTooFar = expiresAt ? expiresAt > daysAfter(now, limit + 1) : apiKeyMaxDays !== null
  return isTooFar ? [{ field: 'expiresAt', rule: 'account', problem: 'farFuture', limit }] : []
}

/** @throws DomainError not_permitted, api_key_not_found. */
export function getKey(ctx: Context, id: string): Promise<ListedKey> {
  authorize(ctx, 'manage_keys')
  return findKey(ctx, id)
}

export type KeyAllowance = { rights: readonly KeyRight[]; scopes: readonly KeyScope[]; networks: readonly string[] }

/**
 * Replaces a key's permissions. Members with a password have to enter it, because the key's permissions outlast their session.
 *
 * @throws DomainError not_permitted, api_key_not_found; invalid: `notNetwork`, with the number of the line, more than MAX_NETWORKS;
 *   `wrong`, `tooMany`, of the password; too_many_passwords.
 */
export async function changeKeyAllowance(
  ctx: Context,
  id: string,
  { signedIn, current, origin, ...allowance }: KeyAllowance & { signedIn: SignedIn; current: string; origin: Browser },
): Promise<void> {
  authorize(ctx, 'manage_keys')
  const { scopes: before } = await findKey(ctx, id)
  authorizeScopes(ctx, [...before, ...allowance.scopes])
  throwIfIssues(findNetworkIssues(allowance.networks))
  if (signedIn.credential.passwordHash !== NO_PASSWORD) await confirmPassword(ctx, signedIn, { current, origin })
  await changeApiKey(ctx, id, allowance)
}

/**
 * Changes a key's rate limit.
 *
 * @param requestsPerMinute null: as many as the organization.
 * @throws DomainError not_permitted, api_key_not_found; invalid beyond KEY_REQUESTS.
 */
export async function limitKey(
  ctx: Context,
  id: string,
  { requestsPerMinute }: { requestsPerMinute: number | null },
): Promise<void> {
  authorize(ctx, 'manage_keys')
  await findKey(ctx, id)
  throwIfIssues(
    findIssues([['requestsPerMinute', requestsPerMinute === null ? undefined : checkInteger(requestsPerMinute, KEY_REQUESTS)]]),
  )
  await changeApiKey(ctx, id, { requestsPerMinute })
}

/**
 * Revokes a key: both its current and its previous value stop working. A revoked key stays as it is.
 *
 * @throws DomainError not_permitted, api_key_not_found.
 */
export async function revokeKey(ctx: Context, id: string): Promise<void> {
  authorize(ctx, 'manage_keys')
  await findKey(ctx, id)
  await revokeApiKey(ctx, id)
}

/** Names and ids of the keys that a member has generated and that are still good. @throws DomainError not_permitted. */
export async function findWorkingKeysOf(ctx: Context, memberId: string): Promise<{ id: string; name: string }[]> {
  authorize(ctx, 'manage_keys')
  const isGood = [{ expiresAt: null }, { expiresAt: { gt: ctx.deps.clock() } }]
  const where = { organizationId: ctx.organization.id, createdById: memberId, revokedAt: null, OR: isGood }
  return ctx.db.apiKey.findMany({ where, select: { id: true, name: true }, orderBy: { name: 'asc' } })
}

/** Calls {@link revokeKey} for all keys that a member has generated. @throws DomainError not_permitted. */
export async function revokeKeysOf(ctx: Context, memberId: string): Promise<void> {
  for (const { id } of await findWorkingKeysOf(ctx, memberId)) await revokeApiKey(ctx, id)
}

/**
 * Rotates a key. The previous value works for 24 hours more, in which the key can't be rotated again, so that no value in use ends without
 * notice.
 *
 * @returns the new value, which is shown only once.
 * @throws DomainError not_permitted, api_key_not_found; invalid: `rotated` less than 24 hours ago, `ended` if it is revoked or expired.
 */
export async function rotateKey(ctx: Context, id: string): Promise<{ key: string; name: string }> {
  authorize(ctx, 'manage_keys')
  return inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    const where = { organizationId: organization.id, id }
    await lockKey(inside, id)
    const found = await findKey(inside, id)
    authorizeScopes(inside, found.scopes)
    const now = deps.clock()
    if (found.revokedAt || (found.expiresAt && found.expiresAt <= now))
      throwIfIssues([{ field: '', rule: 'account', problem: 'ended' }])
    if (found.previousExpiresAt && found.previousExpiresAt > now)
      throwIfIssues([{ field: '', rule: 'account', problem: 'rotated' }])
    const key = generateApiKey(found.mode)
    const select = { hash: true, hasRestrictedHash: true } as const
    const { hash, hasRestrictedHash: isRestricted } = await db.apiKey.findUniqueOrThrow({ where, select })
    const previous = { previousHash: hash, previousExpiresAt: new Date(now.getTime() + ROTATION_MS) }
    await db.apiKey.update({ where, data: { ...fingerprintApiKey(key, { isRestricted }), ...previous } })
    await recordKey(inside, 'rotated_key', found)
    await notifyAdmins(inside, found.name)
    return { key, name: found.name }
  })
}

/** Serializes rotations of a key. */
async function lockKey(ctx: Context, id: string): Promise<void> {
  if (!isUuid(id)) return
  await ctx.db.selectFrom('apiKeys').select('id').where('id', '=', id).forUpdate().execute()
}

async function findKey({ db, organization }: Context, id: string): Promise<ListedKey> {
  const found = isUuid(id) ? await db.apiKey.findFirst({ where: { organizationId: organization.id, id }, select }) : null
  if (!found) throw new DomainError('api_key_not_found')
  return found
}
