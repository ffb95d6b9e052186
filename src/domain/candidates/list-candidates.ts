import { sql } from '../../db/builder.ts'
import type { Condition, Expressions, Rows, SqlBool } from '../../db/queries.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { statusNow } from '../invites/expiry.ts'
import type { InviteStatus } from '../invites/invites.ts'
import { isIndexed, matchingInvites } from '../invites/listing/invite-filter.ts'
import { readWords, validateFilter } from '../lists/filters.ts'
import { isUuid } from '../text/uuid.ts'
import { isEmailAddress } from '../validation/email-address.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'

// Candidates are the addresses that invites were sent to, in either case: there is no row of a candidate. Pages are read from their place in
// an index (invites_candidate_idx), as an organization may have a million of them, and nothing is counted but the invites of those shown.

/** A candidate, by their latest invite. @property count of their invites, up to MAX_COUNTED. */
export type Candidate = {
  id: string
  email: string
  name: string | null
  assessment: string
  status: InviteStatus
  declinedAt: Date | null
  revokedAt: Date | null
  sentAt: Date
  count: number
}
export const CANDIDATE_ORDERS = ['latest', 'address'] as const
export type CandidateOrder = (typeof CANDIDATE_ORDERS)[number]

/** @property after the page begins after the candidate whose latest invite this is. */
type CandidateQuery = { search: string; order: CandidateOrder; after: string; size: number }
/** @property isCut true if the search was limited to part of the matches. */
export type CandidatePage = { candidates: Candidate[]; hasMore: boolean; isCut: boolean }

/** Invites of a candidate are counted up to here. */
export const MAX_COUNTED = 100
/** Invites that a search looks at. */
export const MAX_SEARCHED = 5_000

/**
 * A page of the candidates, by last invitation (newest first) or by address.
 *
 * @throws DomainError not_permitted; invalid for a search beyond its limits, or with words that are all too short for the index.
 */
export async function listCandidates(ctx: Context, { search, order, after, size }: CandidateQuery): Promise<CandidatePage> {
  authorize(ctx, 'read')
  validateFilter({ search })
  const words = readWords(search)
  const isShort = words.length > 0 && !words.some(isIndexed)
  throwIfIssues(isShort ? [{ field: 'search', rule: 'account', problem: 'minLength', limit: 3 }] : [])
  const found = words.length > 0 ? await findInvites(ctx, search.trim()) : null
  const place = isUuid(after)
    ? await ctx.db.selectFrom('invites').where('id', '=', after).select(cursorColumns).executeTakeFirst()
    : undefined
  let rows = ctx.db.selectFrom('invites')
  if (found) rows = rows.where('invites.id', '=', sql<string>`any(${found}::uuid[])`)
  if (place) rows = rows.where((eb) => isBehind(eb, place, order))
  const page = order === 'address' ? byAddress(rows, size + 1) : byLatest(ctx, rows, size + 1)
  const candidates = await selectCandidates(ctx, page, order).execute()
  return { candidates: candidates.slice(0, size), hasMore: candidates.length > size, isCut: found?.length === MAX_SEARCHED }
}

const addressOf = (table: string) => sql<string>`address_key(${sql.ref(`${table}.recipientEmail`)})`

const cursorColumns = () => [addressOf('invites').as('address'), 'invites.sentAt' as const, 'invites.id' as const] as const
type CandidateCursor = { address: string; sentAt: Date; id: string }

const isBehind = (eb: Expressions<'invites'>, { address, sentAt, id }: CandidateCursor, order: CandidateOrder): Condition =>
  order === 'address'
    ? sql<SqlBool>`${addressOf('invites')} > ${address}`
    : sql<SqlBool>`(${eb.ref('invites.sentAt')}, ${eb.ref('invites.id')}) < (${sentAt}, ${id}::uuid)`

/** Ids of invites whose candidate's name or address has the words, up to a limit. */
async function findInvites(ctx: Context, search: string): Promise<string[]> {
  const filter = isEmailAddress(search) ? { recipientEmail: search } : { recipient: search }
  const matches = matchingInvites(ctx.db, filter, ctx.deps.clock())
  const found = await matches.select('invites.id').limit(sql.lit(MAX_SEARCHED)).execute()
  return found.map(({ id }) => id)
}

/** The latest invite of each address, read in the index's order: as many as the candidates of a page have are passed. */
const byAddress = (rows: Rows<'invites'>, size: number): Rows<'invites'> =>
  rows
    .distinctOn(addressOf('invites'))
    .orderBy(addressOf('invites'))
    .orderBy('invites.sentAt', 'desc')
    .orderBy('invites.id', 'desc')
    .limit(sql.lit(size))

/** Each candidate's latest invite. An index looks up whether a later one exists. */
const byLatest = (ctx: Context, rows: Rows<'invites'>, size: number): Rows<'invites'> =>
  rows
    .where(({ not, exists }) =>
      not(
        exists(
          ctx.db
            .selectFrom('invites as later')
            .select('later.id')
            .where(sql<SqlBool>`${addressOf('later')} = ${addressOf('invites')}`)
            .where(sql<SqlBool>`(later.sent_at, later.id) > (invites.sent_at, invites.id)`),
        ),
      ),
    )
    .orderBy('invites.sentAt', 'desc')
    .orderBy('invites.id', 'desc')
    .limit(sql.lit(size))

function selectCandidates(ctx: Context, page: Rows<'invites'>, order: CandidateOrder) {
  const invites = ctx.db.selectFrom(page.selectAll('invites').as('invites')) as unknown as Rows<'invites'>
  const laterInvites = ctx.db
    .selectFrom('invites as its')
    .select(sql.lit(1).as('one'))
    .where(sql<SqlBool>`${addressOf('its')} = ${addressOf('invites')}`)
    .limit(sql.lit(MAX_COUNTED))
  const shown = invites
    .innerJoin(ctx.db.table('assessments'), 'assessments.id', 'invites.assessmentId')
    .select((eb) => [
      'invites.id' as const,
      'invites.recipientEmail as email' as const,
      'invites.recipientName as name' as const,
      'assessments.name as assessment' as const,
      'invites.declinedAt' as const,
      'invites.revokedAt' as const,
      'invites.sentAt' as const,
      statusNow(eb, ctx.deps.clock()).as('status'),
      sql<number>`(select count(*)::int from (${laterInvites}) as its)`.as('count'),
    ])
  return order === 'address'
    ? shown.orderBy(addressOf('invites'))
    : shown.orderBy('invites.sentAt', 'desc').orderBy('invites.id', 'desc')
}
