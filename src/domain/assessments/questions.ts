import type { AsJson } from '../../db/statements.ts'
import type { TenantDb } from '../../db/tenant-db.ts'
import { Prisma, type Question } from '../../generated/prisma/client.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { listPage, type Projection, projectionOf, type RowOf } from '../lists/listing.ts'
import type { ListPage, Order, PageRequest } from '../lists/page.ts'
import { isUuid } from '../text/uuid.ts'

export type { Question }
export type QuestionOrder = Order<'order' | 'createdAt' | 'points'>

export const wholeQuestion = projectionOf('questions', Prisma.QuestionScalarFieldEnum)
/** A question as a list has it. */
export type ListedQuestion = RowOf<typeof wholeQuestion>

const questionList = {
  table: 'questions',
  filters: { assessmentId: '=' },
  total: {
    count: (db: TenantDb, { assessmentId }: { assessmentId: string }) =>
      db.selectFrom('assessments').select('questionCount').where('id', '=', assessmentId),
    missing: () => new DomainError('assessment_not_found'),
  },
} as const

/** v1.md GET /assessments/{assessmentId}/questions. @throws DomainError assessment_not_found. */
export async function listQuestions<Row>(
  ctx: Context,
  projection: Projection<'questions', Row>,
  assessmentId: string,
  order: QuestionOrder,
  page: PageRequest,
): Promise<ListPage<AsJson<Row>>> {
  authorize(ctx, 'read_assessments')
  if (!isUuid(assessmentId)) throw new DomainError('assessment_not_found')
  return listPage(ctx, questionList, { projection, filter: { assessmentId }, order, page })
}

export type QuestionRef = { assessmentId: string; questionId: string }

/** One question. @throws DomainError question_not_found. */
export async function getQuestion(ctx: Context, { assessmentId, questionId }: QuestionRef): Promise<Question> {
  authorize(ctx, 'read_assessments')
  const isOne = isUuid(assessmentId) && isUuid(questionId)
  const where = { organizationId: ctx.organization.id, assessmentId, id: questionId }
  const question = isOne ? await ctx.db.question.findFirst({ where }) : null
  if (!question) throw new DomainError('question_not_found')
  return question
}

/** Texts and pools of all questions of an assessment, in their order. @throws DomainError not_permitted. */
export const listQuestionTexts = (ctx: Context, assessmentId: string) => {
  authorize(ctx, 'read_assessments')
  return ctx.db.question.findMany({
    where: { organizationId: ctx.organization.id, assessmentId },
    select: { id: true, script: true, scriptFormat: true, points: true, poolId: true },
    orderBy: [{ order: 'asc' }, { id: 'asc' }],
  })
}
