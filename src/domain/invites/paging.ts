import { Prisma } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { ownRows } from '../listing.ts'
import type { Window } from '../page.ts'
import type { CountedFilter, InviteOrder } from './filter.ts'
import { nextExpiry } from './lifecycle.ts'

// Counts and pages in SQL where Prisma would count or skip rows one by one: an organization may have a million invites. The counters are
// maintained by triggers of the migration invite_counts.

/** The column of each field that a list can be ordered by. */
const COLUMNS = {
  sentAt: 'sent_at',
  status: 'status',
  expiresAt: 'expires_at',
  createdAt: 'created_at',
} as const satisfies Record<InviteOrder['field'], string>

/** SQL: these columns, of `invites i`. Without the status, which depends on the clock. */
export const orderedColumns = Prisma.raw(
  Object.values(COLUMNS)
    .filter((column) => column !== COLUMNS.status)
    .map((column) => `i.${column}`)
    .join(', '),
)

/**
 * The number of invites that match the filter now: the sum of a few counters that a trigger maintains, however many invites there are.
 *
 * @returns null while an invite is due but not set to expired yet: the counters are then out of date.
 */
export async function countInvites(ctx: Context, filter: CountedFilter): Promise<number | null> {
  const [counted] = await ctx.db.$queryRaw<[Counted]>`SELECT ${counts(ctx, filter)}`
  return totalAt(ctx, counted)
}

/** What the counters say, and the earliest expiry. */
export type Counted = { total: number; next: Date | null }

/** SQL: that. */
export const counts = (ctx: Context, filter: CountedFilter): Prisma.Sql =>
  Prisma.sql`(${counted(ctx, filter)}) AS total, (${nextExpiry(ctx)}) AS next`

/** @returns null while an invite is due but not set to expired yet: the counters are then out of date. */
export const totalAt = ({ deps }: Context, { total, next }: Counted): number | null =>
  next && next <= deps.clock() ? null : total

/** SQL: the organization's invites that match the filter by what is stored. */
export const storedInvites = (ctx: Context, { assessmentId, status }: CountedFilter): Prisma.Sql =>
  ownRows(ctx, [
    assessmentId !== undefined && Prisma.sql`assessment_id = ${assessmentId}::uuid`,
    status !== undefined && Prisma.sql`status = ${status}::invite_status`,
  ])

/**
 * The ids of a page far from the beginning, in the list's order. An index has them in that order, so that the skipped rows are not read;
 * in the second half of the list they are counted from the end. The statement counts the rows itself, so that rows added in the meantime
 * do not move the page.
 */
export async function findDistantIds(
  ctx: Context,
  filter: CountedFilter,
  { field, direction }: InviteOrder,
  { skip, take }: Window,
  total: number,
): Promise<string[]> {
  const fromEnd = skip > total / 2
  const by = orderBy(field, (direction === 'asc') !== fromEnd ? 'asc' : 'desc')
  const left = Prisma.sql`(${counted(ctx, filter)}) - ${skip}`
  const window = fromEnd
    ? Prisma.sql`OFFSET greatest(0, ${left} - ${take}) LIMIT least(${take}, greatest(0, ${left}))`
    : Prisma.sql`OFFSET ${skip} LIMIT ${take}`
  const rows = await ctx.db.$queryRaw<{ id: string }[]>`
    SELECT id FROM invites ${storedInvites(ctx, filter)} ORDER BY ${by} ${window}`
  const ids = rows.map(({ id }) => id)
  return fromEnd ? ids.reverse() : ids
}

/** SQL. */
export const orderBy = (field: InviteOrder['field'], direction: InviteOrder['direction']): Prisma.Sql =>
  Prisma.raw(`${COLUMNS[field]} ${direction}, id ${direction}`)

function counted({ organization }: Context, { assessmentId, status }: CountedFilter): Prisma.Sql {
  const ofStatus = status === undefined ? Prisma.empty : Prisma.sql`AND status = ${status}::invite_status`
  return assessmentId === undefined
    ? Prisma.sql`SELECT coalesce(sum(count), 0)::int FROM organization_invite_counts WHERE organization_id = ${organization.id}::uuid ${ofStatus}`
    : Prisma.sql`SELECT coalesce(sum(count), 0)::int FROM assessment_invite_counts
        WHERE organization_id = ${organization.id}::uuid AND assessment_id = ${assessmentId}::uuid ${ofStatus}`
}
