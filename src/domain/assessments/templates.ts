import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { inTransaction } from '../transaction.ts'
import { timeOfChange } from '../validation/refuse-unseen-changes.ts'
import type { AssessmentInput } from './assessment-input.ts'
import { defineUnaudited, type QuestionDefinition } from './define-question.ts'
import { createAssessment, lockAssessment } from './edit-assessments.ts'
import { addQuestion } from './edit-questions.ts'
import type { QuestionInput } from './question-input.ts'

/** A ready assessment that comes with the service, see src/templates. @property definition null for questions that people grade. */
export type AssessmentTemplate = {
  assessment: AssessmentInput
  questions: readonly { input: QuestionInput; definition: QuestionDefinition | null }[]
}

/** Most of an organization's own templates that are offered. */
const MAX_OFFERED = 100

/**
 * Makes an assessment with the questions of a template.
 *
 * @returns its id.
 * @throws DomainError as createAssessment, addQuestion, and defineQuestion.
 */
export async function createFromTemplate(ctx: Context, { assessment, questions }: AssessmentTemplate): Promise<string> {
  authorize(ctx, 'write_assessments')
  return inTransaction(ctx, async (inside) => {
    const assessmentId = await createAssessment(inside, assessment)
    for (const { input, definition } of questions) {
      const questionId = await addQuestion(inside, assessmentId, input)
      if (definition) await defineUnaudited(inside, { assessmentId, questionId }, definition)
    }
    return assessmentId
  })
}

/** Offers an assessment as a template to the organization's members, or no more. @throws DomainError not_permitted; assessment_not_found. */
export async function setTemplate(ctx: Context, id: string, isTemplate: boolean): Promise<void> {
  authorize(ctx, 'write_assessments')
  await inTransaction(ctx, async (inside) => {
    const assessment = await lockAssessment(inside, id)
    if (assessment.isTemplate === isTemplate) return
    const where = { organizationId_id: { organizationId: inside.organization.id, id: assessment.id } }
    await inside.db.assessment.update({ where, data: { isTemplate, updatedAt: timeOfChange(inside.deps.clock(), assessment) } })
    const action = isTemplate ? 'saved_template' : 'removed_template'
    await recordAudit(inside, { action, target: { kind: 'assessment', id }, details: { name: assessment.name } })
  })
}

/** The organization's own templates by name, at most 100. */
export async function listTemplates(ctx: Context) {
  authorize(ctx, 'write_assessments')
  return ctx.db.assessment.findMany({
    where: { organizationId: ctx.organization.id, isTemplate: true },
    orderBy: [{ nameKey: 'asc' }, { id: 'asc' }],
    take: MAX_OFFERED,
    select: { id: true, name: true, questionCount: true, totalPoints: true, timeLimit: true },
  })
}
