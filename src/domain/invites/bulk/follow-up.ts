import { sql } from '../../../db/builder.ts'
import { authorize } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import type { Batch } from '../batches/batches.ts'
import { countNameless } from '../batches/count-nameless.ts'
import { statusNow } from '../expiry.ts'
import type { InviteStatus } from '../invites.ts'
import { matchingInvites } from '../listing/invite-filter.ts'

/**
 * Invites and rows that the page of a list offers to change.
 *
 * @property statuses of the invites that it made. @property unnamed earlier invites without a name that the list has one for.
 * @property closed earlier invites that can be reactivated. @property nameless rows to be invited without a name.
 */
export type FollowUp = { statuses: Map<InviteStatus, number>; unnamed: number; closed: number; nameless: number }

/** @throws DomainError not_permitted. */
export async function readFollowUp(ctx: Context, { id, counts }: Batch): Promise<FollowUp> {
  authorize(ctx, 'invite')
  const now = ctx.deps.clock()
  const count = sql<number>`count(*)::int`.as('count')
  const part = (part: 'unnamed' | 'closed') =>
    matchingInvites(ctx.db, { list: { id, part } }, now).select(count).executeTakeFirstOrThrow()
  const invited = matchingInvites(ctx.db, { list: { id, part: 'invited' } }, now)
    .select((eb) => [statusNow(eb, now).as('status'), count])
    .groupBy(sql`1`)
  const statuses = counts.invited > 0 ? await invited.execute() : []
  const hasEarlier = counts.already > 0
  return {
    statuses: new Map(statuses.map(({ status, count }) => [status, count])),
    unnamed: hasEarlier ? (await part('unnamed')).count : 0,
    closed: hasEarlier ? (await part('closed')).count : 0,
    nameless: counts.ready > 0 ? await countNameless(ctx, id) : 0,
  }
}
