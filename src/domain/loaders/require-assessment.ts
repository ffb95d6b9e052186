import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { isUuid } from '../text/uuid.ts'

/** The name of an assessment. @throws DomainError assessment_not_found. */
export async function requireAssessment({ db, organization }: Context, id: string): Promise<string> {
  const where = { organizationId: organization.id, id }
  const found = isUuid(id) ? await db.assessment.findFirst({ where, select: { name: true } }) : null
  if (!found) throw new DomainError('assessment_not_found')
  return found.name
}
