import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import { type Context, enterOrganization, type ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { MAX_NAME_LENGTH } from '../limits.ts'
import { lockCredential } from '../sign-in/credential-lock.ts'
import { hasFactor } from '../sign-in/has-factor.ts'
import { removeCredentials } from '../sign-in/prove-address.ts'
import { findMemberships } from '../sign-in/sessions.ts'
import { findCredential } from '../sign-in/sign-in.ts'
import { inTransaction } from '../transaction.ts'
import { checkName, findIssues } from '../validation/checks.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { createResetLink, type PersonalLink } from './invite-member.ts'
import { lockMember } from './members.ts'
import { refuseRoleBeyondOwn } from './role-changes.ts'

/**
 * Removes the second factors, password, and sessions of a member who lost their factors. The password goes, too: someone who only knows it
 * must not set up the next factor. The member gets a reset link by email. A member without factors keeps everything.
 *
 * @throws DomainError not_permitted, also for oneself; member_not_found; invalid: no reason, or `elsewhere`: the member belongs to other
 *   organizations, so only the operator can reset them.
 */
export async function resetMemberFactors(ctx: Context, id: string, reason: string): Promise<void> {
  authorize(ctx, 'manage_members')
  if (ctx.actor.kind === 'member' && ctx.actor.id === id) throw new DomainError('not_permitted')
  throwIfIssues(findIssues([['reason', checkName(reason, MAX_NAME_LENGTH)]]))
  await inTransaction(ctx, async (inside) => {
    const { credentialId, portalRoles } = await lockMember(inside, id)
    refuseRoleBeyondOwn(inside, { portalRoles })
    if (!credentialId) return
    await lockCredential(inside, credentialId)
    if (!(await hasFactor(inside, credentialId))) return
    const memberships = await findMemberships(inside, credentialId)
    const isElsewhere = memberships.some(({ organizationId }) => organizationId !== ctx.organization.id)
    throwIfIssues(isElsewhere ? [{ field: '', rule: 'account', problem: 'elsewhere' }] : [])
    await removeCredentials(inside, credentialId, 'factors_reset')
    await recordAudit(inside, { action: 'reset_factors', target: { kind: 'member', id }, details: { reason: reason.trim() } })
    const { email } = await inside.db.credential.findUniqueOrThrow({ where: { id: credentialId }, select: { email: true } })
    await createResetLink(inside, email, { mails: true })
  })
}

/** Resets factors in all organizations, for the operator. @returns a link for the person; null if there is no account. */
export const resetFactors = (operator: ServiceContext, email: string): Promise<PersonalLink | null> =>
  inTransaction(operator, async (inside) => {
    const credential = await findCredential(inside, email)
    if (!credential) return null
    await lockCredential(inside, credential.id)
    await removeCredentials(inside, credential.id, 'factors_reset')
    for (const { id, organization } of await findMemberships(inside, credential.id))
      await recordAudit(enterOrganization(inside, organization), { action: 'reset_factors', target: { kind: 'member', id } })
    return createResetLink(inside, credential.email, { mails: false })
  })
