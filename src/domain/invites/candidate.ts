import { randomUUID } from 'node:crypto'
import type { Prisma, Question } from '../../generated/prisma/client.ts'
import { authorize } from '../access/permissions.ts'
import type { Context, ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { asOfNow, type Move, moveInvite } from './lifecycle.ts'
import type { InvitationRef, SessionRef } from './tokens.ts'

const include = {
  organization: { select: { name: true } },
  assessment: { select: { name: true, questionCount: true, totalPoints: true, timeLimit: true, instruction: true } },
  createdBy: { include: { user: true } },
} satisfies Prisma.InviteInclude

/** An invite as its candidate sees it. */
export type CandidateInvite = Prisma.InviteGetPayload<{ include: typeof include }>

/** What the candidate does with the invite. */
export type CandidateMove = Extract<Move, 'accept' | 'start' | 'complete' | 'decline'>

/** The invite a signed link stands for; null when a newer link has replaced it, or the invite is gone. */
export async function findInvitation(
  { db, deps }: ServiceContext,
  { inviteId, linkVersion }: InvitationRef,
): Promise<CandidateInvite | null> {
  const invite = await db.invite.findUnique({ where: { id: inviteId, linkVersion }, include, relationLoadStrategy: 'join' })
  return invite && asOfNow(invite, deps.clock())
}

/** The questions in the order in which the candidate answers them. */
export const listCandidateQuestions = (
  { db }: ServiceContext,
  { organizationId, assessmentId }: CandidateInvite,
): Promise<Question[]> =>
  db.question.findMany({ where: { organizationId, assessmentId }, orderBy: [{ order: 'asc' }, { id: 'asc' }] })

/** @throws DomainError invite_not_found for a dead link; move_not_allowed with the state the invite is in. */
export async function moveAsCandidate(
  service: ServiceContext,
  { inviteId, linkVersion }: InvitationRef,
  move: CandidateMove,
): Promise<void> {
  const ctx = await enterAsCandidate(service, { id: inviteId, linkVersion })
  await moveInvite(ctx, move, { inviteId, linkVersion }, stampsOf(move, ctx.deps.clock()))
}

/** The organization's context with the candidate of that invite as actor. @throws DomainError invite_not_found. */
async function enterAsCandidate(service: ServiceContext, where: Prisma.InviteWhereInput & { id: string }): Promise<Context> {
  const invite = await service.db.invite.findFirst({
    where,
    select: { organization: { select: { id: true, name: true, tier: true } } },
  })
  if (!invite) throw new DomainError('invite_not_found')
  const ctx: Context = { ...service, organization: invite.organization, actor: { kind: 'candidate', inviteId: where.id } }
  authorize(ctx, 'take_invite')
  return ctx
}

const stampsOf = (move: CandidateMove, now: Date): Prisma.InviteUncheckedUpdateManyInput => {
  switch (move) {
    case 'accept':
      return { acceptedAt: now }
    case 'start':
      return { startedAt: now, assessmentSession: randomUUID() }
    case 'complete':
      return { completedAt: now }
    case 'decline':
      return { revokedAt: now }
  }
}

/**
 * Completes the invite whose session the player reports as finished.
 *
 * @throws DomainError invite_not_found for a session that is not, or no longer, the invite's; move_not_allowed.
 */
export async function completeSession(service: ServiceContext, { inviteId, session }: SessionRef): Promise<void> {
  const ctx = await enterAsCandidate(service, { id: inviteId, assessmentSession: session })
  await moveInvite(ctx, 'complete', { inviteId }, stampsOf('complete', ctx.deps.clock()))
}
