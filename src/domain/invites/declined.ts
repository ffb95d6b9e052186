import type { Context } from '../context.ts'
import { findInviteEvents } from '../events/feed.ts'

/** Events that are looked through: more than an invite has between two of its moves. */
const EVENTS = 200

/** Whether the candidate has declined the invite, which nobody has brought back since. */
export async function hasDeclined(ctx: Context, id: string): Promise<boolean> {
  const where = { organizationId: ctx.organization.id, id }
  const invite = await ctx.db.invite.findFirst({ where, select: { status: true, declinedAt: true } })
  if (invite?.status !== 'revoked') return false
  if (invite.declinedAt) return true
  // Who declined before that was kept is known by the event.
  const events = await findInviteEvents(ctx, id, EVENTS)
  return events.findLast(({ type }) => type === 'invite.declined' || type === 'invite.revoked')?.type === 'invite.declined'
}
