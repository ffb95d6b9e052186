import { unscopedPrisma } from '../../db/unscoped.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context, ServiceContext } from '../context.ts'
import { lockMember } from '../members/members.ts'
import { refuseRoleBeyondOwn } from '../members/role-changes.ts'
import { type IdToken, OPERATOR_PROVIDERS } from '../ports/identity-provider.ts'
import { requireOwnCredential } from '../sign-in/credential-lock.ts'
import { findDomainOwner } from '../sign-in/domain-owners.ts'
import { endSessions } from '../sign-in/end-sessions.ts'
import { notifyPerson } from '../sign-in/notify-person.ts'
import { NO_PASSWORD } from '../sign-in/passwords.ts'
import { identifiesEverywhere } from '../sign-in/session-access.ts'
import { recordInAllOrganizations, type SignedIn, toMemberContext } from '../sign-in/sessions.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import type { FoundProvider } from './providers.ts'

type Member = Parameters<typeof toMemberContext>[1] & { organizationId: string }
/** Origin of a linked identity: a join link, an address in the organization's domain, or the person. */
export type LinkedBy = 'join' | 'domain' | 'self'

/** @property isNew true if the account was just created. */
type LinkedPerson = { credentialId: string; members: Member[]; linkedBy: LinkedBy; isNew?: boolean }

/** An identity as its owner, or an admin, sees it. */
export type LinkedIdentity = {
  id: string
  provider: string
  lastEmail: string | null
  linkedAt: Date
  lastUsedAt: Date | null
}

/** Linked identity of a token; null if it is not linked. */
export const findIdentity = ({ db }: ServiceContext, { id: providerId }: FoundProvider, { issuer, subject }: IdToken) =>
  db.identity.findUnique({
    where: { providerId_issuer_subject: { providerId, issuer, subject } },
    include: { member: { include: { organization: { select: { id: true, name: true, tier: true, ownerNamedAt: true } } } } },
  })

/**
 * Links a person to the identity in a token: an organization's provider links its member, an operator's provider the person.
 *
 * Notifies them by email unless the account is new. @returns false if somebody is linked to the identity already.
 */
export async function linkIdentity(
  inside: ServiceContext,
  { id: providerId, organizationId, name }: FoundProvider,
  { issuer, subject, email }: IdToken,
  { credentialId, members, linkedBy, isNew = false }: LinkedPerson,
): Promise<boolean> {
  const now = inside.deps.clock()
  const memberColumns = organizationId === null ? {} : { organizationId, memberId: members[0]!.id }
  const row = { id: inside.deps.newId(), providerId, issuer, subject, credentialId, ...memberColumns, lastEmail: email, linkedBy }
  const { count } = await inside.db.identity.createMany({
    data: [{ ...row, linkedAt: now, lastUsedAt: now }],
    skipDuplicates: true,
  })
  if (count === 0) return false
  for (const member of members)
    await recordAudit(toMemberContext(inside, member), { action: 'linked_identity', details: { provider: name, by: linkedBy } })
  if (!isNew) await notifyPerson(inside, members, 'identity_linked', { called: name })
  return true
}

/** Linked identities at the operator's providers and at this organization's. */
export async function listOwnIdentities(ctx: Context, { credential }: SignedIn): Promise<LinkedIdentity[]> {
  const where = { credentialId: credential.id, OR: [{ organizationId: null }, { organizationId: ctx.organization.id }] }
  return toLinkedIdentities(
    ctx,
    await unscopedPrisma(ctx.db).identity.findMany({ where, orderBy: [{ linkedAt: 'asc' }, { id: 'asc' }] }),
  )
}

/** Linked identities of a member in this organization. @throws DomainError not_permitted. */
export async function listMemberIdentities(ctx: Context, memberId: string): Promise<LinkedIdentity[]> {
  authorize(ctx, 'manage_members')
  const where = { organizationId: ctx.organization.id, memberId }
  return toLinkedIdentities(ctx, await ctx.db.identity.findMany({ where, orderBy: [{ linkedAt: 'asc' }, { id: 'asc' }] }))
}

type Row = Omit<LinkedIdentity, 'provider'> & { providerId: string }

async function toLinkedIdentities({ db, organization }: Context, rows: Row[]): Promise<LinkedIdentity[]> {
  const ids = rows.map(({ providerId }) => providerId)
  const providers =
    ids.length > 0
      ? await db.signInProvider.findMany({
          where: { organizationId: organization.id, id: { in: ids } },
          select: { id: true, name: true },
        })
      : []
  const named = [...OPERATOR_PROVIDERS, ...providers]
  return rows.map(({ providerId, ...row }) => ({ ...row, provider: named.find(({ id }) => id === providerId)?.name ?? '' }))
}

/**
 * Unlinks one of the person's own identities, and ends the other sessions that were authenticated by its provider. A missing identity
 * counts as unlinked.
 *
 * @returns false if it is the person's only sign-in method.
 */
export const unlinkOwnIdentity = (service: Context, signedIn: SignedIn, id: string): Promise<boolean> =>
  inTransaction(service, async (inside) => {
    const { credential, memberships, sessionId } = signedIn
    await requireOwnCredential(inside, signedIn)
    const where = { id, credentialId: credential.id, OR: [{ organizationId: null }, { organizationId: service.organization.id }] }
    const found = isUuid(id) ? await unscopedPrisma(inside.db).identity.findFirst({ where }) : null
    if (!found) return true
    if (!(await hasOtherSignInMethod(inside, credential.id, id))) return false
    await unscopedPrisma(inside.db).identity.delete({ where: { id } })
    const { providerId } = found
    const otherSessions = { credentialId: credential.id, id: { not: sessionId }, proofs: { some: { providerId } } }
    await endSessions(inside, otherSessions, 'factor_changed')
    const affectedMemberships = memberships.filter(
      ({ organizationId }) => found.organizationId === null || found.organizationId === organizationId,
    )
    await recordInAllOrganizations(inside, affectedMemberships, { action: 'unlinked_identity' })
    return true
  })

/** True if the account has another sign-in method: a password, a passkey, or another identity. */
async function hasOtherSignInMethod({ db }: ServiceContext, credentialId: string, id: string): Promise<boolean> {
  const { passwordHash } = await db.credential.findUniqueOrThrow({ where: { id: credentialId } })
  if (passwordHash !== NO_PASSWORD) return true
  const passkeys = await db.secondFactor.count({ where: { credentialId, kind: 'passkey' } })
  return passkeys + (await unscopedPrisma(db).identity.count({ where: { credentialId, id: { not: id } } })) > 0
}

/**
 * Unlinks a member's identity. The next person whom the organization's provider reports with the member's address becomes that member. So
 * addresses can be reassigned, but not by the provider alone, and an owner's only by an owner.
 *
 * @throws DomainError not_permitted, member_not_found; invalid: `tooHigh`.
 */
export async function unlinkMemberIdentity(ctx: Context, memberId: string, id: string): Promise<void> {
  authorize(ctx, 'manage_members')
  if (!isUuid(id) || !isUuid(memberId)) return
  await inTransaction(ctx, async (inside) => {
    refuseRoleBeyondOwn(inside, await lockMember(inside, memberId))
    const { count } = await inside.db.identity.deleteMany({ where: { id, memberId, organizationId: ctx.organization.id } })
    if (count > 0) await recordAudit(inside, { action: 'unlinked_identity', target: { kind: 'member', id: memberId } })
  })
}

/**
 * True if the session may change the account itself (password, factors, name, sessions). It needs an authentication with the service. An
 * organization's provider is enough if the person belongs to no other organization and it verified the domain of their address: otherwise
 * another organization could add a passkey that signs in to organizations the person joins later.
 */
export async function mayChangeAccount(
  service: ServiceContext,
  {
    session,
    credential,
    memberships,
    blockedMemberships,
  }: Pick<SignedIn, 'session' | 'credential' | 'memberships' | 'blockedMemberships'>,
): Promise<boolean> {
  if (session.proofs.length === 0 || session.proofs.some(identifiesEverywhere)) return true
  const organizationIds = new Set([...memberships, ...blockedMemberships].map(({ organizationId }) => organizationId))
  const domainOwner = organizationIds.size === 1 ? await findDomainOwner(service, credential.email) : null
  return domainOwner !== null && organizationIds.has(domainOwner.organizationId)
}
