import { unscopedPrisma } from '../../db/unscoped.ts'
import type { Invite, Prisma, Question } from '../../generated/prisma/client.ts'
import { authorize } from '../authorization/permissions.ts'
import { loadZones } from '../concurrency/load-zones.ts'
import { type Context, enterOrganization, type ServiceContext } from '../context.ts'
import { DomainError, type Move } from '../errors.ts'
import { LANGUAGE_SOURCES } from '../languages/choose-language.ts'
import { totalOrder } from '../lists/page.ts'
import { BRAND } from '../ports/brand.ts'
import type { InvitationRef, SessionRef } from '../secrets/invitation-tokens.ts'
import { zoneOf } from '../time/zones.ts'
import { withCurrentStatus } from './expiry.ts'
import { moveInvite } from './move-invite.ts'

const include = {
  organization: {
    select: { ...BRAND, tier: true, senderName: true, replyTo: true, timeZone: true, ...LANGUAGE_SOURCES.organization },
  },
  assessment: {
    select: {
      name: true,
      questionCount: true,
      totalPoints: true,
      timeLimit: true,
      instruction: true,
      penaltyPercent: true,
      practice: true,
      ...LANGUAGE_SOURCES.assessment,
    },
  },
  createdBy: { include: { user: true } },
} satisfies Prisma.InviteInclude

/** An invite as its candidate sees it. */
export type CandidateInvite = Prisma.InviteGetPayload<{ include: typeof include }>

export type CandidateMove = Extract<Move, 'accept' | 'start' | 'complete' | 'decline'>

/** Links of suspended organizations are unknown. */
export const NOT_SUSPENDED = { organization: { suspension: null } } satisfies Prisma.InviteWhereInput

/** The invite that a signed link belongs to; null when a newer link has replaced it, the invite was deleted, or its organization is on hold. */
export async function findInvitation(
  { db, deps }: ServiceContext,
  { inviteId, linkVersion }: InvitationRef,
): Promise<CandidateInvite | null> {
  const where = { id: inviteId, linkVersion, ...NOT_SUSPENDED }
  const invite = await unscopedPrisma(db).invite.findUnique({ where, include, relationLoadStrategy: 'join' })
  if (invite) await loadZones(db, [zoneOf(invite)])
  return invite && withCurrentStatus(invite, deps.clock())
}

/** Question, with its spec if its kind has a right answer. */
export type CandidateQuestion = Question & { version: { responseType: string; spec: unknown } | null }

/** The questions in the order in which the candidate answers them. */
export const listCandidateQuestions = (
  { db }: ServiceContext,
  { organizationId, assessmentId }: Pick<CandidateInvite, 'organizationId' | 'assessmentId'>,
): Promise<CandidateQuestion[]> =>
  db.question.findMany({
    where: { organizationId, assessmentId },
    include: { version: { select: { responseType: true, spec: true } } },
    orderBy: totalOrder({ field: 'order', direction: 'asc' }),
  })

/** Makes a candidate's move, unless the invite is in another state by now. @throws DomainError invite_not_found for a link that is no longer valid. */
export async function moveAsCandidate(
  service: ServiceContext,
  { inviteId, linkVersion }: InvitationRef,
  move: CandidateMove,
): Promise<void> {
  const ctx = await findCandidateContext(service, { id: inviteId, linkVersion })
  await moveIfStillAllowed(ctx, move, { inviteId, linkVersion })
}

/**
 * Makes a move, unless the invite is in another state by now, or gone.
 *
 * @returns the invite; null when this call has not moved it.
 */
export async function moveIfStillAllowed(ctx: Context, ...move: MoveArguments): Promise<Invite | null> {
  try {
    const { invite, moved } = await moveInvite(ctx, ...move)
    return moved ? invite : null
  } catch (error) {
    const isLockConflict =
      error instanceof DomainError && (error.kind === 'move_not_allowed' || error.kind === 'invite_not_found')
    if (!isLockConflict) throw error
    return null
  }
}
type MoveArguments = Parameters<typeof moveInvite> extends [Context, ...infer Rest] ? Rest : never

/** @throws DomainError invite_not_found. */
async function findCandidateContext(service: ServiceContext, where: Prisma.InviteWhereInput & { id: string }): Promise<Context> {
  const invite = await service.db.invite.findFirst({
    where: { ...where, ...NOT_SUSPENDED },
    select: { id: true, mode: true, organization: { select: { id: true, name: true, tier: true } } },
  })
  if (!invite) throw new DomainError('invite_not_found')
  return toCandidateContext(service, invite)
}

/** The organization's context, with the candidate of that invite as the actor. */
export function toCandidateContext(
  service: ServiceContext,
  { id, mode, organization }: Pick<Invite, 'id' | 'mode'> & Pick<Context, 'organization'>,
): Context {
  const ctx: Context = enterOrganization({ ...service, actor: { kind: 'candidate', inviteId: id } }, organization, mode)
  authorize(ctx, 'take_invite')
  return ctx
}

/**
 * Completes the invite whose session the player reports as finished.
 *
 * @throws DomainError invite_not_found for a session that is not, or no longer, the invite's; move_not_allowed.
 */
export async function completeSession(service: ServiceContext, { inviteId, session }: SessionRef): Promise<void> {
  const ctx = await findCandidateContext(service, { id: inviteId, assessmentSession: session })
  await moveInvite(ctx, 'complete', { inviteId })
}
