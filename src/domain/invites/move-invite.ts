import { scopeWhere } from '../../db/queries.ts'
import type { Invite as InviteRow, InviteStatus, Prisma } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { DomainError, type Move } from '../errors.ts'
import { recordEvents } from '../events/record-events.ts'
import { omitUndefined } from '../fields/omit-undefined.ts'
import { inTransaction } from '../transaction.ts'
import { ALLOWED_MOVES, mayMove } from './allowed-moves.ts'
import { expireIfDue } from './expire-due-invites.ts'
import { queueNotice } from './queue-notice.ts'

// Moves an invite from one state to another, by the table in allowed-moves.ts. expire-due-invites.ts does it by the clock.

type MoveTarget = { inviteId: string; linkVersion?: number | undefined }
type MoveData = { expiresAt?: Date | undefined; assessmentSession?: string }

/**
 * Moves an invite as defined in allowed-moves.ts, and records the event. All moves of invites are made here. It is one guarded UPDATE, so
 * that exactly one of two racing moves wins. Repeating a finished move changes nothing and is no error.
 *
 * @param moveData the caller's values: the new expiry (extend, reactivate), the session (start; any session if omitted).
 * @returns the invite, and whether this call moved it.
 * @throws DomainError invite_not_found; move_not_allowed with the invite's state.
 */
export async function moveInvite(
  ctx: Context,
  move: Move,
  target: MoveTarget,
  moveData: MoveData = {},
): Promise<{ invite: InviteRow; moved: boolean }> {
  const where = omitUndefined({ ...scopeWhere(ctx), id: target.inviteId, linkVersion: target.linkVersion })
  await expireIfDue(ctx, where)
  const invite = await inTransaction(ctx, (inside) => updateMovedInvite(inside, move, where, moveData))
  if (invite) return { invite, moved: true }

  const unmoved = await ctx.db.invite.findFirst({ where })
  if (!unmoved) throw new DomainError('invite_not_found')
  // Another move came in between, and its status allows this one: try again.
  if (mayMove(move, unmoved.status)) return moveInvite(ctx, move, target, moveData)
  if (!isFinished(move, unmoved)) throw createMoveError(move, unmoved.status)
  return { invite: unmoved, moved: false }
}

export const createMoveError = (
  move: Move | 'expire' | 'retake' | 'accommodate' | 'remind',
  status: InviteStatus | 'being erased',
): DomainError => new DomainError('move_not_allowed', { issues: [{ field: 'status', rule: 'move', limit: move, value: status }] })

/** @returns undefined when the invite is in no state that the move may begin with. */
async function updateMovedInvite(
  ctx: Context,
  move: Move,
  where: Prisma.InviteWhereInput,
  moveData: MoveData,
): Promise<InviteRow | undefined> {
  const { from, to, stamp, event } = ALLOWED_MOVES[move]
  const now = ctx.deps.clock()
  const [invite] = await ctx.db.invite.updateManyAndReturn({
    where: { ...where, status: { in: [...from] } },
    data: { ...stamp?.(now), ...omitUndefined({ status: to, ...moveData }), updatedAt: now },
  })
  if (invite) await recordEvents(ctx, [event(invite)])
  if (invite && move === 'complete') await queueNotice(ctx, invite.id, 'submitted')
  return invite
}

/** A pending invite has been reactivated only if its link version was raised. */
function isFinished(move: Move, { status, linkVersion }: InviteRow): boolean {
  return status === ALLOWED_MOVES[move].to && (move !== 'reactivate' || linkVersion > 1)
}
