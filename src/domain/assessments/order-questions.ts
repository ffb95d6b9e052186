import { sql } from '../../db/builder.ts'
import { timestamp } from '../../db/writes.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { MAX_INTEGER } from '../limits.ts'
import { inTransaction } from '../transaction.ts'
import { checkInteger, findIssues } from '../validation/checks.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { lockAssessment } from './edit-assessments.ts'
import { getQuestion, type QuestionRef } from './questions.ts'

/**
 * Moves a question to another place; the questions are then numbered from 1.
 *
 * @param to its place among the questions, from 1; beyond the end it is the last.
 * @param order its number when it was seen: where somebody has moved it meanwhile, it stays. undefined: wherever it is.
 * @returns its place.
 * @throws DomainError not_permitted; assessment_not_found; question_not_found; invalid: `changed` for its order, or a place that is none.
 */
export async function moveQuestion(
  ctx: Context,
  ref: QuestionRef,
  { place, order }: { place: number; order?: number | undefined },
): Promise<number> {
  authorize(ctx, 'write_assessments')
  return inTransaction(ctx, async (inside) => {
    const { id: assessmentId, name } = await lockAssessment(inside, ref.assessmentId)
    const question = await getQuestion(inside, ref)
    throwIfIssues(findIssues([['place', checkInteger(place, { minimum: 1, maximum: MAX_INTEGER })]]))
    if (order !== undefined && question.order !== order)
      throwIfIssues([{ field: 'order', rule: 'changed', value: question.order }])
    const ids = (await listQuestionIds(inside, assessmentId)).filter((id) => id !== question.id)
    ids.splice(place - 1, 0, question.id)
    await numberQuestions(inside, ids)
    const target = { kind: 'question' as const, id: question.id }
    await recordAudit(inside, { action: 'moved_question', target, details: { assessmentId, assessment: name } })
    return ids.indexOf(question.id) + 1
  })
}

/**
 * Puts questions that stand one behind another into another order; all are then numbered from 1. Where they stand so already, as when the
 * answer to the same request was lost, nothing changes.
 *
 * @param seen their ids in the order in which they were seen. @param wanted the same ids, in the order that is wanted.
 * @throws DomainError not_permitted; assessment_not_found; invalid: `changed` for the order, where they stand otherwise by now.
 */
export async function orderQuestions(
  ctx: Context,
  assessmentId: string,
  { seen, wanted }: { seen: string[]; wanted: string[] },
): Promise<void> {
  authorize(ctx, 'write_assessments')
  await inTransaction(ctx, async (inside) => {
    const assessment = await lockAssessment(inside, assessmentId)
    const ids = await listQuestionIds(inside, assessment.id)
    const isSameSet = new Set(seen).size === seen.length && isSame([...seen].sort(), [...wanted].sort())
    const from = Math.min(...[...wanted].map((id) => ids.indexOf(id)))
    const now = from < 0 ? [] : ids.slice(from, from + wanted.length)
    if (isSameSet && wanted.length > 0 && isSame(now, wanted)) return
    if (!isSameSet || wanted.length === 0 || !isSame(now, seen)) throwIfIssues([{ field: 'order', rule: 'changed', value: null }])
    ids.splice(from, wanted.length, ...wanted)
    await numberQuestions(inside, ids)
    const target = { kind: 'assessment' as const, id: assessment.id }
    await recordAudit(inside, { action: 'ordered_questions', target, details: { name: assessment.name } })
  })
}

const isSame = (some: string[], others: string[]): boolean =>
  some.length === others.length && some.every((id, i) => id === others[i])

/** The ids of an assessment's questions, in their order. */
export async function listQuestionIds(ctx: Context, assessmentId: string): Promise<string[]> {
  const questions = ctx.db.selectFrom('questions').where('assessmentId', '=', assessmentId)
  return (await questions.orderBy('order').orderBy('id').select('id').execute()).map(({ id }) => id)
}

/** Gives questions the numbers of their places, from 1: `updatedAt` changes for those that get another. */
export async function numberQuestions(inside: Context, ids: string[]): Promise<void> {
  const numbered = sql<{ id: string; place: number }>`unnest(${ids}::uuid[]) with ordinality`
  await inside.db
    .updateTable('questions')
    .from(numbered.as<'numbered'>(sql`numbered (id, place)`))
    .set((eb) => ({
      order: eb.ref('numbered.place'),
      updatedAt: sql<Date>`greatest(${timestamp(inside.deps.clock())}, ${eb.ref('questions.updatedAt')} + interval '1 ms')`,
    }))
    .whereRef('questions.id', '=', 'numbered.id')
    .whereRef('questions.order', '<>', 'numbered.place')
    .execute()
}
