import { queryRows } from '../../db/client.ts'
import { containing } from '../../db/query.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { readWords } from '../filters.ts'
import type { Window } from '../page.ts'
import type { InviteFilter, InviteOrder } from './filter.ts'
import { hasStatus, statusAt } from './lifecycle.ts'
import { orderBy, orderedColumns } from './paging.ts'
import { butBlind } from './visibility.ts'

// Where the counters do not help, the matches are counted: the invites of one recipient, tag or grader, which indexes find. For a search that
// indexed-search.ts leaves, and while a due invite cannot be set to expired, every invite of the organization is read.

/**
 * SQL: the invites that match the filter, with the columns that a list is ordered by, and the status of each as of now.
 */
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

export async function countMatches(ctx: Context, filter: InviteFilter, now: Date): Promise<number> {
  const statement = Prisma.sql`SELECT count(*)::int AS total FROM (${selectMatches(ctx, filter, now)}) matches`
  const [counted] = await queryRows<{ total: number }>(ctx.db, statement)
  return counted!.total
}

/** The ids of a page of the matches, in the list's order. */
export async function findMatchingIds(
  { db }: Context,
  matches: Prisma.Sql,
  { field, direction }: InviteOrder,
  { skip, take }: Window,
): Promise<string[]> {
  const by = orderBy(field, direction)
  const statement = Prisma.sql`SELECT id FROM (${matches}) matches ORDER BY ${by} OFFSET ${skip} LIMIT ${take}`
  return (await queryRows<{ id: string }>(db, statement)).map(({ id }) => id)
}
