import { Prisma } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import type { Window } from '../page.ts'
import type { InviteFilter, InviteOrder } from './filter.ts'
import { nextExpiry } from './lifecycle.ts'

// Counts and pages in SQL where Prisma would count or skip rows one by one: an organization may have a million invites.

type Countable = Pick<InviteFilter, 'assessmentId' | 'status'>

const COLUMNS = { sentAt: 'sent_at', status: 'status', expiresAt: 'expires_at', createdAt: 'created_at' } as const

/**
 * The number of invites that match the filter now: the sum of a few counters that a trigger maintains, however many invites there are.
 *
 * @returns null while an invite is due but not set to expired yet: the counters are then out of date.
 */
export async function countInvites(ctx: Context, filter: Countable): Promise<number | null> {
  const { db, deps } = ctx
  const [{ total, next }] = await db.$queryRaw<[{ total: number; next: Date | null }]>`
    SELECT (${counted(ctx, filter)}) AS total, (${nextExpiry(ctx)}) AS next`
  return next && next <= deps.clock() ? null : total
}

/**
 * The ids of a page far from the beginning, in the list's order. An index has them in that order, so that the skipped rows are not read;
 * in the second half of the list they are counted from the end. The statement counts the rows itself, so that rows added in the meantime
 * do not move the page.
 */
export async function findDistantIds(
  ctx: Context,
  filter: Countable,
  { field, direction }: InviteOrder,
  { skip, take }: Window,
  total: number,
): Promise<string[]> {
  const { assessmentId, status } = filter
  const fromEnd = skip > total / 2
  const by = orderBy(field, (direction === 'asc') !== fromEnd ? 'asc' : 'desc')
  const left = Prisma.sql`(${counted(ctx, filter)}) - ${skip}`
  const window = fromEnd
    ? Prisma.sql`OFFSET greatest(0, ${left} - ${take}) LIMIT least(${take}, greatest(0, ${left}))`
    : Prisma.sql`OFFSET ${skip} LIMIT ${take}`
  const rows = await ctx.db.$queryRaw<{ id: string }[]>`
    SELECT id FROM invites
    WHERE organization_id = ${ctx.organization.id}::uuid
      ${assessmentId === undefined ? Prisma.empty : Prisma.sql`AND assessment_id = ${assessmentId}::uuid`}
      ${status === undefined ? Prisma.empty : Prisma.sql`AND status = ${status}::invite_status`}
    ORDER BY ${by} ${window}`
  const ids = rows.map(({ id }) => id)
  return fromEnd ? ids.reverse() : ids
}

/** SQL. */
export const orderBy = (field: InviteOrder['field'], direction: InviteOrder['direction']): Prisma.Sql =>
  Prisma.raw(`${COLUMNS[field]} ${direction}, id ${direction}`)

function counted({ organization }: Context, { assessmentId, status }: Countable): Prisma.Sql {
  const ofStatus = status === undefined ? Prisma.empty : Prisma.sql`AND status = ${status}::invite_status`
  return assessmentId === undefined
    ? Prisma.sql`SELECT coalesce(sum(count), 0)::int FROM organization_invite_counts WHERE organization_id = ${organization.id}::uuid ${ofStatus}`
    : Prisma.sql`SELECT coalesce(sum(count), 0)::int FROM assessment_invite_counts
        WHERE organization_id = ${organization.id}::uuid AND assessment_id = ${assessmentId}::uuid ${ofStatus}`
}
