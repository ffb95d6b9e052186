import type { Question } from '../../generated/prisma/client.ts'
import { authorize } from '../access/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { type Listing, type Order, type Page, readPage, totalOrder } from '../page.ts'
import { isUuid } from '../uuid.ts'

export type { Question }
export type QuestionOrder = Order<'order' | 'createdAt' | 'points'>

/** v1.md GET /assessments/{assessmentId}/questions. @throws DomainError assessment_not_found. */
export async function listQuestions(
  ctx: Context,
  assessmentId: string,
  order: QuestionOrder,
  page: Page,
): Promise<Listing<Question>> {
  authorize(ctx, 'read')
  const { assessment, question } = ctx.db
  const organizationId = ctx.organization.id
  const counted =
    isUuid(assessmentId) &&
    (await assessment.findUnique({
      where: { organizationId_id: { organizationId, id: assessmentId } },
      select: { questionCount: true },
    }))
  if (!counted) throw new DomainError('assessment_not_found')
  return readPage(
    page,
    async () => counted.questionCount,
    (window) =>
      question.findMany({
        where: { organizationId, assessmentId },
        orderBy: totalOrder(order),
        ...window,
      }),
  )
}

/** Which question. */
export type QuestionRef = { assessmentId: string; questionId: string }

/** One question. @throws DomainError question_not_found. */
export async function getQuestion(ctx: Context, { assessmentId, questionId }: QuestionRef): Promise<Question> {
  authorize(ctx, 'read')
  const isOne = isUuid(assessmentId) && isUuid(questionId)
  const where = { organizationId: ctx.organization.id, assessmentId, id: questionId }
  const question = isOne ? await ctx.db.question.findFirst({ where }) : null
  if (!question) throw new DomainError('question_not_found')
  return question
}
