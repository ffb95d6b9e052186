import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import { portalRolesOf } from '../authorization/portal-roles.ts'
import type { Context } from '../context.ts'
import { notifyOfSecurityChange } from '../organization/organization-security.ts'
import { isSsoEnforced } from '../sign-in/domain-owners.ts'
import { hasTwoOwnFactors } from '../sign-in/session-access.ts'
import { displayNameOf } from '../text/display-name.ts'
import { DAY_MS } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import { isEmailAddress, toStoredAddress } from '../validation/email-address.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { findMemberByAddress, findOrCreateMember } from './invite-member.ts'
import { lockMember } from './members.ts'

/** Why somebody signs in with factors of their own although the organization has an identity provider: from outside, or when it fails. */
export const SIGN_IN_EXCEPTIONS = ['guest', 'break_glass'] as const
export type SignInException = (typeof SIGN_IN_EXCEPTIONS)[number]

/** @property isReady for `break_glass`: true if the owner signed in with their own factors within {@link READY_MS}. */
export type SignInExceptionMember = { id: string; name: string; email: string; signInException: string; isReady: boolean }

/** Milliseconds after a sign-in for which the owner's own factors are expected to work. */
const READY_MS = 30 * DAY_MS

/** Members with a sign-in exception. @throws DomainError not_permitted. */
export async function listSignInExceptions(ctx: Context): Promise<SignInExceptionMember[]> {
  authorize(ctx, 'manage_security')
  const { db, organization } = ctx
  const members = await db.member.findMany({
    where: { organizationId: organization.id, status: 'active', signInException: { not: null } },
    include: { user: true, organization: { select: { ownerNamedAt: true } } },
    orderBy: [{ email: 'asc' }, { id: 'asc' }],
  })
  const owners = members.filter(
    ({ signInException, ...member }) =>
      signInException === 'break_glass' && portalRolesOf(member, member.organization).includes('owner'),
  )
  const ready = await findUsed(
    ctx,
    owners.map(({ id }) => id),
  )
  return members.map(({ id, email, signInException, user }) => ({
    id,
    email,
    name: displayNameOf(user),
    signInException: signInException ?? '',
    isReady: ready.has(id),
  }))
}

/** Members who recently signed in without the identity provider. */
async function findUsed({ db, deps, organization }: Context, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const at = { gte: new Date(deps.clock().getTime() - READY_MS) }
  const signIns = await db.auditEntry.findMany({
    where: { organizationId: organization.id, action: 'signed_in', actorId: { in: ids }, at },
    select: { actorId: true, details: true },
  })
  const proofsOf = (details: unknown) => ((details as { proofs?: string[] }).proofs ?? []).map((kind) => ({ kind }))
  return new Set(signIns.flatMap(({ actorId, details }) => (actorId && hasTwoOwnFactors(proofsOf(details)) ? [actorId] : [])))
}

/**
 * Exempts a person from single sign-on. Guests can be exempted before they are members, and then be invited from any domain.
 *
 * @throws DomainError not_permitted; invalid: no address; for `break_glass` (problem `notOwner`) someone who is no owner or has not joined;
 *   `inactive`; `lastBreakGlass`.
 */
export async function grantSignInException(
  ctx: Context,
  { email: enteredEmail, signInException }: { email: string; signInException: SignInException },
): Promise<void> {
  authorize(ctx, 'manage_security')
  const email = toStoredAddress(enteredEmail.trim())
  throwIfIssues(isEmailAddress(email) ? [] : [{ field: 'email', rule: 'email' }])
  await changeSignInExceptions(ctx, async (inside) => {
    const found = signInException === 'guest' ? await findOrCreateMember(inside, email) : await findMemberByAddress(inside, email)
    const isOwner = found?.credentialId != null && (await isOwnerOf(inside, found.id))
    throwIfIssues(signInException === 'break_glass' && !isOwner ? [{ field: 'email', rule: 'account', problem: 'notOwner' }] : [])
    if (!found || found.signInException === signInException) return
    throwIfIssues(
      signInException === 'break_glass' && !(await hasProvenAddress(inside, found.credentialId))
        ? [{ field: 'email', rule: 'account', problem: 'addressUnproven' }]
        : [],
    )
    throwIfIssues(found.status === 'active' ? [] : [{ field: 'email', rule: 'account', problem: 'inactive' }])
    await setSignInException(inside, found, signInException)
  })
}

/** Ends a member's exception: they sign in by the identity provider like others. @throws DomainError not_permitted, member_not_found; invalid: `lastBreakGlass`. */
export async function endSignInException(ctx: Context, id: string): Promise<void> {
  authorize(ctx, 'manage_security')
  await changeSignInExceptions(ctx, async (inside) => {
    const { signInException } = await inside.db.member.findUniqueOrThrow({
      where: { organizationId: inside.organization.id, id: (await lockMember(inside, id)).id },
      select: { signInException: true },
    })
    if (signInException !== null) await setSignInException(inside, { id, signInException }, null)
  })
}

const changeSignInExceptions = (ctx: Context, work: (inside: Context) => Promise<void>): Promise<void> =>
  inTransaction(ctx, async (inside) => {
    await inside.db.selectFrom('organizations').select('id').forNoKeyUpdate().execute()
    const before = await countBreakGlass(inside)
    await work(inside)
    await refuseNoBreakGlass(inside, before)
  })

async function setSignInException(
  inside: Context,
  { id, signInException: before }: { id: string; signInException: string | null },
  after: SignInException | null,
): Promise<void> {
  await inside.db.member.update({
    where: { organizationId: inside.organization.id, id },
    data: { signInException: after, updatedAt: inside.deps.clock() },
  })
  await recordAudit(inside, {
    action: 'changed_sign_in_exception',
    target: { kind: 'member', id },
    details: { signInException: { before, after } },
  })
  await notifyOfSecurityChange(inside)
}

/** Number of owners who can sign in if the identity provider fails. */
export async function countBreakGlass({ db, organization }: Pick<Context, 'db' | 'organization'>): Promise<number> {
  const members = await db.member.findMany({
    where: { organizationId: organization.id, status: 'active', signInException: 'break_glass', credentialId: { not: null } },
    select: { roles: true, portalRoles: true, organization: { select: { ownerNamedAt: true } } },
  })
  return members.filter((member) => portalRolesOf(member, member.organization).includes('owner')).length
}

/**
 * Refuses to remove the last owner with emergency access while single sign-on is enforced. Call it at the end of a change that may remove one.
 *
 * @param before how many there were. @throws DomainError invalid: `lastBreakGlass`.
 */
export async function refuseNoBreakGlass(inside: Context, before: number): Promise<void> {
  const isLastGone = before > 0 && (await countBreakGlass(inside)) === 0 && (await isSsoEnforced(inside))
  throwIfIssues(isLastGone ? [{ field: '', rule: 'account', problem: 'lastBreakGlass' }] : [])
}

/** The first proof of an address removes all sign-in data of its account, so an emergency address must be proven beforehand. */
const hasProvenAddress = async ({ db }: Context, credentialId: string | null): Promise<boolean> =>
  credentialId !== null && (await db.credential.count({ where: { id: credentialId, emailVerifiedAt: { not: null } } })) > 0

async function isOwnerOf({ db, organization }: Context, id: string): Promise<boolean> {
  const select = { roles: true, portalRoles: true, organization: { select: { ownerNamedAt: true } } } as const
  const member = await db.member.findUniqueOrThrow({ where: { organizationId: organization.id, id }, select })
  return portalRolesOf(member, member.organization).includes('owner')
}
