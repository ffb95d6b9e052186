import { containing } from '../../db/query.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { readWords } from '../filters.ts'
import type { Window } from '../page.ts'
import type { InviteFilter, InviteOrder } from './filter.ts'
import { statusAt } from './lifecycle.ts'
import { orderBy } from './paging.ts'

// Where the counters don't help, the matches are counted: those of an address or a tag, which have an index, and for a search, or while
// a due invite cannot be set to expired, every invite of the organization is read.

/**
 * SQL: the invites that match the filter, with the columns that a list is ordered by, and the status of each as of now.
 */
export function selectMatches(
  { organization }: Context,
  { assessmentId, status, tagId, recipientEmail, search }: InviteFilter,
  now: Date,
): Prisma.Sql {
  const patterns = readWords(search).map(containing)
  // Words contain no white space, so none matches across the line break.
  const searched = Prisma.sql`AND (recipient_email || E'\\n' || name) ILIKE ALL (${patterns}::text[])`
  const present = Prisma.sql`
    SELECT i.id, sent_at, expires_at, i.created_at, ${statusAt(now)} AS status
    FROM invites i JOIN assessments a ON a.organization_id = i.organization_id AND a.id = assessment_id
    WHERE i.organization_id = ${organization.id}::uuid
      ${assessmentId === undefined ? Prisma.empty : Prisma.sql`AND assessment_id = ${assessmentId}::uuid`}
      ${tagId === undefined ? Prisma.empty : Prisma.sql`AND i.id IN (SELECT invite_id FROM invite_tags WHERE organization_id = ${organization.id}::uuid AND tag_id = ${tagId}::uuid)`}
      ${recipientEmail === undefined ? Prisma.empty : Prisma.sql`AND lower(recipient_email) = lower(${recipientEmail})`}
      ${patterns.length === 0 ? Prisma.empty : searched}`
  return status === undefined ? present : Prisma.sql`SELECT * FROM (${present}) present WHERE status = ${status}::invite_status`
}

export async function countMatches({ db }: Context, matches: Prisma.Sql): Promise<number> {
  const [{ total }] = await db.$queryRaw<[{ total: number }]>`SELECT count(*)::int AS total FROM (${matches}) matches`
  return total
}

/** The ids of a page of the matches, in the list's order. */
export async function findMatchingIds(
  { db }: Context,
  matches: Prisma.Sql,
  { field, direction }: InviteOrder,
  { skip, take }: Window,
): Promise<string[]> {
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT id FROM (${matches}) matches ORDER BY ${orderBy(field, direction)} OFFSET ${skip} LIMIT ${take}`
  return rows.map(({ id }) => id)
}
