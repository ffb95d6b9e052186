import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { omitUndefined } from '../fields/omit-undefined.ts'
import { nameActor, queueMemberEmail } from '../mails/member-emails.ts'
import type { SessionSummary } from '../sign-in/end-sessions.ts'
import { AUTHENTICATION_KINDS, type AuthenticationKind, isBlocked } from '../sign-in/session-access.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import { lockMember } from './members.ts'

/** A session as admins see it. @property proofs authentications of the session. */
export type MemberSession = SessionSummary & { proofs: AuthenticationKind[] }

/** Sessions of a person that go on, and that this organization has not closed itself to. */
const canUseOrganization = ({ deps, organization }: Context, credentialId: string) => ({
  credentialId,
  endedAt: null,
  expiresAt: { gt: deps.clock() },
  NOT: { closedOrganizationIds: { has: organization.id } },
})

/**
 * A member's sessions with access to this organization, last used first. Other organizations are not mentioned.
 *
 * @throws DomainError not_permitted.
 */
export async function listMemberSessions(
  ctx: Context,
  member: { status: 'active' | 'inactive'; credentialId: string | null; activeSince: Date | null },
): Promise<MemberSession[]> {
  authorize(ctx, 'manage_members')
  if (!member.credentialId) return []
  const found = await ctx.db.session.findMany({
    where: canUseOrganization(ctx, member.credentialId),
    orderBy: [{ lastSeenAt: 'desc' }, { id: 'desc' }],
    include: { proofs: { select: { kind: true } } },
  })
  const membership = { ...member, organizationId: ctx.organization.id }
  return found
    .filter((session) => !isBlocked(session, membership))
    .map(({ id, userAgent, network, createdAt, lastSeenAt, proofs }) => {
      const kinds = AUTHENTICATION_KINDS.filter((kind) => proofs.some((proof) => proof.kind === kind))
      return { id, userAgent, network, createdAt, lastSeenAt, proofs: kinds.length > 0 ? kinds : ['password'] }
    })
}

/**
 * Ends a session's access to this organization; other organizations stay open. The member is notified by email. Members end their own
 * sessions under My account.
 *
 * @param sessionId undefined: all. @throws DomainError not_permitted, also for oneself; member_not_found.
 */
export async function endMemberSessions(ctx: Context, memberId: string, sessionId?: string): Promise<void> {
  authorize(ctx, 'manage_members')
  if (ctx.actor.kind === 'member' && ctx.actor.id === memberId) throw new DomainError('not_permitted')
  await inTransaction(ctx, async (inside) => {
    const { credentialId } = await lockMember(inside, memberId)
    if (!credentialId || (sessionId !== undefined && !isUuid(sessionId))) return
    const { count } = await inside.db.session.updateMany({
      where: { ...canUseOrganization(inside, credentialId), ...omitUndefined({ id: sessionId }) },
      data: { closedOrganizationIds: { push: ctx.organization.id } },
    })
    if (count === 0) return
    const target = { kind: 'member', id: memberId } as const
    await recordAudit(inside, { action: 'ended_member_sessions', target, details: { count } })
    await queueMemberEmail(inside, {
      kind: 'sessions_ended',
      memberId,
      facts: omitUndefined({ person: await nameActor(inside) }),
    })
  })
}
