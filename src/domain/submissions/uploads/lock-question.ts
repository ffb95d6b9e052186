import type { Context } from '../../context.ts'
import type { SubmissionQuestion } from '../taking/paper.ts'

/** Locks a question, so that attempts at it begin one by one. @returns null if the question does not exist. */
export async function lockQuestion(ctx: Context, submissionId: string, number: number): Promise<SubmissionQuestion | null> {
  const question = ctx.db.selectFrom('submissionQuestions').where('submissionId', '=', submissionId).where('number', '=', number)
  await question.select('number').forNoKeyUpdate().executeTakeFirst()
  return ctx.db.submissionQuestion.findFirst({ where: { organizationId: ctx.organization.id, submissionId, number } })
}
