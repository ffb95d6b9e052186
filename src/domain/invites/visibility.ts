import type { Condition, Expressions } from '../../db/queries.ts'
import { gradesBlindly } from '../assessments/blind-grading.ts'
import { may } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { isUuid } from '../text/uuid.ts'

/** Columns that decide who may see an invite. */
type SharedAssessment = { assessmentId?: string; assignedGraderId?: string | null }

/**
 * Allows actors who may read everything, graders for their invites, and clients for their assessments. Graders are refused invites of
 * blindly graded assessments.
 *
 * @throws DomainError not_permitted.
 */
export async function authorizeInvites(ctx: Context, { assessmentId, assignedGraderId }: SharedAssessment): Promise<void> {
  if (may(ctx, 'read')) return
  const isInbound = isGrader(ctx, assignedGraderId) || (await isClientOf(ctx, assessmentId))
  if (!isInbound || (await isBlind(ctx, assessmentId))) throw new DomainError('not_permitted')
}

/** SQL condition: the actor may see the invite although its assessment may be graded blind. */
export const isVisibleUnblinded = (ctx: Context, eb: Expressions<'invites'>): Condition =>
  gradesBlindly(ctx)
    ? eb.not(
        eb.exists(
          eb
            .selectFrom(ctx.db.table('assessments as blind'))
            .select('blind.id')
            .whereRef('blind.id', '=', 'invites.assessmentId')
            .where('blind.blindGrading', '=', true),
        ),
      )
    : eb.lit(true)

async function isBlind(ctx: Context, assessmentId: string | undefined): Promise<boolean> {
  if (!gradesBlindly(ctx) || assessmentId === undefined) return false
  const where = { organizationId: ctx.organization.id, id: assessmentId, blindGrading: true }
  return (await ctx.db.assessment.count({ where })) > 0
}

const isGrader = (ctx: Context, memberId: string | null | undefined): boolean =>
  ctx.actor.kind === 'member' && ctx.actor.id === memberId && may(ctx, 'read_as_grader')

async function isClientOf(ctx: Context, assessmentId: string | undefined): Promise<boolean> {
  const { actor, db, organization } = ctx
  if (actor.kind !== 'member' || !may(ctx, 'read_as_client') || !assessmentId || !isUuid(assessmentId)) return false
  // Invites contain names, so clients who may not see names see no invites.
  const assessment = { clientSees: { has: 'names' } }
  const where = { organizationId: organization.id, assessmentId, memberId: actor.id, assessment }
  return (await db.assessmentClient.count({ where })) > 0
}
