import type { Prisma, SubmissionState } from '../../generated/prisma/client.ts'
import { may } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { mayGrade } from '../members/graders.ts'

/** Prisma `select` of the assigned grader. */
export const graderOfInvite = { select: { id: true, status: true, roles: true } } satisfies Prisma.Invite$assignedGraderArgs

type InviteAccess = { assignedGrader: Prisma.MemberGetPayload<typeof graderOfInvite> | null }
type SubmissionAccess = { state: SubmissionState; secondGraderId: string | null }

/**
 * Lets in whoever may read everything, the graders it is assigned to and, once it is handed in and assigned to nobody who may
 * grade, any grader.
 *
 * @param submission null: none was begun.
 * @throws DomainError not_permitted.
 */
export function authorizeSubmission(ctx: Context, invite: InviteAccess, submission: SubmissionAccess | null): void {
  if (!mayReadSubmission(ctx, invite, submission)) throw new DomainError('not_permitted')
}

export function mayReadSubmission(ctx: Context, { assignedGrader }: InviteAccess, submission: SubmissionAccess | null): boolean {
  const { actor } = ctx
  if (may(ctx, 'read')) return true
  if (actor.kind !== 'member' || !may(ctx, 'read_as_grader')) return false
  if (assignedGrader?.id === actor.id || submission?.secondGraderId === actor.id) return true
  if (assignedGrader && mayGrade(assignedGrader)) return false
  return submission?.state === 'submitted' || submission?.state === 'released'
}
