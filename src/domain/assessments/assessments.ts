import { containing, whereAll } from '../../db/query.ts'
import { inGivenOrder, type Shape, shapeOf, toRead } from '../../db/rows.ts'
import {
  type Assessment as AssessmentRow,
  type Audience,
  type Category,
  type Instruction,
  type Language,
  type MediaFormat,
  Prisma,
} from '../../generated/prisma/client.ts'
import { authorize } from '../access/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { readWords, refuseExcess } from '../filters.ts'
import { ownSource, type Source } from '../find-together.ts'
import { orderBy, ownRows, readListing } from '../listing.ts'
import type { Listing, Order, Page } from '../page.ts'
import { findById } from '../shared-query.ts'

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

/** An assessment with its languages, the ids of its categories, tags and clients, and how many invites it has, whatever their status. */
export type Assessment = AssessmentRow & {
  languageIds: string[]
  languageCodes: string[]
  categoryIds: string[]
  tagIds: string[]
  clientIds: string[]
  inviteCount: number
}

const belongs = 'assessment_id = own.id'
export const wholeAssessment = shapeOf<Assessment>(
  'assessments',
  Prisma.AssessmentScalarFieldEnum,
  { createdAt: true, updatedAt: true },
  {
    languageIds: inGivenOrder('language_id', 'assessment_languages', belongs),
    languageCodes: inGivenOrder('code', 'assessment_languages JOIN languages ON languages.id = language_id', belongs),
    categoryIds: inGivenOrder('category_id', 'assessment_categories', belongs),
    tagIds: inGivenOrder('tag_id', 'assessment_tags', belongs),
    clientIds: inGivenOrder('member_id', 'assessment_clients', belongs),
    inviteCount: `(SELECT coalesce(sum(count), 0) FROM assessment_invite_counts WHERE ${belongs})`,
  },
)
const COLUMNS = { createdAt: 'created_at', name: 'name', updatedAt: 'updated_at' } as const satisfies Record<
  AssessmentOrder['field'],
  string
>

/**
 * v1.md GET /assessments; alternate.md GET /assessments.
 *
 * @param of what is read of each.
 * @throws DomainError invalid for a filter beyond its limits.
 */
export async function listAssessments<Row>(
  ctx: Context,
  of: Shape<Row>,
  filter: AssessmentFilter,
  order: AssessmentOrder,
  page: Page,
): Promise<Listing<Row>> {
  authorize(ctx, 'read')
  refuseExcess(filter)
  return readListing(ctx, of, page, { where: matching(ctx, filter), order: orderBy(COLUMNS, order) })
}

/** v1.md GET /assessments/{assessmentId}; alternate.md GET /assessments/{id}. @throws DomainError assessment_not_found. */
export async function getAssessment(ctx: Context, id: string): Promise<Assessment> {
  authorize(ctx, 'read')
  const [assessment] = await findAssessments(ctx, [id])
  if (!assessment) throw new DomainError('assessment_not_found')
  return assessment
}

/** The organization's assessments with these ids, in no particular order; other ids are left out. */
export const findAssessments = findById(wholeAssessment)

const instructionShape = shapeOf<Instruction>('instructions', Prisma.InstructionScalarFieldEnum, {})
const categoryShape = shapeOf<Category>('categories', Prisma.CategoryScalarFieldEnum, {})
const languageShape = shapeOf<Language>('languages', Prisma.LanguageScalarFieldEnum, {})

/** The organization's instructions with these ids, in no particular order; other ids are left out. */
export const findInstructions = findById(instructionShape)
/** The same, to be found together with others. */
export const instructions = ownSource(instructionShape)

/** The organization's categories with these ids, in no particular order; other ids are left out. */
export const findCategories = findById(categoryShape)
/** The same, to be found together with others. */
export const categories = ownSource(categoryShape)

/** Languages are shared by all organizations. */
export const languages: Source<Language> = (_ctx, hasId) => toRead(languageShape, whereAll([hasId]))

/** SQL: the organization's assessments that match. */
function matching(ctx: Context, filter: AssessmentFilter): Prisma.Sql {
  const { name, createdById, audience, questionCount, tagIds, questionFormats, answerFormats, search } = filter
  return ownRows(ctx, [
    name !== undefined && Prisma.sql`name = ${name}`,
    createdById !== undefined && Prisma.sql`created_by_id = ${createdById}::uuid`,
    audience !== undefined && Prisma.sql`audience = ${audience}::audience`,
    questionCount !== undefined && Prisma.sql`question_count = ${questionCount}`,
    tagIds !== undefined &&
      Prisma.sql`id IN (SELECT assessment_id FROM assessment_tags ${ownRows(ctx, [Prisma.sql`tag_id = ANY (${tagIds}::uuid[])`])})`,
    questionFormats !== undefined && Prisma.sql`default_question_format = ANY (${questionFormats}::media_format[])`,
    answerFormats !== undefined && Prisma.sql`default_answer_format = ANY (${answerFormats}::media_format[])`,
    ...readWords(search).map((word) => Prisma.sql`name ILIKE ${containing(word)}`),
  ])
}
