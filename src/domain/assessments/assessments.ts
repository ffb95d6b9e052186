import { sql } from '../../db/builder.ts'
import { anyOfIds, type Expressions } from '../../db/queries.ts'
import { type AsJson, jsonOf, listOf } from '../../db/statements.ts'
import type { TenantDb } from '../../db/tenant-db.ts'
import {
  type Assessment as AssessmentRow,
  type Audience,
  type Category,
  type Instruction,
  type Language,
  type MediaFormat,
  Prisma,
} from '../../generated/prisma/client.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { validateFilter } from '../lists/filters.ts'
import {
  containsAll,
  type FilterConditions,
  isComposed,
  listPage,
  type Projection,
  projectionOf,
  type RowOf,
  type TokenizedFilter,
  toPatterns,
} from '../lists/listing.ts'
import type { ListPage, Order, PageRequest } from '../lists/page.ts'
import { rowLoader } from '../loaders/batch-loader.ts'
import type { Source } from '../loaders/multi-loader.ts'

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
  /** Exact names. */
  skill?: string
  category?: string
  /** Each word in the name. */
  search?: string
  /** Only archived, or only active assessments. At most one of the two. */
  isArchived?: true
  isInUse?: true
}

/** Assessment with its languages, the ids of its categories, tags, and clients, and the number of its invites in any status. */
export type Assessment = AssessmentRow & {
  languageIds: string[]
  languageCodes: string[]
  categoryIds: string[]
  tagIds: string[]
  clientIds: string[]
  inviteCount: number
}

const languageIds = (eb: Expressions<'assessments'>, db: TenantDb) =>
  listOf(
    eb
      .selectFrom(db.table('assessmentLanguages'))
      .select('assessmentLanguages.languageId')
      .whereRef('assessmentLanguages.assessmentId', '=', 'assessments.id')
      .orderBy('assessmentLanguages.position'),
  )
const languageCodes = (eb: Expressions<'assessments'>, db: TenantDb) =>
  listOf(
    eb
      .selectFrom(db.table('assessmentLanguages'))
      .innerJoin(db.table('languages'), 'languages.id', 'assessmentLanguages.languageId')
      .select('languages.code')
      .whereRef('assessmentLanguages.assessmentId', '=', 'assessments.id')
      .orderBy('assessmentLanguages.position'),
  )
const categoryIds = (eb: Expressions<'assessments'>, db: TenantDb) =>
  listOf(
    eb
      .selectFrom(db.table('assessmentCategories'))
      .select('assessmentCategories.categoryId')
      .whereRef('assessmentCategories.assessmentId', '=', 'assessments.id')
      .orderBy('assessmentCategories.position'),
  )
const tagIds = (eb: Expressions<'assessments'>, db: TenantDb) =>
  listOf(
    eb
      .selectFrom(db.table('assessmentTags'))
      .select('assessmentTags.tagId')
      .whereRef('assessmentTags.assessmentId', '=', 'assessments.id')
      .orderBy('assessmentTags.position'),
  )
const clientIds = (eb: Expressions<'assessments'>, db: TenantDb) =>
  listOf(
    eb
      .selectFrom(db.table('assessmentClients'))
      .select('assessmentClients.memberId')
      .whereRef('assessmentClients.assessmentId', '=', 'assessments.id')
      .orderBy('assessmentClients.position'),
  )
/** Number of sent invitations, including those to people erased since. */
const inviteCount = ({ ref }: Expressions<'assessments'>, db: TenantDb) => {
  const inviteCounts = db
    .selectFrom('assessmentInviteCounts')
    .select('count')
    .where('assessmentInviteCounts.assessmentId', '=', ref('assessments.id'))
  const erased = db
    .selectFrom('erasedInviteCounts')
    .select('count')
    .where('erasedInviteCounts.assessmentId', '=', ref('assessments.id'))
  return db
    .selectFrom(inviteCounts.unionAll(erased).as('sent'))
    .select(({ ref }) => sql<number>`coalesce(sum(${ref('sent.count')}), 0)::int`.as('count'))
    .$asScalar()
    .$notNull()
}
export const wholeAssessment = projectionOf('assessments', Prisma.AssessmentScalarFieldEnum, {
  languageIds,
  languageCodes,
  categoryIds,
  tagIds,
  clientIds,
  inviteCount,
})
/** An assessment as a list has it. */
export type ListedAssessment = RowOf<typeof wholeAssessment>

const filters: FilterConditions<'assessments', TokenizedFilter<AssessmentFilter>> = {
  name: (eb, name) => isComposed(eb.ref('assessments.name'), name),
  nameKey: '=',
  createdById: '=',
  audience: '=',
  questionCount: '=',
  tagIds: (eb, ids, db) =>
    eb(
      'assessments.id',
      'in',
      eb
        .selectFrom(db.table('assessmentTags'))
        .select('assessmentTags.assessmentId')
        .where('assessmentTags.tagId', '=', anyOfIds(ids)),
    ),
  skill: (eb, skill) => sql`${skill} = any(${eb.ref('assessments.skillTypes')})`,
  category: (eb, name, db) =>
    eb(
      'assessments.id',
      'in',
      eb
        .selectFrom(db.table('assessmentCategories'))
        .innerJoin(db.table('categories'), 'categories.id', 'assessmentCategories.categoryId')
        .select('assessmentCategories.assessmentId')
        .where('categories.name', '=', name),
    ),
  questionFormats: (eb, formats) => sql`${eb.ref('assessments.defaultQuestionFormat')} = any(${formats}::media_format[])`,
  answerFormats: (eb, formats) => sql`${eb.ref('assessments.defaultAnswerFormat')} = any(${formats}::media_format[])`,
  search: (eb, patterns) => containsAll(eb.ref('assessments.nameSearch'), patterns),
  // Two queries, each with its own index, because a prepared statement serves all values of a filter.
  isArchived: (eb) => eb('assessments.archivedAt', 'is not', null),
  isInUse: (eb) => eb('assessments.archivedAt', 'is', null),
}
const assessmentList = { table: 'assessments', filters } as const

/**
 * v1.md GET /assessments; alternate.md GET /assessments.
 *
 * @throws DomainError invalid for a filter beyond its limits.
 */
export async function listAssessments<Row>(
  ctx: Context,
  projection: Projection<'assessments', Row>,
  filter: AssessmentFilter,
  order: AssessmentOrder,
  page: PageRequest,
): Promise<ListPage<AsJson<Row>>> {
  authorize(ctx, 'read_assessments')
  validateFilter(filter)
  return listPage(ctx, assessmentList, { projection, filter: toPatterns(filter), order, page })
}

/** v1.md GET /assessments/{assessmentId}; alternate.md GET /assessments/{id}. @throws DomainError assessment_not_found. */
export async function getAssessment(ctx: Context, id: string): Promise<Assessment> {
  authorize(ctx, 'read_assessments')
  const [assessment] = await findAssessments(ctx, [id])
  if (!assessment) throw new DomainError('assessment_not_found')
  return assessment
}

/** The organization's assessments with these ids, in no particular order; other ids are left out. */
export const findAssessments = rowLoader(wholeAssessment)

export const wholeInstruction = projectionOf('instructions', Prisma.InstructionScalarFieldEnum)
export const wholeCategory = projectionOf('categories', Prisma.CategoryScalarFieldEnum)

/** The organization's instructions with these ids, in no particular order; other ids are left out. */
export const findInstructions = rowLoader(wholeInstruction)

/** The organization's categories with these ids, in no particular order; other ids are left out. */
export const findCategories = rowLoader(wholeCategory)

/** Languages are shared by all organizations. */
export const languages = <View>(present: (language: Language) => View): Source<View> => ({
  present,
  find: (db, ids) => jsonOf(db.selectFrom('languages').select(['id', 'code', 'name']).where('id', '=', anyOfIds(ids))),
})
