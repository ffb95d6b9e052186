import type { AsJson } from '../../../db/statements.ts'
import { withSignal } from '../../../db/transact.ts'
import type { Context } from '../../context.ts'
import { validateFilter } from '../../lists/filters.ts'
import type { Projection } from '../../lists/listing.ts'
import { type ListPage, type PageRequest, readPage } from '../../lists/page.ts'
import { expireDueInvites } from '../expire-due-invites.ts'
import { authorizeInvites } from '../visibility.ts'
import { countInvites, isCounted, readDistantPage, readEarlyPage } from './count-matches.ts'
import { listByIndexedSearch } from './indexed-search.ts'
import { type CountedFilter, type InviteFilter, type InviteOrder, isSearch } from './invite-filter.ts'
import { type ListedColumns, type ListInvites, listMatches } from './list-matches.ts'

/** From this offset on it is cheaper to find the ids first. */
const DISTANT = 1_000

/**
 * v1.md GET /invites; alternate.md GET /assessment_invites.
 *
 * Filter, order and count use the stored status, so invites that are due are first set to expired. When one cannot be, because another
 * transaction has locked it, the list is computed from every row of the organization, as for a search that the index does not help with.
 * Under a filter by recipient or grader, or by tag together with others than the status, it is computed from the rows that the filter finds.
 *
 * @throws DomainError not_permitted, see authorizeInvites; invalid for a filter beyond its limits; too_many_searches.
 */
export const listInvites: ListInvites<InviteFilter> = async (ctx, projection, filter, order, page) => {
  await authorizeInvites(ctx, filter)
  validateFilter(filter)
  if (isCounted(filter, order)) {
    const list = await listCurrent(ctx, projection, filter, order, page)
    if (list) return list
  }
  // Expired invites have changed, even if their rows still have another status.
  if (filter.updatedSince !== undefined && (await countInvites(ctx, {})) === null) await expireDueInvites(ctx)
  const searching = { ...ctx, db: withSignal(ctx.db, ctx.signal) }
  const found = isSearch(filter) ? await listByIndexedSearch(searching, projection, filter, order, page) : null
  return found ?? listMatches(searching, projection, filter, order, page)
}

/** After setting due invites to expired. @returns null when a due invite could not be set. */
const listCurrent: ListInvites<CountedFilter, null> = async (ctx, projection, filter, order, page) => {
  const list = await listStored(ctx, projection, filter, order, page)
  if (list) return list
  await expireDueInvites(ctx)
  return listStored(ctx, projection, filter, order, page)
}

/** @returns null while an invite is due but not set to expired yet. */
async function listStored<Row extends ListedColumns>(
  ctx: Context,
  projection: Projection<'invites', Row>,
  filter: CountedFilter,
  order: InviteOrder,
  page: PageRequest,
): Promise<ListPage<AsJson<Row>> | null> {
  const skip = page.number === 'last' ? Infinity : (page.number - 1) * page.size
  if (skip < DISTANT) {
    const found = await readEarlyPage(ctx, projection, filter, order, { skip, take: page.size })
    return found && { items: found.rows, total: found.total, page: skip / page.size + 1, pageSize: page.size }
  }
  const total = await countInvites(ctx, filter)
  if (total === null) return null
  return readPage(
    page,
    async () => total,
    (window) => readDistantPage(ctx, projection, filter, order, window, total),
  )
}
