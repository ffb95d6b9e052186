import type { Prisma } from '../../../generated/prisma/client.ts'
import { gradesBlindly } from '../../assessments/blind-grading.ts'
import { authorize, may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { throwSubmissionNotFound } from './graded-submission.ts'

/** Assessments whose released results the actor may see: all, or the ones shared with the client. @throws DomainError not_permitted. */
export function visibleAssessments(ctx: Context): Prisma.AssessmentWhereInput {
  const organizationId = ctx.organization.id
  if (may(ctx, 'read')) return { organizationId }
  authorize(ctx, 'read_as_client')
  const memberId = ctx.actor.kind === 'member' ? ctx.actor.id : throwSubmissionNotFound()
  return { organizationId, clients: { some: { memberId } }, ...(gradesBlindly(ctx) && { blindGrading: false }) }
}
