import { seen } from '../../db/own.ts'
import type { InviteStatus } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { findInviteEvents } from '../events/feed.ts'
import type { Time } from '../lists/listing.ts'

/** Events that are looked through: more than an invite has between two of its moves. */
const EVENTS = 200

/**
 * When the candidate declined the invite, which nobody has brought back since; null where that is not so, or not known by the invite
 * itself. A process of an earlier release brings an invite back, and may revoke it again, without a word of when it was declined.
 */
export const declinedAtOf = ({ status, declinedAt, revokedAt }: Declinable): Date | null =>
  status === 'revoked' && declinedAt && revokedAt && new Date(declinedAt) >= new Date(revokedAt) ? new Date(declinedAt) : null

/** What tells whether an invite was declined. */
export type Declinable = { status: InviteStatus; declinedAt: Time | null; revokedAt: Time | null }

/** Whether the candidate has declined the invite, which nobody has brought back since. */
export async function hasDeclined(ctx: Context, id: string): Promise<boolean> {
  const where = { ...seen(ctx), id }
  const invite = await ctx.db.invite.findFirst({ where, select: { status: true, declinedAt: true, revokedAt: true } })
  if (invite?.status !== 'revoked') return false
  if (declinedAtOf(invite)) return true
  // Who declined before that was kept, or by a process that does not keep it, is known by the event.
  const events = await findInviteEvents(ctx, [id], EVENTS)
  return events.findLast(({ type }) => type === 'invite.declined' || type === 'invite.revoked')?.type === 'invite.declined'
}
