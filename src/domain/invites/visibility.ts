import { may } from '../access/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { isUuid } from '../uuid.ts'

/** What decides who may see an invite, of one or of all that a list is of. */
type Shared = { assessmentId?: string; assignedGraderId?: string | null }

/**
 * Lets in whoever may read everything, a grader to what is assigned to them, and a client to what is of an assessment of theirs.
 *
 * @throws DomainError not_permitted.
 */
export async function authorizeInvites(ctx: Context, { assessmentId, assignedGraderId }: Shared): Promise<void> {
  if (may(ctx, 'read') || isGrader(ctx, assignedGraderId)) return
  if (!(await isClientOf(ctx, assessmentId))) throw new DomainError('not_permitted')
}

const isGrader = (ctx: Context, memberId: string | null | undefined): boolean =>
  ctx.actor.kind === 'member' && ctx.actor.id === memberId && may(ctx, 'read_as_grader')

async function isClientOf(ctx: Context, assessmentId: string | undefined): Promise<boolean> {
  const { actor, db, organization } = ctx
  if (actor.kind !== 'member' || !may(ctx, 'read_as_client') || !assessmentId || !isUuid(assessmentId)) return false
  const where = { organizationId: organization.id, assessmentId, memberId: actor.id }
  return (await db.assessmentClient.count({ where })) > 0
}
