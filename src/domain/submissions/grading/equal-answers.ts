import { sql } from '../../../db/builder.ts'
import { anyOfIds, type Expressions, type SqlBool } from '../../../db/queries.ts'
import type { Context } from '../../context.ts'
import { normalize } from '../../text/normalize.ts'
import { type AskedQuestion, answersTo, findNumber, gradableSubmissions, isGradedByActor } from './answers-to-grade.ts'
import { type QuestionGrade, saveGrades } from './save-grade.ts'

/** Longer texts are hardly ever equal. */
const MAX_EQUAL_LENGTH = 1_000
/** Equal answers that are looked at; other graders may have to grade some of them. */
const MAX_COMPARED = 1_000
/** Answers that are graded by one action. */
export const MAX_EQUAL = 200

/** An ungraded answer with the same text. */
export type EqualAnswer = { submissionId: string; number: number }

/**
 * Ungraded answers whose normalized text equals the submission's answer, which comes first. Empty for long texts and recordings.
 *
 * @throws DomainError not_permitted; submission_not_found.
 */
export async function findEqualAnswers(ctx: Context, question: AskedQuestion, submissionId: string): Promise<EqualAnswer[]> {
  const number = await findNumber(ctx, question, submissionId)
  const attempt = await ctx.db.answerAttempt.findFirst({
    where: { organizationId: ctx.organization.id, submissionId, questionNumber: number, kind: 'text' },
    select: { text: true },
  })
  const text = normalize(attempt?.text ?? '')
  if (text === '' || text.length > MAX_EQUAL_LENGTH) return []
  const { db } = ctx
  const equal = await db
    .selectFrom('answerAttempts')
    .where('answerAttempts.kind', '=', sql.lit('text'))
    .where(({ ref }) => sql<SqlBool>`char_length(${ref('answerAttempts.text')}) between 1 and ${sql.lit(2 * MAX_EQUAL_LENGTH)}`)
    .where(({ ref }) => sql<SqlBool>`text_key(${ref('answerAttempts.text')}) = text_key(${text})`)
    .innerJoin(db.table('submissionQuestions'), (join) =>
      join
        .onRef('submissionQuestions.submissionId', '=', 'answerAttempts.submissionId')
        .onRef('submissionQuestions.number', '=', 'answerAttempts.questionNumber')
        .on('submissionQuestions.questionId', '=', question.questionId),
    )
    .where((eb) => sql<SqlBool>`not ${isGradedByActor(ctx, eb as unknown as Expressions<'submissionQuestions'>)}`)
    .select(['answerAttempts.submissionId', 'answerAttempts.questionNumber as number', 'answerAttempts.text'])
    .limit(sql.lit(MAX_COMPARED))
    .execute()
  const gradable = await gradableSubmissions(ctx, question.assessmentId)
    .where('submissions.id', '=', anyOfIds(equal.map((answer) => answer.submissionId)))
    .where((eb) => eb.exists(answersTo(ctx, eb, question, false).select('submissionQuestions.number')))
    .select('submissions.id')
    .execute()
  const ids = new Set(gradable.map(({ id }) => id))
  const otherAnswers = equal
    .filter((answer) => answer.submissionId !== submissionId && ids.has(answer.submissionId) && normalize(answer.text) === text)
    .map((answer) => ({ submissionId: answer.submissionId, number: answer.number }))
    .sort((one, other) => (one.submissionId < other.submissionId ? -1 : 1))
  return [{ submissionId, number }, ...otherAnswers].slice(0, MAX_EQUAL)
}

/**
 * Saves the same grade for each of several equal answers. Leaves out answers that are no longer equal, or are graded by now.
 *
 * @param submissionIds submissions that the actor was shown.
 * @returns number of graded answers.
 * @throws DomainError as findEqualAnswers and saveGrades.
 */
export async function gradeEqualAnswers(
  ctx: Context,
  question: AskedQuestion,
  { submissionId, submissionIds, grade }: { submissionId: string; submissionIds: string[]; grade: Omit<QuestionGrade, 'number'> },
): Promise<number> {
  const equal = (await findEqualAnswers(ctx, question, submissionId)).filter((answer) =>
    submissionIds.includes(answer.submissionId),
  )
  for (const { submissionId: id, number } of equal) await saveGrades(ctx, { submissionId: id, grades: [{ ...grade, number }] })
  return equal.length
}
