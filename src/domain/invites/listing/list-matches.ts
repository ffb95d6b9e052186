import { sql } from '../../../db/builder.ts'
import { project, type Rows } from '../../../db/queries.ts'
import { type AsJson, jsonOf } from '../../../db/statements.ts'
import type { InviteStatus } from '../../../generated/prisma/client.ts'
import { createKeyedLimiter } from '../../concurrency/work-queues.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { readWords, validateFilter } from '../../lists/filters.ts'
import { offsetOf, type Projection, type Time } from '../../lists/listing.ts'
import { type ListPage, type PageRequest, pageNumber, readPage } from '../../lists/page.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'
import { statusNow, withCurrentStatus } from '../expiry.ts'
import { authorizeInvites, isVisibleUnblinded } from '../visibility.ts'
import { readRowsInOrder } from './count-matches.ts'
import { type InviteFilter, type InviteOrder, isCountable, isIndexed, isNarrow, matchingInvites } from './invite-filter.ts'

// Counts matches without counters: for recipient, tag, or grader, which have indexes. A search without indexed-search.ts reads all invites
// of the organization.

/** Columns that every list needs. */
export type ListedColumns = { id: string; status: InviteStatus; expiresAt: Time }

/** Reads a page of a list. @param of columns to read. */
export type ListInvites<Filter, None = never> = <Row extends ListedColumns>(
  ctx: Context,
  projection: Projection<'invites', Row>,
  filter: Filter,
  order: InviteOrder,
  page: PageRequest,
) => Promise<ListPage<AsJson<Row>> | None>

/** The invites that match the filter and may be seen: the columns that a list is ordered by, and the status of each as of now. */
export const selectMatches = (ctx: Context, filter: InviteFilter, now: Date) =>
  matchingInvites(ctx.db, filter, now)
    .where((eb) => isVisibleUnblinded(ctx, eb))
    .select((eb) => ['invites.id', 'invites.sentAt', 'invites.expiresAt', 'invites.createdAt', statusNow(eb, now).as('status')])
export type Matches = ReturnType<typeof selectMatches>

/** Milliseconds after which a client should rather ask again later. */
const LONGEST_WAIT_MS = 10_000

/**
 * Limits lists that read every invite of an organization: more at once would all be too late and use up the connections of
 * others. The queue is short, because a long one would make the process look overloaded to all organizations.
 */
const keyedLimiter = createKeyedLimiter(2, {
  waiting: 20,
  longest: LONGEST_WAIT_MS,
  refusal: () => new DomainError('too_many_searches'),
})

/** A page of the invites that match the filter, by their status as of now. @throws DomainError too_many_searches. */
export const listMatches: ListInvites<InviteFilter> = async (ctx, projection, filter, order, page) => {
  const isFew = isNarrow(filter) || readWords(filter.recipient).some(isIndexed)
  const readList = async () => {
    const now = ctx.deps.clock()
    const list = await (isFew ? listFew : listOfAll)(ctx, projection, selectMatches(ctx, filter, now), order, page)
    return { ...list, items: list.items.map((invite) => withCurrentStatus(invite as typeof invite & ListedColumns, now)) }
  }
  return isNarrow(filter) ? readList() : keyedLimiter(ctx.organization.id, readList, ctx.signal)
}

/**
 * Finds the matches once, by one statement. The rows keep the order in which they were found, because stored statuses may be out of date.
 */
const listFew: ListInvites<Matches> = async (ctx, projection, matches, { field, direction }, page) => {
  const { take, skip } = { take: page.size, skip: offsetOf(page, sql`(select count(*) from matches)`) }
  const place = sql<number>`array_position((select ids from found), ${sql.ref('invites.id')})`
  const found = ctx.db.selectFrom('invites').where('invites.id', '=', sql<string>`any((select ids from found)::uuid[])`)
  const query = ctx.db
    .with(
      (cte) => cte('matches').materialized(),
      () => matches,
    )
    .with(
      (cte) => cte('found').materialized(),
      (withMatches) => {
        const ids = withMatches
          .selectFrom('matches')
          .select('id')
          .orderBy(field, direction)
          .orderBy('id', direction)
          .offset(skip)
          .limit(take)
        return withMatches.selectNoFrom(() => sql<string[]>`array(${ids})`.as('ids'))
      },
    )
    .selectFrom('matches')
    .select(({ fn }) => [
      sql<number>`${fn.countAll()}::int`.as('total'),
      jsonOf(project(ctx.db, found.orderBy(place), 'invites', projection.show)).as('rows'),
    ])
  const { rows, total } = await query.executeTakeFirstOrThrow()
  return { items: rows, total, page: pageNumber(page, total), pageSize: page.size }
}

/** By one statement for each: several processes of PostgreSQL count, and the first page is read in its order from an index. */
const listOfAll: ListInvites<Matches> = (ctx, projection, matches, { field, direction }, page) => {
  const found = () => ctx.db.with('matches', () => matches).selectFrom('matches')
  const count = async () => {
    const counted = found().select(sql<number>`count(*)::int`.as('total'))
    return (await counted.executeTakeFirstOrThrow()).total
  }
  return readPage(page, count, async ({ skip, take }) => {
    const ids = found().select('id').orderBy(field, direction).orderBy('id', direction).offset(skip).limit(take)
    const rows = await ids.execute()
    return readRowsInOrder(
      ctx,
      projection,
      ctx.db.selectFrom('invites') as Rows<'invites'>,
      rows.map(({ id }) => id),
    )
  })
}

/**
 * Ids of the invites that match the filter as of now, newest first.
 *
 * @param most most ids.
 * @throws DomainError not_permitted; invalid for a filter beyond its limits, or a search with words that are all too short for an index.
 */
export async function findMatchingIds(ctx: Context, filter: InviteFilter, most: number): Promise<string[]> {
  await authorizeInvites(ctx, filter)
  validateFilter(filter)
  const isFound =
    isCountable(filter) || isNarrow(filter) || filter.source !== undefined || readWords(filter.recipient).some(isIndexed)
  throwIfIssues(isFound ? [] : [{ field: 'search', rule: 'account', problem: 'minLength', limit: 3 }])
  const latest = selectMatches(ctx, filter, ctx.deps.clock()).orderBy('invites.sentAt', 'desc').orderBy('invites.id', 'desc')
  const found = await latest.clearSelect().select('invites.id').limit(most).execute()
  return found.map(({ id }) => id)
}
