import type { SubmissionState } from '../../generated/prisma/client.ts'
import { may } from '../access/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'

type OfInvite = { assignedGraderId: string | null }
type OfSubmission = { state: SubmissionState; secondGraderId: string | null }

/**
 * Lets in whoever may read everything, the graders it is assigned to and, once it is handed in and assigned to nobody, any grader.
 *
 * @param submission null: none was begun.
 * @throws DomainError not_permitted.
 */
export function authorizeSubmission(ctx: Context, invite: OfInvite, submission: OfSubmission | null): void {
  if (!mayReadSubmission(ctx, invite, submission)) throw new DomainError('not_permitted')
}

export function mayReadSubmission(ctx: Context, { assignedGraderId }: OfInvite, submission: OfSubmission | null): boolean {
  const { actor } = ctx
  if (may(ctx, 'read')) return true
  if (actor.kind !== 'member' || !may(ctx, 'read_as_grader')) return false
  if (assignedGraderId === actor.id || submission?.secondGraderId === actor.id) return true
  return assignedGraderId === null && (submission?.state === 'submitted' || submission?.state === 'released')
}
