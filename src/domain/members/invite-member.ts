import { sql } from '../../db/builder.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import { type Context, enterOrganization, type ServiceContext } from '../context.ts'
import { queueMemberEmail } from '../mails/member-emails.ts'
import { createAccountLink } from '../sign-in/account-links.ts'
import { findDomainOwner, isSsoEnforced } from '../sign-in/domain-owners.ts'
import { findMemberships } from '../sign-in/sessions.ts'
import { findCredential } from '../sign-in/sign-in.ts'
import { userKeys } from '../text/fold-text.ts'
import { inTransaction } from '../transaction.ts'
import { isEmailAddress, toStoredAddress } from '../validation/email-address.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { lockAssessmentsToShare, shareAssessments } from './client-assessments.ts'
import { isKnownRole, lockMember, type Member, type MemberRole } from './members.ts'
import { refuseKeyOnAdmins } from './refuse-key-on-admins.ts'
import { type AssignablePortalRole, changesOf, refuseRoleBeyondOwn, refuseRoleChange } from './role-changes.ts'

type Names = { firstName: string; lastName: string }
const NO_NAMES: Names = { firstName: '', lastName: '' }

type Invitation = Partial<Names> & {
  email: string
  roles: MemberRole[]
  portalRoles?: AssignablePortalRole[]
  /** Assessments whose released results a client sees; ignored without the role client. */
  assessmentIds?: string[]
  mails: boolean
  reactivates?: boolean
}

/** A link to hand to the person it is meant for. */
export type PersonalLink = { url: string; expiresAt: Date }

/**
 * Creates a join link and, unless the address has one, the member.
 *
 * @param invitation.firstName first name of a new member, who can change it when joining. The same applies to lastName.
 * @param invitation.roles added to the member's roles; replaces them if the member is deactivated. The same applies to portal roles.
 * @param invitation.mails true to email the link. @param invitation.reactivates true to reactivate a deactivated member, who signs in with
 *   their existing password.
 * @throws DomainError not_permitted, admin_refused; invalid for an invalid address, an unknown assessment (rule `reference`), a deactivated
 *   member (rule `account`), or `foreignDomain`: single sign-on is required, and no identity provider covers the address.
 */
export async function inviteMember(ctx: Context, invitation: Invitation): Promise<PersonalLink & { memberId: string }> {
  authorize(ctx, 'manage_members')
  const { firstName = '', lastName = '', roles, portalRoles = [], assessmentIds = [], mails, reactivates = false } = invitation
  const email = toStoredAddress(invitation.email)
  throwIfIssues([
    ...(isEmailAddress(email) ? [] : [{ field: 'email', rule: 'email' } as const]),
    ...(roles.length + portalRoles.length > 0 ? [] : [{ field: 'roles', rule: 'required' } as const]),
  ])
  const names = { firstName: firstName.trim(), lastName: lastName.trim() }
  const sharedIds = roles.includes('client') ? assessmentIds : []
  return inTransaction(ctx, async (inside) => {
    const assessments = await lockAssessmentsToShare(inside, sharedIds)
    const { id: memberId, ...member } = await findOrCreateMember(inside, email, names)
    refuseKeyOnAdmins(inside, member.roles, roles)
    await refuseForeign(inside, email, member)
    const isInactive = member.status === 'inactive'
    throwIfIssues(isInactive && !reactivates ? [{ field: 'email', rule: 'account', problem: 'deactivated' }] : [])
    const keptRoles = isInactive ? member.roles.filter((role) => !isKnownRole(role)) : member.roles
    const after = {
      roles: [...new Set([...keptRoles, ...roles])],
      portalRoles: [...new Set([...(isInactive ? [] : member.portalRoles), ...portalRoles])],
    }
    if (isInactive) refuseRoleBeyondOwn(inside, member)
    else refuseRoleChange(inside, { id: memberId, ...member }, after)
    const now = inside.deps.clock()
    const reactivation = isInactive && { status: 'active' as const, activeSince: now }
    const where = { organizationId: inside.organization.id, id: memberId }
    await inside.db.member.update({ where, data: { ...after, ...reactivation, updatedAt: now } })
    const target = { kind: 'member', id: memberId } as const
    if (isInactive) {
      const details = { ...changesOf(member, after), roles: { before: member.roles, after: after.roles } }
      await recordAudit(inside, { action: 'reactivated_member', target, details })
    }
    const shared = await shareAssessments(inside, memberId, assessments)
    await recordInvitation(inside, memberId, { roles, portalRoles, shared })
    return { memberId, ...(await createJoinLink(inside, memberId, mails)) }
  })
}

const recordInvitation = (
  inside: Context,
  memberId: string,
  { roles, portalRoles, shared }: { roles: string[]; portalRoles: string[]; shared: string[] },
): Promise<void> =>
  recordAudit(inside, {
    action: 'invited_member',
    target: { kind: 'member', id: memberId },
    details: { roles, ...(portalRoles.length > 0 && { portalRoles }), ...(shared.length > 0 && { shared }) },
  })

/** Refuses members outside the domains of the identity provider if single sign-on is required, except guests. */
async function refuseForeign(inside: Context, email: string, { signInException }: Pick<Found, 'signInException'>): Promise<void> {
  if (signInException !== null || !(await isSsoEnforced(inside))) return
  const speaker = await findDomainOwner(inside, email)
  if (speaker?.organizationId !== inside.organization.id)
    throwIfIssues([{ field: 'email', rule: 'account', problem: 'foreignDomain' }])
}

/**
 * Mails another link to a member who has not joined yet.
 *
 * @throws DomainError not_permitted, member_not_found; invalid: `joined` when it is needed no more, `inactive`.
 */
export async function resendJoinLink(ctx: Context, id: string): Promise<PersonalLink> {
  authorize(ctx, 'manage_members')
  return inTransaction(ctx, async (inside) => {
    const { status, credentialId, roles } = await lockMember(inside, id)
    refuseKeyOnAdmins(inside, roles)
    if (status !== 'active') throwIfIssues([{ field: '', rule: 'account', problem: 'inactive' }])
    if (credentialId) throwIfIssues([{ field: '', rule: 'account', problem: 'joined' }])
    await recordAudit(inside, { action: 'sent_join_link', target: { kind: 'member', id } })
    return createJoinLink(inside, id, true)
  })
}

/** The link of an operator proves the address, as a mailed one does; an admin's does not: they may keep it for themselves. */
async function createJoinLink(inside: Context, memberId: string, mails: boolean): Promise<PersonalLink> {
  const link = await createAccountLink(inside, { kind: 'join', memberId })
  if (mails) await queueMemberEmail(inside, { kind: 'join', memberId, linkId: link.id })
  const provesAddress = inside.actor.kind === 'operator'
  return { url: inside.deps.links.accountUrl({ ...link, provesAddress }), expiresAt: link.expiresAt }
}

type Found = Pick<Member, 'id' | 'roles' | 'portalRoles' | 'status' | 'credentialId' | 'userId' | 'signInException' | 'erasedAt'>

/** An address is a member once, in either case. Nobody else changes it until the transaction ends. */
export async function findOrCreateMember(inside: Context, email: string, names = NO_NAMES): Promise<Found> {
  const found =
    (await findMemberByAddress(inside, email)) ??
    (await createMember(inside, email, names)) ??
    (await findMemberByAddress(inside, email))
  if (!found) throw new Error('A member can neither be found nor made.')
  // The placeholder address of an erased member is nobody's.
  throwIfIssues(found.erasedAt ? [{ field: 'email', rule: 'email' }] : [])
  return found
}

export const findMemberByAddress = (ctx: Context, email: string): Promise<Found | undefined> =>
  ctx.db
    .selectFrom('members')
    .select(['id', 'roles', 'portalRoles', 'status', 'credentialId', 'userId', 'signInException', 'erasedAt'])
    .where(({ fn }) => sql<boolean>`${fn('address_key', ['email'])} = address_key(${toStoredAddress(email)})`)
    .forNoKeyUpdate()
    .executeTakeFirst()

/** @returns null if somebody else created the member simultaneously. */
async function createMember({ db, deps, organization }: Context, email: string, names: Names): Promise<Found | null> {
  const now = deps.clock()
  const times = { createdAt: now, updatedAt: now }
  const person = { email, ...names }
  const user = await db.user.create({ data: { id: deps.newId(), ...person, ...userKeys(person), ...times } })
  const data = { id: deps.newId(), organizationId: organization.id, userId: user.id, email, roles: [], joinedAt: now, ...times }
  const select = {
    id: true,
    roles: true,
    portalRoles: true,
    status: true,
    credentialId: true,
    userId: true,
    signInException: true,
    erasedAt: true,
  } as const
  const [member] = await db.member.createManyAndReturn({ data: [data], skipDuplicates: true, select })
  if (!member) await db.user.delete({ where: { id: user.id } })
  return member ?? null
}

/**
 * Password reset link for the account with the address; null if there is none. It proves the address: only the email and the operator have
 * it.
 */
export async function createResetLink(
  service: ServiceContext,
  email: string,
  { mails }: { mails: boolean },
): Promise<PersonalLink | null> {
  const credential = await findCredential(service, email)
  const [membership] = credential ? await findMemberships(service, credential.id) : []
  if (!credential || !membership) return null
  const { id: memberId, organization } = membership
  return inTransaction(enterOrganization(service, organization), async (inside) => {
    const link = await createAccountLink(inside, { kind: 'reset', memberId, credentialId: credential.id })
    if (mails) await queueMemberEmail(inside, { kind: 'reset', memberId, linkId: link.id })
    return { url: service.deps.links.accountUrl({ ...link, provesAddress: true }), expiresAt: link.expiresAt }
  })
}
