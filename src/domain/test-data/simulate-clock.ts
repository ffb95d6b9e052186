import { scopeWhere } from '../../db/queries.ts'
import type { Context } from '../context.ts'
import { expireIfDue } from '../invites/expire-due-invites.ts'
import { EXPIRING_STATUSES } from '../invites/expiry.ts'
import type { InviteDetail } from '../invites/invites.ts'
import { createMoveError } from '../invites/move-invite.ts'
import { inTransaction } from '../transaction.ts'

/** Makes now the time at which the invite expires, and has the clock find that it is over. @throws DomainError move_not_allowed. */
export async function expireInvite(ctx: Context, { id, status }: InviteDetail): Promise<void> {
  if (status === 'expired') return
  await inTransaction(ctx, async (inside) => {
    const where = { ...scopeWhere(inside), id }
    const { count } = await inside.db.invite.updateMany({
      where: { ...where, status: { in: [...EXPIRING_STATUSES] } },
      data: { expiresAt: inside.deps.clock() },
    })
    if (count === 0) throw createMoveError('expire', status)
    await expireIfDue(inside, where)
  })
}
