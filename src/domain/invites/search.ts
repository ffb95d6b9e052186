import { containing } from '../../db/query.ts'
import { readRowsAnd, type Shape } from '../../db/rows.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { readWords } from '../filters.ts'
import { ownRows, skipped, window } from '../listing.ts'
import { type Listing, type Page, pageNumber } from '../page.ts'
import type { InviteFilter, InviteOrder } from './filter.ts'
import { asOfNow, type Expirable, hasStatus, statusAt } from './lifecycle.ts'
import { orderBy, orderedColumns } from './paging.ts'
import { butBlind } from './visibility.ts'

// Where the counters do not help, the matches are counted: the invites of one recipient, tag or grader, which indexes find. For a search that
// indexed-search.ts leaves, and while a due invite cannot be set to expired, every invite of the organization is read.

/** SQL: the invites that match the filter, with the columns that a list is ordered by, and the status of each as of now. */
export function selectMatches(ctx: Context, filter: InviteFilter, now: Date): Prisma.Sql {
  const { organization } = ctx
  const { assessmentId, status, search, recipientEmail, tagId, assignedGraderId } = filter
  const patterns = readWords(search).map(containing)
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
      ${butBlind(ctx)}`
}

/**
 * A page of the invites that match the filter. By one statement, which finds them once. The rows stand as they were found: they are ordered
 * by the status as of now, which not every row has yet.
 *
 * @param of what is read of each.
 */
export async function listMatches<Row extends Expirable>(
  ctx: Context,
  of: Shape<Row>,
  filter: InviteFilter,
  { field, direction }: InviteOrder,
  page: Page,
): Promise<Listing<Row>> {
  const now = ctx.deps.clock()
  const total = Prisma.sql`(SELECT total FROM counted)`
  const given = Prisma.sql`
    WITH matches AS MATERIALIZED (${selectMatches(ctx, filter, now)}),
    counted AS MATERIALIZED (SELECT count(*)::int AS total FROM matches),
    found AS MATERIALIZED (
      SELECT ARRAY(SELECT id FROM matches ORDER BY ${orderBy(field, direction)} ${window(skipped(page, total), page.size)}) AS ids
    )`
  const ids = Prisma.sql`(SELECT ids FROM found)`
  const which = Prisma.sql`${ownRows(ctx, [Prisma.sql`id = ANY (${ids}::uuid[])`])} ORDER BY array_position(${ids}, id)`
  const read = await readRowsAnd<Row, { total: number }>(ctx.db, of, which, Prisma.sql`${total} AS total`, given)
  const items = read.rows.map((row) => asOfNow(row, now))
  return { items, total: read.total, page: pageNumber(page, read.total), pageSize: page.size }
}
