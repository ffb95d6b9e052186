import { type Proctoring, pickProctoring } from '../assessments/assessment-input.ts'
import { findAssessments } from '../assessments/assessments.ts'
import type { Context } from '../context.ts'
import { DomainError, type Violation } from '../errors.ts'
import { omitUndefined } from '../fields/omit-undefined.ts'
import type { NewInvite } from './new-invite.ts'

type Terms = Pick<NewInvite, keyof Proctoring | 'sendEmail'>

/**
 * Fills in what a member's invite does not say from its assessment. (An API key gets the documented defaults instead.)
 *
 * @param assessmentId empty: none was chosen.
 * @throws DomainError invalid: `required` or `reference` for the assessment; `unasked` if an email would lead to an assessment
 * without questions, unless an external player may have some; `archived` for a member's invite to an archived assessment.
 */
export async function completeTerms<T extends Terms>(ctx: Context, assessmentId: string, terms: T): Promise<T & Proctoring> {
  if (assessmentId === '') throw refusal({ rule: 'required' })
  const [assessment] = await findAssessments(ctx, [assessmentId])
  if (!assessment) throw refusal({ rule: 'reference', value: assessmentId })
  if (assessment.questionCount === 0 && ctx.deps.hasOwnPlayer && (terms.sendEmail ?? true))
    throw refusal({ rule: 'account', problem: 'unasked' })
  if (assessment.archivedAt !== null && ctx.actor.kind === 'member') throw refusal({ rule: 'account', problem: 'archived' })
  return { ...pickProctoring(assessment), ...omitUndefined(terms) } as T & Proctoring
}

const refusal = (violation: Violation): DomainError =>
  new DomainError('invalid', { issues: [{ field: 'assessmentId', ...violation }] })
