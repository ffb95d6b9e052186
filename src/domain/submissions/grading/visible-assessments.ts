import type { Prisma } from '../../../generated/prisma/client.ts'
import { gradesBlindly } from '../../assessments/blind-grading.ts'
import { authorize, may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { throwSubmissionNotFound } from './graded-submission.ts'

/** The assessments whose released results the context's actor may see: all there are, or those that they are client of. @throws DomainError not_permitted. */
export function visibleAssessments(ctx: Context): Prisma.AssessmentWhereInput {
  const organizationId = ctx.organization.id
  if (may(ctx, 'read')) return { organizationId }
  authorize(ctx, 'read_as_client')
  const memberId = ctx.actor.kind === 'member' ? ctx.actor.id : throwSubmissionNotFound()
  return { organizationId, clients: { some: { memberId } }, ...(gradesBlindly(ctx) && { blindGrading: false }) }
}
