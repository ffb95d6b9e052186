import { anyOfIds } from '../../../db/queries.ts'
import { may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { findMembers } from '../../members/members.ts'
import { displayNameOf } from '../../text/display-name.ts'
import type { ListedInvite } from '../invites.ts'
import { undeliveredInvites } from './invite-filter.ts'

/**
 * Facts about listed invites from other tables.
 *
 * @property graders names of graders, by id; for actors who may read everything.
 * @property undelivered ids of pending invites whose newest invitation failed or bounced.
 */
export type RowExtras = { graders: Map<string, string>; undelivered: Set<string> }

export async function findRowExtras(ctx: Context, invites: readonly ListedInvite[]): Promise<RowExtras> {
  const undelivered = await findUndelivered(ctx, invites)
  const graderIds = may(ctx, 'read') ? [...new Set(invites.flatMap(({ assignedGraderId }) => assignedGraderId ?? []))] : []
  const graders = graderIds.length === 0 ? [] : await findMembers(ctx, graderIds)
  return {
    graders: new Map(graders.map(({ id, user }) => [id, displayNameOf(user)])),
    undelivered,
  }
}

/** Ids of the undelivered ones among the invites. */
export async function findUndelivered(
  ctx: Context,
  invites: readonly Pick<ListedInvite, 'id' | 'status'>[],
): Promise<Set<string>> {
  const pending = invites.filter(({ status }) => status === 'pending').map(({ id }) => id)
  if (pending.length === 0) return new Set()
  const found = await undeliveredInvites(ctx.db).where('mail.inviteId', '=', anyOfIds(pending)).execute()
  return new Set(found.map(({ inviteId }) => inviteId))
}
