import type { SavedFilter as Row } from '../../generated/prisma/client.ts'
import { may } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { ERASED_MEMBER } from '../loaders/former-members.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import { checkName, checkSize, findIssues } from '../validation/checks.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'

/** @property namesErased true if its grader, or a word in it, refers to an erased member. */
export type SavedFilter = Row & { namesErased: boolean }

const MAX_FILTER_NAME_LENGTH = 60
const MAX_QUERY_LENGTH = 1_000
/** Filters of one member. */
const MAX_SAVED_FILTERS = 20
const MAX_LISTED = 100

/** The member's saved filters of the invite list and, if they may read everything, the shared ones, sorted by name. */
export async function listSavedFilters(ctx: Context): Promise<SavedFilter[]> {
  const { db, organization, actor } = ctx
  if (actor.kind !== 'member') return []
  const visible = [{ memberId: actor.id }, ...(may(ctx, 'read') ? [{ isShared: true }] : [])]
  const where = { organizationId: organization.id, OR: visible }
  const filters = await db.savedFilter.findMany({ where, orderBy: [{ name: 'asc' }, { id: 'asc' }], take: MAX_LISTED })
  const graderIds = filters.flatMap(({ query }) => new URLSearchParams(query).getAll('grader')).filter(isUuid)
  const erased = graderIds.length > 0 ? await findFiltersWithErased(ctx, graderIds) : new Set()
  return filters.map((filter) => {
    const values = [filter.name, ...new URLSearchParams(filter.query).values()]
    return { ...filter, namesErased: values.some((value) => erased.has(value) || value.includes(ERASED_MEMBER)) }
  })
}

async function findFiltersWithErased({ db, organization }: Context, ids: string[]): Promise<Set<string>> {
  const where = { organizationId: organization.id, id: { in: ids }, erasedAt: { not: null } }
  return new Set((await db.member.findMany({ where, select: { id: true } })).map(({ id }) => id))
}

/** Takes an erased member out of a filter's name and query. A name that the member's other filters have gets a number. */
export async function replaceInFilter(
  { db, organization }: Context,
  { id, memberId, name, query }: Pick<Row, 'id' | 'memberId' | 'name' | 'query'>,
  replace: (text: string) => string,
): Promise<void> {
  const otherFilters = await db.savedFilter.findMany({
    where: { organizationId: organization.id, memberId, id: { not: id } },
    select: { name: true },
  })
  const isTaken = (wanted: string) => otherFilters.some((filter) => filter.name === wanted)
  const letters = [...replace(name)]
  const withSuffix = (suffix: string) => letters.slice(0, MAX_FILTER_NAME_LENGTH - suffix.length).join('') + suffix
  const suffixes = ['', ...otherFilters.map((_, i) => ` (${i + 2})`)]
  const free = suffixes.map(withSuffix).find((candidate) => !isTaken(candidate))!
  const values = [...new URLSearchParams(query)].map(([field, value]): [string, string] => [field, replace(value)])
  await db.savedFilter.updateMany({
    where: { organizationId: organization.id, id },
    data: { name: free, query: new URLSearchParams(values).toString() },
  })
}

/**
 * Keeps a way to narrow the list. One of the same name, of the same member, is replaced.
 *
 * @param filter.query as an address has it.
 * @param filter.isShared whether all who may read everything see it: only they can share one.
 * @throws DomainError not_permitted; invalid.
 */
export async function saveFilter(ctx: Context, filter: { name: string; query: string; isShared: boolean }): Promise<void> {
  const { organization, actor } = ctx
  if (actor.kind !== 'member') throw new DomainError('not_permitted')
  const name = filter.name.trim()
  const key = { organizationId: organization.id, memberId: actor.id }
  await inTransaction(ctx, async (inside) => {
    const { db, deps } = inside
    // Locked, so that parallel requests of one member are counted one by one.
    await inside.db.selectFrom('members').select('id').where('id', '=', actor.id).forNoKeyUpdate().execute()
    const otherFilters = await db.savedFilter.count({ where: { ...key, name: { not: name } } })
    throwIfIssues(
      findIssues([
        ['filterName', checkName(name, MAX_FILTER_NAME_LENGTH) ?? checkSize('maxItems', otherFilters + 1, MAX_SAVED_FILTERS)],
        ['search', checkSize('maxLength', filter.query.length, MAX_QUERY_LENGTH)],
      ]),
    )
    const data = { query: filter.query, isShared: filter.isShared && may(ctx, 'read') }
    await db.savedFilter.upsert({
      where: { organizationId_memberId_name: { ...key, name } },
      create: { ...key, ...data, id: deps.newId(), name, createdAt: deps.clock() },
      update: data,
    })
  })
}

/** Deletes one of the member's own filters; members who manage members may delete shared ones, too. A missing filter is no error. */
export async function deleteSavedFilter(ctx: Context, id: string): Promise<void> {
  const { db, organization, actor } = ctx
  if (actor.kind !== 'member') throw new DomainError('not_permitted')
  if (!isUuid(id)) return
  const deletable = [{ memberId: actor.id }, ...(may(ctx, 'manage_members') ? [{ isShared: true }] : [])]
  await db.savedFilter.deleteMany({ where: { organizationId: organization.id, id, OR: deletable } })
}
