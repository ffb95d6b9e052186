import { sql } from '../../db/builder.ts'
import type { Condition, Expressions, RawBuilder } from '../../db/queries.ts'
import type { TenantDb } from '../../db/tenant-db.ts'
import type { InviteStatus } from '../../generated/prisma/client.ts'
import type { Time } from '../lists/listing.ts'

// Conditions for expired invites. expire-due-invites.ts updates their status.

/** SQL condition: a status that expires. Literals instead of parameters let PostgreSQL use the partial index. */
export const canExpire = (eb: Expressions<'invites'>): Condition => sql`${eb.ref('invites.status')} in ('pending', 'accepted')`

/** SQL condition: expired as of now, even if its row still has another status. */
export const isDue = (eb: Expressions<'invites'>, now: Date): Condition =>
  sql`(${canExpire(eb)} and ${eb.ref('invites.expiresAt')} <= ${now})`

/** The status of an invite as of now: expired once it is due, even if its row does not say so yet. */
export const statusNow = (eb: Expressions<'invites'>, now: Date): RawBuilder<InviteStatus> =>
  sql`case when ${isDue(eb, now)} then 'expired' else ${eb.ref('invites.status')} end`

/** SQL condition: has the status as of now. An index by status can serve it. */
export const hasStatusNow = (eb: Expressions<'invites'>, status: InviteStatus, now: Date): Condition =>
  status === 'expired'
    ? sql`(${eb.ref('invites.status')} = 'expired' or ${isDue(eb, now)})`
    : sql`(${eb.ref('invites.status')} = ${status}::invite_status and not ${isDue(eb, now)})`

/** Earliest expiry of the organization's invites that can expire, past or future; null if there are none. */
export const earliestExpiry = (db: TenantDb) =>
  db
    .selectFrom('invites')
    .where(canExpire)
    .select(({ fn }) => fn.min('invites.expiresAt').as('next'))
    .$asScalar()

/** The states that expire: pending, accepted -> expired, when now >= expiresAt. A started invite does not expire. */
export const EXPIRING_STATUSES = ['pending', 'accepted'] as const satisfies InviteStatus[]

type Expirable = { status: InviteStatus; expiresAt: Time }

/** An invite as of now: expired once it is due, even if its row does not say so yet. */
export function withCurrentStatus<T extends Expirable>(invite: T, now: Date): T {
  const isExpired = EXPIRING_STATUSES.some((status) => status === invite.status) && new Date(invite.expiresAt) <= now
  return isExpired ? { ...invite, status: 'expired', updatedAt: invite.expiresAt } : invite
}
