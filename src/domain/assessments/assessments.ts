import { containing } from '../../db/query.ts'
import { inGivenOrder, readRows, shapeOf } from '../../db/rows.ts'
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
import { orderBy, ownRows, ownRowsById, readListing } from '../listing.ts'
import type { Listing, Order, Page } from '../page.ts'
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

/** An assessment with what refers to it: languages, and the ids of categories, tags and clients; and how many invites it has, whatever their status. */
export type Assessment = AssessmentRow & {
  languages: { language: Pick<Language, 'id' | 'code'> }[]
  categories: { categoryId: string }[]
  tags: { tagId: string }[]
  clients: { memberId: string }[]
  inviteCount: number
}

const belongs = 'assessment_id = own.id'
const shape = shapeOf<Assessment>(
  'assessments',
  Prisma.AssessmentScalarFieldEnum,
  { createdAt: true, updatedAt: true },
  {
    languages: inGivenOrder(
      'assessment_languages JOIN languages ON languages.id = language_id',
      belongs,
      `'language', json_build_object('id', language_id, 'code', code)`,
    ),
    categories: inGivenOrder('assessment_categories', belongs, `'categoryId', category_id`),
    tags: inGivenOrder('assessment_tags', belongs, `'tagId', tag_id`),
    clients: inGivenOrder('assessment_clients', belongs, `'memberId', member_id`),
    inviteCount: `(SELECT coalesce(sum(count), 0) FROM assessment_invite_counts WHERE ${belongs})`,
  },
)
const COLUMNS = { createdAt: 'created_at', name: 'name', updatedAt: 'updated_at' } as const satisfies Record<
  AssessmentOrder['field'],
  string
>

/** v1.md GET /assessments; alternate.md GET /assessments. @throws DomainError invalid for a filter beyond its limits. */
export function listAssessments(
  ctx: Context,
  filter: AssessmentFilter,
  order: AssessmentOrder,
  page: Page,
): Promise<Listing<Assessment>> {
  authorize(ctx, 'read')
  refuseExcess(filter)
  return readListing(ctx, shape, page, { where: matching(ctx, filter), order: orderBy(COLUMNS, order) })
}

/** v1.md GET /assessments/{assessmentId}; alternate.md GET /assessments/{id}. @throws DomainError assessment_not_found. */
export async function getAssessment(ctx: Context, id: string): Promise<Assessment> {
  authorize(ctx, 'read')
  const [assessment] = await findAssessments(ctx, [id])
  if (!assessment) throw new DomainError('assessment_not_found')
  return assessment
}

/** The organization's assessments with these ids, in no particular order; other ids are left out. */
export const findAssessments = shareQuery<Assessment>((ctx, ids) => readRows(ctx.db, shape, ownRowsById(ctx, ids)))

const instructionShape = shapeOf<Instruction>('instructions', Prisma.InstructionScalarFieldEnum, {})
const categoryShape = shapeOf<Category>('categories', Prisma.CategoryScalarFieldEnum, {})
const languageShape = shapeOf<Language>('languages', Prisma.LanguageScalarFieldEnum, {})

/** The organization's instructions with these ids, in no particular order; other ids are left out. */
export const findInstructions = shareQuery<Instruction>((ctx, ids) => readRows(ctx.db, instructionShape, ownRowsById(ctx, ids)))

/** The organization's categories with these ids, in no particular order; other ids are left out. */
export const findCategories = shareQuery<Category>((ctx, ids) => readRows(ctx.db, categoryShape, ownRowsById(ctx, ids)))

/** Languages are shared by all organizations. */
export const findLanguages = shareQuery<Language>((ctx, ids) =>
  readRows(ctx.db, languageShape, Prisma.sql`WHERE id = ANY (${ids}::uuid[])`),
)

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
