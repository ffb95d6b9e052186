import { violatedConstraint } from '../../db/errors.ts'
import { containing } from '../../db/query.ts'
import { type Shape, shapeOf } from '../../db/rows.ts'
import { Prisma, type Tag } from '../../generated/prisma/client.ts'
import { authorOf } from '../access/author.ts'
import { findNameIssues } from '../access/names.ts'
import { authorize } from '../access/permissions.ts'
import { type AuditAction, recordByMember } from '../audit.ts'
import { refuseUnseenChanges, type Seen } from '../changed.ts'
import { checkText, findIssues, ofChanged } from '../checks.ts'
import type { Context } from '../context.ts'
import { DomainError, type Issue } from '../errors.ts'
import { readWords, refuseExcess } from '../filters.ts'
import { requireInvite } from '../invites/invites.ts'
import { HEX_COLOR_PATTERN, MAX_TAG_DESCRIPTION_LENGTH, MAX_TAG_NAME_LENGTH } from '../limits.ts'
import { orderBy, ownRows, readListing } from '../listing.ts'
import { type Listing, type Order, type Page, readPage } from '../page.ts'
import { refuse } from '../refuse.ts'
import { findById } from '../shared-query.ts'
import { inTransaction } from '../transaction.ts'
import { isUuid } from '../uuid.ts'

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

export const wholeTag = shapeOf<Tag>('tags', Prisma.TagScalarFieldEnum, { createdAt: true, updatedAt: true })
const COLUMNS = { name: 'name', createdAt: 'created_at', updatedAt: 'updated_at' } as const satisfies Record<
  TagOrder['field'],
  string
>

/**
 * v1.md GET /tags; alternate.md GET /tags.
 *
 * @param of what is read of each.
 * @throws DomainError invalid for a filter beyond its limits.
 */
export async function listTags<Row>(
  ctx: Context,
  of: Shape<Row>,
  filter: TagFilter,
  order: TagOrder,
  page: Page,
): Promise<Listing<Row>> {
  authorize(ctx, 'read')
  refuseExcess(filter)
  return readListing(ctx, of, page, { where: matching(ctx, filter), order: orderBy(COLUMNS, order) })
}

/** SQL: the organization's tags that match. */
const matching = (ctx: Context, { name, createdById, search }: TagFilter): Prisma.Sql =>
  ownRows(ctx, [
    name !== undefined && Prisma.sql`name = ${name}`,
    createdById !== undefined && Prisma.sql`created_by_id = ${createdById}::uuid`,
    ...readWords(search).map((word) => Prisma.sql`name ILIKE ${containing(word)}`),
  ])

export type InviteTagOrder = Order<'position' | TagOrder['field']>

/** The tags of one invite; `position` is the order in which they were given. Beyond both documents. @throws DomainError invite_not_found. */
export async function listInviteTags(
  ctx: Context,
  inviteId: string,
  { field, direction }: InviteTagOrder,
  page: Page,
): Promise<Listing<Tag>> {
  await requireInvite(ctx, inviteId)
  const { inviteTag } = ctx.db
  const where = { organizationId: ctx.organization.id, inviteId }
  const order = field === 'position' ? { position: direction } : { tag: { [field]: direction } }
  return readPage(
    page,
    () => inviteTag.count({ where }),
    async (window) => {
      const orderBy = [order, { tagId: direction }]
      const rows = await inviteTag.findMany({ where, orderBy, include: { tag: true }, relationLoadStrategy: 'join', ...window })
      return rows.map(({ tag }) => tag)
    },
  )
}

/** v1.md GET /tags/{tagId}; alternate.md GET /tags/{id}. @throws DomainError tag_not_found. */
export async function getTag(ctx: Context, id: string): Promise<Tag> {
  authorize(ctx, 'read')
  const [tag] = await findTags(ctx, [id])
  if (!tag) throw new DomainError('tag_not_found')
  return tag
}

/** The organization's tags with these ids, in no particular order; other ids are left out. */
export const findTags = findById(wholeTag)

/** Which of these ids are tags of the organization. Runs in a transaction: until it ends nobody deletes them. */
export async function holdTags({ db, organization }: Context, ids: string[]): Promise<Set<string>> {
  const found = await db.$queryRaw<{ id: string }[]>`
    SELECT id::text FROM tags WHERE organization_id = ${organization.id}::uuid AND id = ANY (${ids.filter(isUuid)}::uuid[])
    ORDER BY id FOR KEY SHARE`
  return new Set(found.map(({ id }) => id))
}

/** v1.md POST /tags. @throws DomainError duplicate_tag_name. */
export async function createTag(ctx: Context, { name, color = DEFAULT_COLOR, description = '' }: NewTag): Promise<Tag> {
  authorize(ctx, 'write_tags')
  refuse(findTagIssues({ name, color, description }))
  const { clock, newId } = ctx.deps
  const now = clock()
  const data = {
    id: newId(),
    organizationId: ctx.organization.id,
    name,
    color,
    description,
    createdById: authorOf(ctx).createdById,
    createdAt: now,
    updatedAt: now,
  }
  return inTransaction(ctx, async (inside) => {
    const tag = await inside.db.tag.create({ data }).catch(translateDuplicateName)
    await recordTag(inside, 'created_tag', tag)
    return tag
  })
}

/**
 * v1.md PATCH /tags/{tagId}: changes what is given.
 *
 * @throws DomainError tag_not_found, duplicate_tag_name; invalid, also `changed` for what somebody else has changed since it was seen.
 */
export async function updateTag(ctx: Context, id: string, change: TagChange, seen?: Seen): Promise<Tag> {
  authorize(ctx, 'write_tags')
  if (!isUuid(id)) throw new DomainError('tag_not_found')
  const issues = findTagIssues(change)
  if (issues.length > 0) refuse(ofChanged(issues, await getTag(ctx, id), change))
  const where = { organizationId: ctx.organization.id, id }
  return inTransaction(ctx, async (inside) => {
    if (seen) await refuseUnseen(inside, id, seen, change)
    const data = { ...change, updatedAt: ctx.deps.clock() }
    const [tag] = await inside.db.tag.updateManyAndReturn({ where, data }).catch(translateDuplicateName)
    if (!tag) throw new DomainError('tag_not_found')
    await recordTag(inside, 'changed_tag', tag)
    return tag
  })
}

/** Until the transaction ends nobody else changes the tag. */
async function refuseUnseen(inside: Context, id: string, seen: Seen, change: TagChange): Promise<void> {
  const { db, organization } = inside
  await db.$queryRaw`SELECT id FROM tags WHERE organization_id = ${organization.id}::uuid AND id = ${id}::uuid FOR NO KEY UPDATE`
  const tag = await getTag(inside, id)
  refuseUnseenChanges(tag, seen, tag, change)
}

/**
 * v1.md DELETE /tags/{tagId}: for good; the database removes the tag from every assessment, invite and member (cascade).
 *
 * @returns the tag as it was.
 * @throws DomainError tag_not_found.
 */
export async function deleteTag(ctx: Context, id: string): Promise<Tag> {
  authorize(ctx, 'write_tags')
  return inTransaction(ctx, async (inside) => {
    const tag = await getTag(inside, id)
    const { count } = await inside.db.tag.deleteMany({ where: { organizationId: ctx.organization.id, id } })
    if (count === 0) throw new DomainError('tag_not_found') // another request was faster
    await recordTag(inside, 'deleted_tag', tag)
    return tag
  })
}

/** How many rows have a tag, at most {@link MAX_TAG_USES}. */
export type TagUses = { assessments: number; members: number; invites: number }

/** Counting goes no further: a tag may be on a million invites. */
export const MAX_TAG_USES = 1_000

/** Where these tags of the organization are used, by their ids. */
export async function countTagUses(ctx: Context, ids: string[]): Promise<Map<string, TagUses>> {
  authorize(ctx, 'read')
  const uses = (table: string) =>
    Prisma.sql`(SELECT count(*)::int FROM (SELECT FROM ${Prisma.raw(table)}
      WHERE organization_id = ${ctx.organization.id}::uuid AND tag_id = tag.id LIMIT ${MAX_TAG_USES}) AS used)`
  const rows = await ctx.db.$queryRaw<({ id: string } & TagUses)[]>`
    SELECT id, ${uses('assessment_tags')} AS assessments, ${uses('member_tags')} AS members, ${uses('invite_tags')} AS invites
    FROM unnest(${ids}::uuid[]) AS tag (id)`
  return new Map(rows.map(({ id, ...counts }) => [id, counts]))
}

const color = new RegExp(HEX_COLOR_PATTERN, 'u')

/** What is wrong with what is given of a tag. */
const findTagIssues = ({ name, color: given, description = '' }: TagChange): Issue[] => [
  ...(name === undefined ? [] : findNameIssues({ name }, MAX_TAG_NAME_LENGTH)),
  ...findIssues([
    ['color', given === undefined || color.test(given) ? undefined : { rule: 'color' }],
    ['description', checkText(description, MAX_TAG_DESCRIPTION_LENGTH)],
  ]),
]

const recordTag = (inside: Context, action: AuditAction, { id, name }: Tag): Promise<void> =>
  recordByMember(inside, { action, target: { kind: 'tag', id }, details: { name } })

function translateDuplicateName(error: unknown): never {
  if (violatedConstraint(error) === 'tags_name_key') throw new DomainError('duplicate_tag_name')
  throw error
}
