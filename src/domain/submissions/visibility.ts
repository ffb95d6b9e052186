import type { Prisma, SubmissionState } from '../../generated/prisma/client.ts'
import { may } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { mayGrade } from '../members/graders.ts'

/** Prisma `select` of the assigned grader. */
export const graderOfInvite = { select: { id: true, status: true, roles: true } } satisfies Prisma.Invite$assignedGraderArgs

type InviteAccess = { assignedGrader: Prisma.MemberGetPayload<typeof graderOfInvite> | null }
type SubmissionAccess = {
  state: SubmissionState
  secondGraderId: string | null
  needsThirdGrader: boolean
  gradingAssignments: readonly { round: number; grader: InviteAccess['assignedGrader'] }[]
}

/** Prisma `select` of the graders of single answers. */
export const gradersOfAnswers = {
  select: { round: true, grader: graderOfInvite },
} satisfies Prisma.Submission$gradingAssignmentsArgs

/**
 * Allows actors who may read everything, the graders of all or some answers, and, for submitted work without an active grader or that needs
 * a third one, any grader.
 *
 * @param submission null: not started. @throws DomainError not_permitted.
 */
export function authorizeSubmission(ctx: Context, invite: InviteAccess, submission: SubmissionAccess | null): void {
  if (!mayReadSubmission(ctx, invite, submission)) throw new DomainError('not_permitted')
}

export function mayReadSubmission(ctx: Context, { assignedGrader }: InviteAccess, submission: SubmissionAccess | null): boolean {
  const { actor } = ctx
  if (may(ctx, 'read')) return true
  if (actor.kind !== 'member' || !may(ctx, 'read_as_grader')) return false
  if (assignedGrader?.id === actor.id || submission?.secondGraderId === actor.id) return true
  const answers = submission?.gradingAssignments ?? []
  if (answers.some(({ grader }) => grader?.id === actor.id)) return true
  if (submission?.needsThirdGrader) return true
  if (assignedGrader && mayGrade(assignedGrader)) return false
  const first = answers.filter(({ round }) => round === 1)
  if (first.length > 0 && first.every(({ grader }) => grader && mayGrade(grader))) return false
  return submission?.state === 'submitted' || submission?.state === 'released'
}
