import { type InviteStatus, Prisma } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { type Conditions, ownRows } from '../listing.ts'
import { expiring } from './lifecycle.ts'

/** How many invites are in each state; those of which there are none are missing. */
export type StateCounts = Map<InviteStatus, number>

export type StateCount = { status: InviteStatus; count: number }
export const toStateCounts = (counts: StateCount[]): StateCounts => new Map(counts.map(({ status, count }) => [status, count]))

/**
 * SQL, rows of {@link StateCount}: how many of the organization's invites are in each state as of now, by the counts that are kept of what is
 * stored. Those that are due and not set to expired yet, because another transaction has locked them or nobody has come to it, are moved
 * from one count to the other: they are few, since the sweep leaves them for a minute at most.
 */
export const countStates = (ctx: Context): Prisma.Sql => Prisma.sql`
  SELECT status, sum(count)::int AS count FROM (
    SELECT status, count FROM organization_invite_counts ${ownRows(ctx)}
    UNION ALL ${selectDue(ctx)}
  ) counts GROUP BY status HAVING sum(count) > 0`

/** SQL: the same of each of these assessments, with its `id`. */
export function countStatesOf(ctx: Context, assessmentIds: string[]): Prisma.Sql {
  const ofThese: Conditions = [Prisma.sql`assessment_id = ANY(${assessmentIds}::uuid[])`]
  return Prisma.sql`
    SELECT assessment_id AS id, status, sum(count)::int AS count FROM (
      SELECT assessment_id, status, count FROM assessment_invite_counts ${ownRows(ctx, ofThese)}
      UNION ALL ${selectDue(ctx, ofThese, Prisma.sql`assessment_id,`)}
    ) counts GROUP BY 1, 2 HAVING sum(count) > 0`
}

/** SQL: what the invites that are due add to the counts: one less of what is stored, and one expired more. @param also also these columns. */
function selectDue(ctx: Context, conditions: Conditions = [], also = Prisma.empty): Prisma.Sql {
  const isDue = Prisma.sql`expires_at <= ${ctx.deps.clock()}`
  return Prisma.sql`
    SELECT ${also} counted.* FROM (SELECT assessment_id, status FROM invites ${ownRows(ctx, [...conditions, expiring, isDue])}) due
    CROSS JOIN LATERAL (VALUES (due.status, -1), ('expired', 1)) counted (status, count)`
}
