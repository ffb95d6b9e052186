import { type Shape, shapeOf } from '../../db/rows.ts'
import { Prisma, type Question } from '../../generated/prisma/client.ts'
import { authorize } from '../access/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { findListing, orderBy, ownRows, ownRowsById } from '../listing.ts'
import type { Listing, Order, Page } from '../page.ts'
import { isUuid } from '../uuid.ts'

export type { Question }
export type QuestionOrder = Order<'order' | 'createdAt' | 'points'>

export const wholeQuestion = shapeOf<Question>('questions', Prisma.QuestionScalarFieldEnum, { createdAt: true, updatedAt: true })
const COLUMNS = { order: '"order"', createdAt: 'created_at', points: 'points' } as const satisfies Record<
  QuestionOrder['field'],
  string
>

/** v1.md GET /assessments/{assessmentId}/questions. @param of what is read of each. @throws DomainError assessment_not_found. */
export async function listQuestions<Row>(
  ctx: Context,
  of: Shape<Row>,
  assessmentId: string,
  order: QuestionOrder,
  page: Page,
): Promise<Listing<Row>> {
  authorize(ctx, 'read')
  if (!isUuid(assessmentId)) throw new DomainError('assessment_not_found')
  const list = await findListing(ctx, of, page, {
    where: ownRows(ctx, [Prisma.sql`assessment_id = ${assessmentId}::uuid`]),
    order: orderBy(COLUMNS, order),
    count: Prisma.sql`SELECT question_count FROM assessments ${ownRowsById(ctx, [assessmentId])}`,
  })
  if (!list) throw new DomainError('assessment_not_found')
  return list
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
