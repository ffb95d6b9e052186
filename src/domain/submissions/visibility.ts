import { may } from '../access/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'

/**
 * Lets in whoever may read everything, and the grader whom the invite is assigned to.
 *
 * @throws DomainError not_permitted.
 */
export function authorizeSubmission(ctx: Context, { assignedGraderId }: { assignedGraderId: string | null }): void {
  if (!mayReadSubmission(ctx, { assignedGraderId })) throw new DomainError('not_permitted')
}

export function mayReadSubmission(ctx: Context, { assignedGraderId }: { assignedGraderId: string | null }): boolean {
  const { actor } = ctx
  if (may(ctx, 'read')) return true
  return actor.kind === 'member' && may(ctx, 'read_as_grader') && assignedGraderId === actor.id
}
