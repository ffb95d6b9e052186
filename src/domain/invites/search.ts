import { queryRows } from '../../db/client.ts'
import { containing } from '../../db/query.ts'
import { readRowsAnd, readRowsInOrder, type Shape, type Shown } from '../../db/rows.ts'
import { type Invite as InviteRow, Prisma } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { readWords } from '../filters.ts'
import { ownRows, skipped } from '../listing.ts'
import { type Listing, type Page, pageNumber, readPage } from '../page.ts'
import { createTurns } from '../turns.ts'
import type { InviteFilter, InviteOrder } from './filter.ts'
import { asOfNow, hasStatus, statusAt } from './lifecycle.ts'
import { columnOf, orderBy, orderedColumns } from './paging.ts'
import { butBlind } from './visibility.ts'

// Where the counters do not help, the matches are counted: the invites of one recipient, tag or grader, which indexes find. For a search that
// indexed-search.ts leaves, and while a due invite cannot be set to expired, every invite of the organization is read.

/** What every list has of an invite. */
export type Listed = Shown<InviteRow, 'id' | 'status' | 'expiresAt'>

/** Reads a page of a list. @param of what is read of each. */
export type List<Filter, None = never> = <Row extends Listed>(
  ctx: Context,
  of: Shape<Row>,
  filter: Filter,
  order: InviteOrder,
  page: Page,
) => Promise<Listing<Row> | None>

/** SQL: the invites that match the filter, with the columns that a list is ordered by, and the status of each as of now. */
export function selectMatches(ctx: Context, filter: InviteFilter, now: Date): Prisma.Sql {
  const { organization } = ctx
  const { assessmentId, status, search, recipientEmail, recipient, tagId, assignedGraderId } = filter
  const patterns = readWords(search).map(containing)
  const ofRecipient = readWords(recipient).map((word) => hasWord(ctx, word))
  // Words contain no white space, so none matches across the line break.
  const searched = Prisma.sql`AND (recipient_email || E'\\n' || name) ILIKE ALL (${patterns}::text[])`
  const withAssessments = Prisma.sql`JOIN assessments a ON a.organization_id = i.organization_id AND a.id = assessment_id`
  const ofTag = Prisma.sql`
    AND i.id IN (SELECT invite_id FROM invite_tags WHERE organization_id = ${organization.id}::uuid AND tag_id = ${tagId}::uuid)`
  return Prisma.sql`
    SELECT i.id, ${orderedColumns}, ${statusAt(now)} AS status
    FROM invites i ${patterns.length === 0 ? Prisma.empty : withAssessments}
    WHERE i.organization_id = ${organization.id}::uuid
      ${assessmentId === undefined ? Prisma.empty : Prisma.sql`AND assessment_id = ${assessmentId}::uuid`}
      ${recipientEmail === undefined ? Prisma.empty : Prisma.sql`AND lower(recipient_email) = lower(${recipientEmail})`}
      ${assignedGraderId === undefined ? Prisma.empty : Prisma.sql`AND assigned_grader_id = ${assignedGraderId}::uuid`}
      ${status === undefined ? Prisma.empty : Prisma.sql`AND ${hasStatus(status, now)}`}
      ${tagId === undefined ? Prisma.empty : ofTag}
      ${patterns.length === 0 ? Prisma.empty : searched}
      ${ofRecipient.length === 0 ? Prisma.empty : Prisma.join(ofRecipient, ' ')}
      ${butBlind(ctx)}`
}

/** Shorter words are in no index of parts. */
const GRAM_LENGTH = 3
const isIndexed = (word: string): boolean => [...word].length >= GRAM_LENGTH

/** SQL, `AND …`: the recipient's name or address has the word. Indexes of their parts find those that may have it. */
function hasWord({ organization }: Context, word: string): Prisma.Sql {
  const pattern = containing(word)
  const has = Prisma.sql`AND (recipient_email ILIKE ${pattern} OR recipient_name ILIKE ${pattern})`
  if (!isIndexed(word)) return has
  const grams = Prisma.sql`address_grams(${organization.id}::uuid, ${word})`
  return Prisma.sql`${has} AND (
    address_grams(organization_id, recipient_email) @> ${grams} OR address_grams(organization_id, recipient_name) @> ${grams})`
}

/** Whether the filter is one of those that other indexes than that of addresses find. */
export const narrows = ({ tagId, recipientEmail, assignedGraderId }: InviteFilter): boolean =>
  [tagId, recipientEmail, assignedGraderId].some((value) => value !== undefined)

/** Milliseconds after which a client can do nothing better than to ask again later. */
const LONGEST_WAIT_MS = 10_000

/**
 * Where every invite of an organization is read, so many of its lists are made at once: all of them at the same time would each be too
 * late, and take the connections of others' requests. Few may wait: to the process a long line looks as if it were itself overloaded, and
 * it would turn away all organizations.
 */
const inTurn = createTurns(2, { waiting: 20, longest: LONGEST_WAIT_MS, refusal: () => new DomainError('too_many_searches') })

/** A page of the invites that match the filter, by their status as of now. @throws DomainError too_many_searches. */
export const listMatches: List<InviteFilter> = async (ctx, of, filter, order, page) => {
  const isNarrow = narrows(filter)
  const isFew = isNarrow || readWords(filter.recipient).some(isIndexed)
  const read = async () => {
    const now = ctx.deps.clock()
    const list = await (isFew ? listFew : listOfAll)(ctx, of, selectMatches(ctx, filter, now), order, page)
    return { ...list, items: list.items.map((invite) => asOfNow(invite, now)) }
  }
  return isNarrow ? read() : inTurn(ctx.organization.id, read, ctx.onGone)
}

/** By one statement, which finds them once. The rows stand as they were found: not each has yet the status that it is ordered by. */
async function listFew<Row extends Listed>(
  ctx: Context,
  of: Shape<Row>,
  matches: Prisma.Sql,
  order: InviteOrder,
  page: Page,
): Promise<Listing<Row>> {
  const by = orderBy(order.field, order.direction)
  const total = Prisma.sql`(SELECT count(*)::int FROM matches)`
  const given = Prisma.sql`
    WITH matches AS MATERIALIZED (SELECT id, ${columnOf(order)} FROM (${matches}) match),
    found AS MATERIALIZED (
      SELECT ARRAY(SELECT id FROM matches ORDER BY ${by} OFFSET ${skipped(page, total)} LIMIT ${page.size}) AS ids
    )`
  const ids = Prisma.sql`(SELECT ids FROM found)`
  const which = Prisma.sql`${ownRows(ctx, [Prisma.sql`id = ANY (${ids}::uuid[])`])} ORDER BY array_position(${ids}, id)`
  const read = await readRowsAnd<Row, { total: number }>(ctx.db, of, which, Prisma.sql`${total} AS total`, given)
  return { items: read.rows, total: read.total, page: pageNumber(page, read.total), pageSize: page.size }
}

/** By one statement for each: several processes of PostgreSQL count, and the first page is read in its order from an index. */
const listOfAll: List<Prisma.Sql> = (ctx, of, matches, order, page) => {
  const count = async () => {
    const statement = Prisma.sql`SELECT count(*)::int AS total FROM (${matches}) matches`
    const [counted] = await queryRows<{ total: number }>(ctx.db, statement)
    return counted!.total
  }
  return readPage(page, count, async ({ skip, take }) => {
    const by = orderBy(order.field, order.direction)
    const ids = Prisma.sql`SELECT id FROM (${matches}) matches ORDER BY ${by} OFFSET ${skip} LIMIT ${take}`
    const found = (await queryRows<{ id: string }>(ctx.db, ids)).map(({ id }) => id)
    return readRowsInOrder(ctx.db, of, ownRows(ctx), found)
  })
}
