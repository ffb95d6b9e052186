import { recordAudit } from '../audit/record-audit.ts'
import { type Context, enterOrganization, type ServiceContext } from '../context.ts'
import { findMemberByAddress, findOrCreateMember } from '../members/invite-member.ts'
import { createCredential } from '../members/join.ts'
import type { IdToken } from '../ports/identity-provider.ts'
import { readAccountLink } from '../secrets/account-tokens.ts'
import { findOpenLink } from '../sign-in/account-links.ts'
import { attachCredential } from '../sign-in/complete-join.ts'
import { lockCredential } from '../sign-in/credential-lock.ts'
import { NO_PASSWORD } from '../sign-in/passwords.ts'
import { proveAddress } from '../sign-in/prove-address.ts'
import { renameUser } from '../sign-in/rename-user.ts'
import { findMemberships } from '../sign-in/sessions.ts'
import { findCredential } from '../sign-in/sign-in.ts'
import { findMissingClaim, findVerifiedAddress } from './find-verified-address.ts'
import type { Identification } from './identification.ts'
import { findIdentity, linkIdentity } from './identities.ts'
import { joinByProvider } from './join-by-provider.ts'
import type { OidcPurpose } from './oidc-flow.ts'
import type { FoundProvider } from './providers.ts'
import { tokenNamesOf } from './token-names.ts'

/**
 * Finds the person of an ID token by issuer and subject; for a new one by a link to join or an address in a verified domain.
 * Deactivated members stay deactivated.
 */
export async function identifyPerson(
  inside: ServiceContext,
  provider: FoundProvider,
  token: IdToken,
  purpose: OidcPurpose,
): Promise<Identification> {
  const linkedIdentity = await findIdentity(inside, provider, token)
  const ref = purpose.kind === 'join' ? readAccountLink(inside.deps.secretKeys, 'join', purpose.token) : null
  const link = ref && (await findOpenLink(inside, ref))
  const speaksThere = link && (provider.organizationId === null || provider.organizationId === link.organizationId)
  // A person with an identity of the operator's provider, whom another organization has invited.
  const joinsAnother = linkedIdentity !== null && link?.member.credentialId === null && provider.organizationId === null
  if (linkedIdentity && !joinsAnother) return identifyLinked(inside, provider, token, linkedIdentity)
  if (link && speaksThere)
    return joinByProvider(inside, provider, token, { link, ref, knownCredentialId: linkedIdentity?.credentialId })
  const { organization } = provider
  return organization ? identifyByAddress(enterOrganization(inside, organization), provider, token) : { problem: 'notInvited' }
}

type KnownIdentity = NonNullable<Awaited<ReturnType<typeof findIdentity>>>

async function identifyLinked(
  inside: ServiceContext,
  { organizationId }: FoundProvider,
  { email }: IdToken,
  { id, credentialId, member }: KnownIdentity,
): Promise<Identification> {
  if (member && member.status !== 'active') return { problem: 'inactive' }
  const isInbound = organizationId === null || member?.credentialId === credentialId
  if (!isInbound) return { problem: 'notInvited' }
  await lockCredential(inside, credentialId)
  if ((await findMemberships(inside, credentialId)).length === 0) return { problem: 'inactive' }
  const data = { lastEmail: email, lastUsedAt: inside.deps.clock() }
  const { count } = await inside.db.identity.updateMany({ where: { id }, data })
  return count > 0 ? { credentialId } : { problem: 'expiredSignIn' }
}

/**
 * Identifies by an address of a domain that the organization has verified. The domain decides, not the token's statement about the address.
 */
async function identifyByAddress(inside: Context, provider: FoundProvider, token: IdToken): Promise<Identification> {
  const email = await findVerifiedAddress(inside, provider, token)
  if (email === null) return { problem: 'notInvited' }
  const claim = findMissingClaim(provider)
  if (claim) return { problem: 'claimMissing', code: claim }
  const member =
    (await findMemberByAddress(inside, email)) ??
    (provider.provisionsMembers ? await addMember(inside, provider, token, email) : null)
  if (!member) return { problem: 'notInvited' }
  if (member.status !== 'active') return { problem: 'inactive' }
  const ofMember = { providerId: provider.id, organizationId: inside.organization.id, memberId: member.id }
  const mayLinkAnew = provider.relinkUntil !== null && provider.relinkUntil > inside.deps.clock()
  // Addresses are reassigned: the present owner may be another person than the linked one.
  if (!mayLinkAnew && (await inside.db.identity.count({ where: ofMember })) > 0) return { problem: 'otherIdentity' }
  await inside.db.identity.deleteMany({ where: ofMember })
  const isNew = member.credentialId === null && (await findCredential(inside, email)) === undefined
  const credentialId = member.credentialId ?? (await findOrCreateCredential(inside, member, email))
  if (!credentialId || !(await lockCredential(inside, credentialId))) return { problem: 'expiredSignIn' }
  await proveAddress(inside, credentialId)
  const memberRow = await inside.db.member.findUniqueOrThrow({
    where: { organizationId: inside.organization.id, id: member.id },
    include,
  })
  // A concurrent sign-in has linked the same identity.
  await linkIdentity(inside, provider, token, { credentialId, members: [memberRow], linkedBy: 'domain', isNew })
  return { credentialId }
}

const include = { organization: { select: { id: true, name: true, tier: true, ownerNamedAt: true } }, user: true } as const

async function addMember(inside: Context, { defaultRoles, name }: FoundProvider, token: IdToken, email: string) {
  const member = await findOrCreateMember(inside, email)
  const data = { roles: defaultRoles, updatedAt: inside.deps.clock() }
  await inside.db.member.update({ where: { organizationId: inside.organization.id, id: member.id }, data })
  await renameUser(inside, member.userId, tokenNamesOf(token))
  const target = { kind: 'member', id: member.id } as const
  await recordAudit(inside, { action: 'invited_member', target, details: { roles: defaultRoles, provider: name } })
  return { ...member, roles: defaultRoles }
}

/**
 * Finds the credential with the address, from any organization, or creates one without a password.
 *
 * @returns null if a concurrent transaction creates or deletes it.
 */
async function findOrCreateCredential(inside: Context, { id }: { id: string }, email: string): Promise<string | null> {
  const found = await findCredential(inside, email)
  const newCredential = { email, passwordHash: NO_PASSWORD, isProven: true }
  const credential = found ? await lockCredential(inside, found.id) : await createCredential(inside, newCredential)
  if (!credential) return null
  const member = await inside.db.member.findUniqueOrThrow({ where: { organizationId: inside.organization.id, id }, include })
  const { firstName, lastName } = member.user
  await attachCredential(inside, { member }, credential.id, { firstName, lastName })
  return credential.id
}
