import { type Proctoring, proctoringOf } from '../assessments/assessment-input.ts'
import { findAssessments } from '../assessments/assessments.ts'
import type { Context } from '../context.ts'
import { DomainError, type Violation } from '../errors.ts'
import { defined } from '../values/defined.ts'
import type { NewInvite } from './new-invite.ts'

type Terms = Pick<NewInvite, keyof Proctoring | 'sendEmail'>

/**
 * What invites that a member makes are made with: where they do not say what is asked of candidates, their assessment does. (An API key that
 * does not say it gets the documented defaults.)
 *
 * @param assessmentId empty: none was chosen.
 * @throws DomainError invalid: `required` or `reference` for the assessment; `unasked` where candidates would be mailed the link to an
 *   assessment without questions, unless another player than the service's own may have them; `archived` where a member invites to one
 *   that is.
 */
export async function completeTerms<T extends Terms>(ctx: Context, assessmentId: string, terms: T): Promise<T & Proctoring> {
  if (assessmentId === '') throw refusal({ rule: 'required' })
  const [assessment] = await findAssessments(ctx, [assessmentId])
  if (!assessment) throw refusal({ rule: 'reference', value: assessmentId })
  if (assessment.questionCount === 0 && ctx.deps.hasOwnPlayer && (terms.sendEmail ?? true))
    throw refusal({ rule: 'account', problem: 'unasked' })
  if (assessment.archivedAt !== null && ctx.actor.kind === 'member') throw refusal({ rule: 'account', problem: 'archived' })
  return { ...proctoringOf(assessment), ...defined(terms) } as T & Proctoring
}

const refusal = (violation: Violation): DomainError =>
  new DomainError('invalid', { issues: [{ field: 'assessmentId', ...violation }] })
