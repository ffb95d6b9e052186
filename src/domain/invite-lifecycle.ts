import type { InviteStatus } from '../generated/prisma/client.ts'
import type { Context } from './context.ts'

/** The states that the clock ends: DESIGN's "pending, accepted -> expired, at now >= expiresAt". */
const EXPIRING = ['pending', 'accepted'] as const satisfies InviteStatus[]

type Expirable = { status: InviteStatus; expiresAt: Date; updatedAt: Date }

/** An invite as it is at this instant, whether or not its row has been flipped to expired yet. */
export function asOfNow<T extends Expirable>(invite: T, now: Date): T {
  const due = EXPIRING.some((status) => status === invite.status) && invite.expiresAt <= now
  return due ? { ...invite, status: 'expired', updatedAt: invite.expiresAt } : invite
}

/**
 * Flips the organization's due invites to expired. Called before every list of invites, so that filter, order and count are
 * those of this instant; a partial index of what can still expire makes it one short look when nothing is due.
 */
export async function expireDueInvites({ organization, deps }: Pick<Context, 'organization' | 'deps'>): Promise<void> {
  const now = deps.clock()
  await deps.db.$executeRaw`
    UPDATE invites SET status = 'expired', updated_at = expires_at
    WHERE organization_id = ${organization.id}::uuid AND status IN ('pending', 'accepted') AND expires_at <= ${now}`
}
