import { may } from '../access/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { isUuid } from '../uuid.ts'

/**
 * Lets in whoever may read everything, and a client where it is an assessment of theirs.
 *
 * @param assessmentId undefined: all assessments.
 * @throws DomainError not_permitted.
 */
export async function authorizeAssessment(ctx: Context, assessmentId: string | undefined): Promise<void> {
  if (may(ctx, 'read')) return
  if (!(await isClientOf(ctx, assessmentId))) throw new DomainError('not_permitted')
}

async function isClientOf(ctx: Context, assessmentId: string | undefined): Promise<boolean> {
  const { actor, db, organization } = ctx
  if (actor.kind !== 'member' || !may(ctx, 'read_as_client') || !assessmentId || !isUuid(assessmentId)) return false
  const where = { organizationId: organization.id, assessmentId, memberId: actor.id }
  return (await db.assessmentClient.count({ where })) > 0
}
