import { own } from '../../db/own.ts'
import { run } from '../../db/statements.ts'
import type { SavedFilter } from '../../generated/prisma/client.ts'
import { may } from '../access/permissions.ts'
import { checkName, checkSize, findIssues } from '../checking/checks.ts'
import { refuse } from '../checking/refuse.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { inTransaction } from '../transaction.ts'
import { isUuid } from '../values/uuid.ts'

export type { SavedFilter }

const MAX_FILTER_NAME_LENGTH = 60
const MAX_QUERY_LENGTH = 1_000
/** Of one member. */
const MAX_SAVED_FILTERS = 20
const MAX_LISTED = 100

/** The ways in which a member has narrowed the list of invites, and others who may read everything have for all who may, by name. */
export async function listSavedFilters(ctx: Context): Promise<SavedFilter[]> {
  const { db, organization, actor } = ctx
  if (actor.kind !== 'member') return []
  const seen = [{ memberId: actor.id }, ...(may(ctx, 'read') ? [{ isShared: true }] : [])]
  const where = { organizationId: organization.id, OR: seen }
  return db.savedFilter.findMany({ where, orderBy: [{ name: 'asc' }, { id: 'asc' }], take: MAX_LISTED })
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
  const of = { organizationId: organization.id, memberId: actor.id }
  await inTransaction(ctx, async (inside) => {
    const { db, deps } = inside
    // Locked, so that parallel requests of one member are counted one after the other.
    await run(db, own(inside, 'members').select('id').where('id', '=', actor.id).forNoKeyUpdate())
    const others = await db.savedFilter.count({ where: { ...of, name: { not: name } } })
    refuse(
      findIssues([
        ['filterName', checkName(name, MAX_FILTER_NAME_LENGTH) ?? checkSize('maxItems', others + 1, MAX_SAVED_FILTERS)],
        ['search', checkSize('maxLength', filter.query.length, MAX_QUERY_LENGTH)],
      ]),
    )
    const data = { query: filter.query, isShared: filter.isShared && may(ctx, 'read') }
    await db.savedFilter.upsert({
      where: { organizationId_memberId_name: { ...of, name } },
      create: { ...of, ...data, id: deps.newId(), name, createdAt: deps.clock() },
      update: data,
    })
  })
}

/** Forgets a filter of one's own; who manages members, also what others share. One that is gone already is no error. */
export async function deleteSavedFilter(ctx: Context, id: string): Promise<void> {
  const { db, organization, actor } = ctx
  if (actor.kind !== 'member') throw new DomainError('not_permitted')
  if (!isUuid(id)) return
  const deletable = [{ memberId: actor.id }, ...(may(ctx, 'manage_members') ? [{ isShared: true }] : [])]
  await db.savedFilter.deleteMany({ where: { organizationId: organization.id, id, OR: deletable } })
}
