import { anyOf } from '../../../db/query.ts'
import { may } from '../../access/permissions.ts'
import type { Context } from '../../context.ts'
import { INVITATION_KINDS } from '../../mails/candidate-mails.ts'
import { findMembers } from '../../members/members.ts'
import { nameOf } from '../../values/name-of.ts'
import type { ListedInvite } from '../invites.ts'

/**
 * What a list says of its invites that they do not have in themselves.
 *
 * @property graders the names of those who grade them, by id; for who may read everything.
 * @property undelivered the ids of the pending ones whose newest mail did not arrive: nobody opens their links.
 */
export type RowExtras = { graders: Map<string, string>; undelivered: Set<string> }

/** Of a page of a list. */
export async function findRowExtras(ctx: Context, invites: readonly ListedInvite[]): Promise<RowExtras> {
  const pending = invites.filter(({ status }) => status === 'pending').map(({ id }) => id)
  const mails =
    pending.length === 0
      ? []
      : await ctx.db.inviteEmail.findMany({
          where: { organizationId: ctx.organization.id, inviteId: anyOf(pending), kind: { in: [...INVITATION_KINDS] } },
          select: { inviteId: true, state: true, failure: true },
          orderBy: [{ inviteId: 'asc' }, { createdAt: 'desc' }, { id: 'desc' }],
          distinct: ['inviteId'],
        })
  const failed = mails.filter(({ state, failure }) => state === 'failed' && failure !== 'obsolete')
  const graderIds = may(ctx, 'read') ? [...new Set(invites.flatMap(({ assignedGraderId }) => assignedGraderId ?? []))] : []
  const graders = graderIds.length === 0 ? [] : await findMembers(ctx, graderIds)
  return {
    graders: new Map(graders.map(({ id, user }) => [id, nameOf(user)])),
    undelivered: new Set(failed.map(({ inviteId }) => inviteId)),
  }
}
