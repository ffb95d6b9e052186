import { anyOf, containsText } from '../../db/query.ts'
import type { Audience, Category, Instruction, Language, MediaFormat, Prisma } from '../../generated/prisma/client.ts'
import { authorize } from '../access/permissions.ts'
import type { Context } from '../context.ts'
import { defined } from '../defined.ts'
import { DomainError } from '../errors.ts'
import { readWords, refuseExcess } from '../filters.ts'
import { type Listing, type Order, type Page, readPage, totalOrder } from '../page.ts'
import { shareQuery } from '../shared-query.ts'

export type { Category, Instruction, Language }
export const MEDIA_FORMATS = ['text', 'audio', 'video', 'mixed'] as const satisfies MediaFormat[]
export const AUDIENCES = ['invite_only', 'public'] as const satisfies Audience[]

export type AssessmentOrder = Order<'createdAt' | 'name' | 'updatedAt'>
export type AssessmentFilter = {
  /** Exact, case-sensitive. */
  name?: string
  createdById?: string
  audience?: Audience
  questionCount?: number
  /** Any of these. */
  tagIds?: string[]
  questionFormats?: MediaFormat[]
  answerFormats?: MediaFormat[]
  /** Each word in the name. */
  search?: string
}

const inGivenOrder = { orderBy: { position: 'asc' } } as const
const include = {
  languages: { select: { language: { select: { id: true, code: true } } }, ...inGivenOrder },
  categories: { select: { categoryId: true }, ...inGivenOrder },
  tags: { select: { tagId: true }, ...inGivenOrder },
  clients: { select: { memberId: true }, ...inGivenOrder },
  inviteCounts: { select: { count: true } },
} satisfies Prisma.AssessmentInclude

/** An assessment with what refers to it: languages, and the ids of categories, tags and clients. */
export type Assessment = Prisma.AssessmentGetPayload<{ include: typeof include }>

/** How many invites it has, whatever their status. */
export const sumInviteCounts = ({ inviteCounts }: Assessment): number => inviteCounts.reduce((sum, { count }) => sum + count, 0)

/** v1.md GET /assessments; alternate.md GET /assessments. @throws DomainError invalid for a filter beyond its limits. */
export function listAssessments(
  ctx: Context,
  filter: AssessmentFilter,
  order: AssessmentOrder,
  page: Page,
): Promise<Listing<Assessment>> {
  authorize(ctx, 'read')
  refuseExcess(filter)
  const where = toWhere(ctx, filter)
  const { assessment } = ctx.db
  return readPage(
    page,
    () => assessment.count({ where }),
    (window) => assessment.findMany({ where, orderBy: totalOrder(order), include, relationLoadStrategy: 'join', ...window }),
  )
}

/** v1.md GET /assessments/{assessmentId}; alternate.md GET /assessments/{id}. @throws DomainError assessment_not_found. */
export async function getAssessment(ctx: Context, id: string): Promise<Assessment> {
  authorize(ctx, 'read')
  const [assessment] = await findAssessments(ctx, [id])
  if (!assessment) throw new DomainError('assessment_not_found')
  return assessment
}

/** The organization's assessments with these ids, in no particular order; other ids are left out. */
export const findAssessments = shareQuery<Assessment>((ctx, ids) =>
  ctx.db.assessment.findMany({
    where: { organizationId: ctx.organization.id, id: anyOf(ids) },
    include,
    relationLoadStrategy: 'join',
  }),
)

/** The organization's instructions with these ids, in no particular order; other ids are left out. */
export const findInstructions = shareQuery<Instruction>((ctx, ids) =>
  ctx.db.instruction.findMany({ where: { organizationId: ctx.organization.id, id: anyOf(ids) } }),
)

/** The organization's categories with these ids, in no particular order; other ids are left out. */
export const findCategories = shareQuery<Category>((ctx, ids) =>
  ctx.db.category.findMany({ where: { organizationId: ctx.organization.id, id: anyOf(ids) } }),
)

/** Languages are shared by all organizations. */
export const findLanguages = shareQuery<Language>((ctx, ids) => ctx.db.language.findMany({ where: { id: anyOf(ids) } }))

function toWhere(ctx: Context, filter: AssessmentFilter): Prisma.AssessmentWhereInput {
  const { name, createdById, audience, questionCount, tagIds, questionFormats, answerFormats, search } = filter
  return {
    ...defined({
      organizationId: ctx.organization.id,
      name,
      createdById,
      audience,
      questionCount,
      tags: tagIds && { some: { tagId: anyOf(tagIds) } },
      defaultQuestionFormat: questionFormats && anyOf(questionFormats),
      defaultAnswerFormat: answerFormats && anyOf(answerFormats),
    }),
    AND: readWords(search).map((word) => ({ name: containsText(word) })),
  }
}
