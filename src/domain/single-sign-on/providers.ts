import { hash } from 'node:crypto'
import { tenantDb } from '../../db/tenant-db.ts'
import type { SignInProvider } from '../../generated/prisma/client.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import { lockOrganization } from '../concurrency/lock-organization.ts'
import type { Context, ServiceContext, Tier } from '../context.ts'
import { DomainError } from '../errors.ts'
import { MEMBER_ROLES } from '../members/members.ts'
import { notifyOfSecurityChange } from '../organization/organization-security.ts'
import type { ClientAuth, IdpClient, OperatorProvider } from '../ports/identity-provider.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import { findProviderIssues, normalizeIssuer, type ProviderInput } from './provider-input.ts'
import { decryptClientSecret, encryptClientSecret, type ProviderConnection } from './provider-secrets.ts'

export type Provider = SignInProvider

/** Providers of one organization. */
const MAX_PROVIDERS = 5
/** An admin is made by an admin. */
export const DEFAULT_ROLES = MEMBER_ROLES.filter((role) => role !== 'admin')

/** The organization's providers, in the order of their making. @throws DomainError not_permitted. */
export async function listProviders(ctx: Context): Promise<Provider[]> {
  authorize(ctx, 'manage_security')
  return findProviders(ctx)
}

/** Providers of an organization, for sign-in. */
export const findProviders = ({ db, organization }: Pick<Context, 'db' | 'organization'>): Promise<Provider[]> =>
  db.signInProvider.findMany({ where: { organizationId: organization.id }, orderBy: { id: 'asc' } })

/** @throws DomainError not_permitted; sign_in_setting_not_found. */
export async function getProvider(ctx: Context, id: string): Promise<Provider> {
  authorize(ctx, 'manage_security')
  const found = isUuid(id) && (await ctx.db.signInProvider.findFirst({ where: { id, organizationId: ctx.organization.id } }))
  if (!found) throw new DomainError('sign_in_setting_not_found')
  return found
}

/**
 * Provider of an organization or of the operator.
 *
 * @property organization null for the operator's. @property address name in URLs.
 */
export type FoundProvider = Provider & {
  organization: { id: string; name: string; tier: Tier; ownerNamedAt: Date | null } | null
  address: string
}

/** Finds a provider by its id in addresses. */
export async function findProvider(service: ServiceContext, address: string): Promise<FoundProvider | null> {
  const offered = service.deps.operatorProviders.find((provider) => provider.address === address)
  if (offered) return toFoundProvider(service, offered)
  if (!isUuid(address)) return null
  const organization = { select: { id: true, name: true, tier: true, ownerNamedAt: true } } as const
  const found = await service.db.signInProvider.findUnique({ where: { id: address }, include: { organization } })
  return found && { ...found, address: found.id }
}

/** Provider of the operator's settings, in the form of a row with defaults. */
const toFoundProvider = (service: ServiceContext, { clientSecret, ...provider }: OperatorProvider): FoundProvider => ({
  ...provider,
  encryptedClientSecret: encryptClientSecret(service, provider.id, clientSecret),
  organizationId: null,
  organization: null,
  secretExpiresAt: null,
  requiredClaims: {},
  provisionsMembers: false,
  defaultRoles: [],
  secondFactor: 'ours',
  acrValues: [],
  encryptedDraft: null,
  testedAt: null,
  testedById: null,
  testedSession: null,
  testedSettingsHash: null,
  sendsAuthTime: false,
  logsOutAtProvider: false,
  relinkUntil: null,
  lastError: null,
  lastErrorAt: null,
  createdAt: service.deps.clock(),
  updatedAt: service.deps.clock(),
})

export const hasProviders = async ({ db }: ServiceContext): Promise<boolean> =>
  (await db.signInProvider.findFirst({ select: { id: true } })) !== null

/**
 * Adds a provider. @returns its id.
 *
 * @throws DomainError not_permitted; invalid, or `tooManyProviders`.
 */
export async function addProvider(ctx: Context, input: ProviderInput): Promise<string> {
  authorize(ctx, 'manage_security')
  findProviderIssues(ctx, input, { isNew: true })
  return inTransaction(ctx, async (inside) => {
    await lockOrganization(inside)
    if ((await findProviders(inside)).length >= MAX_PROVIDERS)
      throw new DomainError('invalid', {
        issues: [{ field: '', rule: 'account', problem: 'tooManyProviders', limit: MAX_PROVIDERS }],
      })
    const [id, now] = [inside.deps.newId(), inside.deps.clock()]
    const { clientSecret, ...fields } = toProviderRow(input)
    const encryptedClientSecret = encryptClientSecret(inside, id, clientSecret)
    const data = { id, organizationId: ctx.organization.id, encryptedClientSecret, ...fields, createdAt: now, updatedAt: now }
    await inside.db.signInProvider.create({ data })
    await recordAudit(inside, { action: 'added_sign_in_provider', details: { provider: fields.name, issuer: fields.issuer } })
    return id
  })
}

/** Locks the provider until the transaction ends. @returns false if it was removed; providers of the operator always exist. */
export async function lockProvider({ db }: ServiceContext, { id, organizationId }: FoundProvider): Promise<boolean> {
  if (organizationId === null) return true
  return (
    (await tenantDb(db, { organization: { id: organizationId }, mode: 'all' })
      .selectFrom('signInProviders')
      .select('id')
      .where('id', '=', id)
      .forKeyShare()
      .executeTakeFirst()) !== undefined
  )
}

/** Removes a provider with its linked identities, and ends sessions that it authenticated. @throws DomainError as above. */
export async function removeProvider(ctx: Context, id: string): Promise<void> {
  authorize(ctx, 'manage_security')
  await inTransaction(ctx, async (inside) => {
    await lockOrganization(inside)
    const { name } = await getProvider(inside, id)
    await inside.db.signInProvider.delete({ where: { organizationId: inside.organization.id, id } })
    await recordAudit(inside, { action: 'removed_sign_in_provider', details: { provider: name } })
    await stopEnforcingUntested(inside)
  })
}

/** Ends the enforcement if no provider is tested. @returns true if single sign-on was enforced. */
export const stopEnforcingUntested = async (inside: Context): Promise<boolean> =>
  !(await findProviders(inside)).some((provider) => isTested(inside, provider)) && stopEnforcing(inside)

/** Ends the enforcement. @returns true if single sign-on was enforced. */
export async function stopEnforcing(inside: Context): Promise<boolean> {
  const where = { organizationId: inside.organization.id, ssoEnforcedAt: { not: null } }
  const data = { ssoEnforcedAt: null, updatedAt: inside.deps.clock() }
  const { count } = await inside.db.organizationSecurity.updateMany({ where, data })
  if (count === 0) return false
  await recordAudit(inside, { action: 'stopped_enforcing_sso' })
  await notifyOfSecurityChange(inside)
  return true
}

/** For seven days, links members again by their address: after a change of the client, subjects may differ. */
export async function allowRelinking(ctx: Context, id: string): Promise<void> {
  const provider = await getProvider(ctx, id)
  await inTransaction(ctx, (inside) => startRelinking(inside, provider))
}

/** {@link allowRelinking} without a permission check, in a transaction. */
export async function startRelinking(inside: Context, { id, name }: Pick<Provider, 'id' | 'name'>): Promise<void> {
  const relinkUntil = new Date(inside.deps.clock().getTime() + RELINK_MS)
  await inside.db.signInProvider.update({ where: { organizationId: inside.organization.id, id }, data: { relinkUntil } })
  await recordAudit(inside, { action: 'allowed_relinking', details: { provider: name, until: relinkUntil.toISOString() } })
}
const RELINK_MS = 7 * 86_400_000

/** SHA-256 of the settings that a trial sign-in tests. */
export const hashOfSettings = (service: Pick<ServiceContext, 'deps'>, provider: Provider): Uint8Array<ArrayBuffer> =>
  hashConnection({ ...provider, clientSecret: decryptClientSecret(service, provider) })

export function hashConnection({
  issuer,
  clientId,
  clientAuth,
  clientSecret,
}: Omit<ProviderConnection, 'secretExpiresAt'>): Uint8Array<ArrayBuffer> {
  const text = JSON.stringify([issuer, clientId, clientAuth, clientSecret])
  return new Uint8Array(hash('sha256', `sign-in provider ${text}`, 'buffer'))
}

/** True if a trial sign-in succeeded with the current settings. */
export const isTested = (service: Pick<ServiceContext, 'deps'>, provider: Provider): boolean =>
  provider.testedSettingsHash !== null && Buffer.compare(provider.testedSettingsHash, hashOfSettings(service, provider)) === 0

/** Settings for the OIDC client; null if no secret key decrypts the client secret. */
export function toIdpClient(service: Pick<ServiceContext, 'deps'>, provider: Provider): IdpClient | null {
  const clientSecret = decryptClientSecret(service, provider)
  const { id, issuer, clientId } = provider
  return clientSecret === null ? null : { id, issuer, clientId, clientAuth: provider.clientAuth as ClientAuth, clientSecret }
}

export const toProviderRow = ({ defaultRoles, acrValues, requiredClaims, secretExpiresAt, ...input }: ProviderInput) => ({
  ...input,
  name: input.name.trim(),
  issuer: normalizeIssuer(input.issuer),
  clientId: input.clientId.trim(),
  defaultRoles: DEFAULT_ROLES.filter((role) => defaultRoles.includes(role)),
  acrValues: [...acrValues],
  requiredClaims: { ...requiredClaims },
  secretExpiresAt,
})
