import { sql } from '../../db/builder.ts'
import { violatedConstraint } from '../../db/errors.ts'
import { anyOfIds, prepareScoped, scopeWhere } from '../../db/queries.ts'
import type { AsJson } from '../../db/statements.ts'
import { Prisma, type Tag } from '../../generated/prisma/client.ts'
import { versionOf } from '../audit/find-last-change.ts'
import { type AuditAction, recordByMember } from '../audit/record-audit.ts'
import { authorOf } from '../authorization/author.ts'
import { authorize } from '../authorization/permissions.ts'
import { type Context, inMode } from '../context.ts'
import { DomainError, type Issue } from '../errors.ts'
import { HEX_COLOR_PATTERN, MAX_TAG_DESCRIPTION_LENGTH, MAX_TAG_NAME_LENGTH } from '../limits.ts'
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
import { nameKeys } from '../text/fold-text.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import { checkText, findIssues, issuesOfChangedFields } from '../validation/checks.ts'
import { findNameIssues } from '../validation/find-name-issues.ts'
import { refuseUnseenChanges, type SeenAt } from '../validation/refuse-unseen-changes.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { renameTestTags } from './rename-test-tags.ts'

// Live data uses live tags. Test data uses both, and changes test tags only.

export type { Tag }
export type TagOrder = Order<'name' | 'createdAt' | 'updatedAt'>
export type TagFilter = {
  /** Exact, case-sensitive. */
  name?: string
  createdById?: string
  /** Each word in the name. */
  search?: string
}
export type NewTag = { name: string; color?: string; description?: string }
export type TagChange = Partial<Required<NewTag>>

export const DEFAULT_COLOR = '#6B7280'

export const wholeTag = projectionOf('tags', Prisma.TagScalarFieldEnum)
/** A tag as a list has it. */
export type ListedTag = RowOf<typeof wholeTag>

const filters: FilterConditions<'tags', TokenizedFilter<TagFilter>> = {
  name: (eb, name) => isComposed(eb.ref('tags.name'), name),
  nameKey: '=',
  createdById: '=',
  search: (eb, patterns) => containsAll(eb.ref('tags.nameSearch'), patterns),
}
const tagList = { table: 'tags', filters } as const

/**
 * v1.md GET /tags; alternate.md GET /tags.
 *
 * @throws DomainError invalid for a filter beyond its limits.
 */
export async function listTags<Row>(
  ctx: Context,
  projection: Projection<'tags', Row>,
  filter: TagFilter,
  order: TagOrder,
  page: PageRequest,
): Promise<ListPage<AsJson<Row>>> {
  authorize(ctx, 'read_assessments')
  validateFilter(filter)
  return listPage(ctx, tagList, { projection, filter: toPatterns(filter), order, page })
}

/** v1.md GET /tags/{tagId}; alternate.md GET /tags/{id}. @throws DomainError tag_not_found. */
export async function getTag(ctx: Context, id: string): Promise<Tag> {
  authorize(ctx, 'read_assessments')
  const [tag] = await findTags(ctx, [id])
  if (!tag) throw new DomainError('tag_not_found')
  return tag
}

/** The organization's tags with these ids, in no particular order; other ids are left out. */
export const findTags = rowLoader(wholeTag)

/** Ids of tags that the context may use. */
export async function findTagIds(ctx: Context, ids: string[]): Promise<Set<string>> {
  const found = await tagIds(ctx.db, { ids }).execute()
  return new Set(found.map(({ id }) => id))
}
const tagIds = prepareScoped((db, { ids }: { ids: string[] }) =>
  db.selectFrom('tags').select('id').where('id', '=', anyOfIds(ids)),
)

/** Locks tags against deletion until the end of the transaction. @returns ids that the context may use. */
export async function lockTags(ctx: Context, ids: string[]): Promise<Set<string>> {
  const tags = ctx.db.selectFrom('tags').where('id', '=', anyOfIds(ids.filter(isUuid)))
  const found = await tags.select('id').orderBy('id').forKeyShare().execute()
  return new Set(found.map(({ id }) => id))
}

/** v1.md POST /tags. A live tag takes its name from a test tag. @throws DomainError duplicate_tag_name. */
export async function createTag(ctx: Context, { name, color = DEFAULT_COLOR, description = '' }: NewTag): Promise<Tag> {
  authorize(ctx, 'write_tags')
  throwIfIssues(findTagIssues({ name, color, description }))
  const { clock, newId } = ctx.deps
  const now = clock()
  const { createdById, mode } = authorOf(ctx)
  const data = {
    id: newId(),
    organizationId: ctx.organization.id,
    name,
    ...nameKeys(name),
    color,
    description,
    mode,
    createdById,
    createdAt: now,
    updatedAt: now,
  }
  return writeName(ctx, name, async (inside) => {
    const tag = await inside.db.tag.create({ data })
    await recordTag(inside, 'created_tag', tag)
    return tag
  })
}

/**
 * v1.md PATCH /tags/{tagId}: changes the given fields.
 *
 * @throws DomainError tag_not_found, live_tag_read_only, duplicate_tag_name; invalid, also `changed` for values that somebody else changed
 *   since `readVersion`.
 */
export async function updateTag(ctx: Context, id: string, change: TagChange, readVersion?: SeenAt): Promise<Tag> {
  authorize(ctx, 'write_tags')
  if (!isUuid(id)) throw new DomainError('tag_not_found')
  const issues = findTagIssues(change)
  if (issues.length > 0) throwIfIssues(issuesOfChangedFields(issues, await getTag(ctx, id), change))
  return writeName(ctx, change.name, async (inside) => {
    if (readVersion) await refuseUnseen(inside, id, readVersion, change)
    const where = { ...scopeWhere(inside), id }
    const data = { ...change, ...(change.name !== undefined && nameKeys(change.name)), updatedAt: ctx.deps.clock() }
    const [tag] = await inside.db.tag.updateManyAndReturn({ where, data })
    if (!tag) return refuseChange(inside, id)
    await recordTag(inside, 'changed_tag', tag)
    return tag
  })
}

/** Attempts to write a live tag: a test tag may get its name at the same moment. */
const NAME_ATTEMPTS = 3

/**
 * Writes a tag with its name in a transaction. A live tag takes the name from the test tag that has it.
 *
 * @param name undefined if the name stays. @throws DomainError duplicate_tag_name.
 */
async function writeName<T>(
  ctx: Context,
  name: string | undefined,
  write: (inside: Context) => Promise<T>,
  attempts = ctx.mode === 'test' ? 1 : NAME_ATTEMPTS,
): Promise<T> {
  try {
    return await inTransaction(ctx, async (inside) => {
      if (name !== undefined) await reserveName(inside, name)
      return write(inside)
    })
  } catch (error) {
    if (violatedConstraint(error) !== 'tags_name_key') throw error
    if (attempts === 1) throw new DomainError('duplicate_tag_name')
    return writeName(ctx, name, write, attempts - 1)
  }
}

async function reserveName(inside: Context, name: string): Promise<void> {
  if (inside.mode === 'test') return
  for (const tag of await renameTestTags(inside, [name])) await recordTag(inMode(inside, 'test'), 'changed_tag', tag)
}

/** @throws DomainError live_tag_read_only for a live tag that test data uses, tag_not_found for one that isn't there. */
async function refuseChange(inside: Context, id: string): Promise<never> {
  await getTag(inside, id)
  throw new DomainError('live_tag_read_only')
}

/** Locks the tag until the transaction ends. */
async function refuseUnseen(inside: Context, id: string, readVersion: SeenAt, change: TagChange): Promise<void> {
  await inside.db.selectFrom('tags').select('id').where('id', '=', id).forNoKeyUpdate().executeTakeFirst()
  const tag = await getTag(inside, id)
  await refuseUnseenChanges(
    versionOf(inside, { updatedAt: tag.updatedAt, seen: readVersion, action: 'changed_tag', targetId: id }),
    tag,
    change,
  )
}

/**
 * v1.md DELETE /tags/{tagId}: for good; the database removes the tag from every assessment, invite and member (cascade).
 *
 * @returns the tag as it was.
 * @throws DomainError tag_not_found, live_tag_read_only.
 */
export async function deleteTag(ctx: Context, id: string): Promise<Tag> {
  authorize(ctx, 'write_tags')
  return inTransaction(ctx, async (inside) => {
    const tag = await getTag(inside, id)
    const { count } = await inside.db.tag.deleteMany({ where: { ...scopeWhere(inside), id } })
    if (count === 0) return refuseChange(inside, id)
    await recordTag(inside, 'deleted_tag', tag)
    return tag
  })
}

/** Number of rows with a tag, at most {@link MAX_TAG_USES}. */
export type TagUses = { assessments: number; members: number; invites: number }

type TagTable = 'assessmentTags' | 'memberTags' | 'inviteTags'

/** Counting goes no further: a tag may be on a million invites. */
export const MAX_TAG_USES = 1_000

/** Uses of these tags, by id. */
export async function countTagUses(ctx: Context, ids: string[]): Promise<Map<string, TagUses>> {
  authorize(ctx, 'read_assessments')
  const uses = (table: TagTable) => {
    const usesUpToLimit = ctx.db
      .selectFrom(table as 'inviteTags')
      .where('tagId', '=', sql.ref<string>('tag.id'))
      .limit(MAX_TAG_USES)
    return ctx.db.selectFrom(usesUpToLimit.select('tagId').as('used')).select(sql<number>`count(*)::int`.as('count')).$asScalar()
  }
  const requestedIds = sql<{ id: string }>`unnest(${ids}::uuid[])`.as<'tag'>(sql`tag (id)`)
  const rows = await ctx.db
    .selectFrom(requestedIds)
    .select('tag.id')
    .select([uses('assessmentTags').as('assessments'), uses('memberTags').as('members'), uses('inviteTags').as('invites')])
    .execute()
  return new Map(rows.map(({ id, ...counts }) => [id, counts]))
}

const color = new RegExp(HEX_COLOR_PATTERN, 'u')

const findTagIssues = ({ name, color: chosenColor, description = '' }: TagChange): Issue[] => [
  ...(name === undefined ? [] : findNameIssues({ name }, MAX_TAG_NAME_LENGTH)),
  ...findIssues([
    ['color', chosenColor === undefined || color.test(chosenColor) ? undefined : { rule: 'color' }],
    ['description', checkText(description, MAX_TAG_DESCRIPTION_LENGTH)],
  ]),
]

const recordTag = (inside: Context, action: AuditAction, { id, name }: Pick<Tag, 'id' | 'name'>): Promise<void> =>
  recordByMember(inside, { action, target: { kind: 'tag', id }, details: { name } })
