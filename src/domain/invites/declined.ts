import { scopeWhere } from '../../db/queries.ts'
import type { InviteStatus } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import type { Time } from '../lists/listing.ts'

export type Declinable = { status: InviteStatus; declinedAt: Time | null }

/** Time at which the candidate declined; null if they did not, or the invite has been reactivated since. */
export const declinedAtOf = ({ status, declinedAt }: Declinable): Date | null =>
  status === 'revoked' && declinedAt ? new Date(declinedAt) : null

export async function hasDeclined(ctx: Context, id: string): Promise<boolean> {
  const invite = await ctx.db.invite.findFirst({ where: { ...scopeWhere(ctx), id }, select: { status: true, declinedAt: true } })
  return invite !== null && declinedAtOf(invite) !== null
}
