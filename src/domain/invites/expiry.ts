import { sql } from '../../db/builder.ts'
import type { Condition, Expressions, RawBuilder } from '../../db/own.ts'
import type { TenantDb } from '../../db/tenant-db.ts'
import type { InviteStatus } from '../../generated/prisma/client.ts'
import type { Time } from '../lists/listing.ts'

// Which invites are due. What sets them to expired is expire-due-invites.ts.

/** Whether an invite is in a state that expires. Literals instead of values: otherwise PostgreSQL does not use the partial index of these. */
export const canExpire = (eb: Expressions<'invites'>): Condition => sql`${eb.ref('invites.status')} in ('pending', 'accepted')`

/** Whether an invite is expired as of now, though its row may not say so yet. */
export const isDue = (eb: Expressions<'invites'>, now: Date): Condition =>
  sql`(${canExpire(eb)} and ${eb.ref('invites.expiresAt')} <= ${now})`

/** The status of an invite as of now: expired once it is due, even if its row does not say so yet. */
export const statusNow = (eb: Expressions<'invites'>, now: Date): RawBuilder<InviteStatus> =>
  sql`case when ${isDue(eb, now)} then 'expired' else ${eb.ref('invites.status')} end`

/** Whether an invite has the status as of now: a condition in which an index by the status can be used. */
export const isNow = (eb: Expressions<'invites'>, status: InviteStatus, now: Date): Condition =>
  status === 'expired'
    ? sql`(${eb.ref('invites.status')} = 'expired' or ${isDue(eb, now)})`
    : sql`(${eb.ref('invites.status')} = ${status}::invite_status and not ${isDue(eb, now)})`

/** The earliest expiry among the organization's invites that can expire, past or future; null when there is none. */
export const earliestExpiry = (db: TenantDb) =>
  db
    .selectFrom('invites')
    .where(canExpire)
    .select(({ fn }) => fn.min('invites.expiresAt').as('next'))
    .$asScalar()

/** The states that expire: pending, accepted -> expired, when now >= expiresAt. A started invite does not expire. */
export const EXPIRING = ['pending', 'accepted'] as const satisfies InviteStatus[]

type Expirable = { status: InviteStatus; expiresAt: Time }

/** An invite as of now: expired once it is due, even if its row does not say so yet. */
export function asOfNow<T extends Expirable>(invite: T, now: Date): T {
  const due = EXPIRING.some((status) => status === invite.status) && new Date(invite.expiresAt) <= now
  return due ? { ...invite, status: 'expired', updatedAt: invite.expiresAt } : invite
}
