import type { Tables } from '../../db/builder.ts'
import { affectedRows } from '../../db/statements.ts'
import { unscoped } from '../../db/unscoped.ts'
import type { ServiceContext } from '../context.ts'
import type { SweepPart } from '../ports/metrics.ts'
import { daysAfter } from '../time/days.ts'
import { repeatBatch } from './bisect.ts'

/** Rows of a table that a part of the sweep deletes `days` after the time in `column`, `batch` rows a statement. */
type Expiry<T extends keyof Tables> = {
  part: SweepPart
  column: keyof Tables[T]
  days: number
  batch: number
  /** Primary key; by default `id`. */
  key?: readonly (keyof Tables[T])[]
}

/** All tables whose rows are deleted for their age alone. Rows with other conditions have functions of their own, see jobs/sweep.ts. */
export const EXPIRED_ROWS = {
  idempotencyRecords: {
    part: 'delete_expired_idempotency_records',
    column: 'createdAt',
    days: 1,
    batch: 5_000,
    key: ['organizationId', 'key'],
  },
  atsCalls: { part: 'delete_expired_ats_reports', column: 'createdAt', days: 30, batch: 2_000 },
  // With their rows, which have addresses. The invites stay.
  inviteBatches: { part: 'delete_expired_batches', column: 'createdAt', days: 90, batch: 20 },
  bulkChanges: { part: 'delete_expired_batches', column: 'createdAt', days: 90, batch: 20 },
  shareLinks: { part: 'delete_expired_batches', column: 'expiresAt', days: 90, batch: 1_000 },
  mailEvents: { part: 'delete_expired_emails', column: 'receivedAt', days: 30, batch: 1_000 },
  // A saved form belongs to the person of its session, for a day after the session has ended.
  sessions: { part: 'delete_expired_sign_ins', column: 'expiresAt', days: 1, batch: 5_000 },
  devices: { part: 'delete_expired_sign_ins', column: 'lastSeenAt', days: 90, batch: 5_000 },
  usedTokens: { part: 'delete_expired_sign_ins', column: 'expiresAt', days: 0, batch: 5_000, key: ['key'] },
  savedForms: { part: 'delete_expired_sign_ins', column: 'expiresAt', days: 0, batch: 5_000 },
  signInAttempts: { part: 'delete_expired_sign_ins', column: 'expiresAt', days: 0, batch: 5_000, key: ['key'] },
  // Registrations with an invite are deleted with it.
  registrations: { part: 'delete_expired_registrations', column: 'expiresAt', days: 0, batch: 1_000 },
  accountLinks: { part: 'delete_expired_sign_ins', column: 'expiresAt', days: 90, batch: 5_000 },
  memberEmails: { part: 'delete_expired_sign_ins', column: 'createdAt', days: 90, batch: 5_000 },
  assets: { part: 'delete_expired_media', column: 'unusedSince', days: 365, batch: 1_000, key: ['organizationId', 'id'] },
  archives: { part: 'delete_expired_media', column: 'expiresAt', days: 0, batch: 1_000, key: ['organizationId', 'id'] },
} as const satisfies { [T in keyof Tables]?: Expiry<T> }

/** Deletes the expired rows of the tables of a part, except rows that another transaction has locked. */
export async function deleteExpiredRows({ db, deps }: ServiceContext, part: SweepPart): Promise<void> {
  for (const [table, expiry] of Object.entries<Expiry<'archives'>>(EXPIRED_ROWS as never)) {
    if (expiry.part !== part) continue
    const until = daysAfter(deps.clock(), -expiry.days)
    await repeatBatch(expiry.batch, (atMost) =>
      affectedRows(deletionOf(unscoped(db), table as 'archives', expiry, until, atMost)),
    )
  }
}

/** Kysely types one table: the names of the others are checked in {@link EXPIRED_ROWS}. */
function deletionOf(
  db: ReturnType<typeof unscoped>,
  table: 'archives',
  { column, key = ['id'] }: Expiry<'archives'>,
  until: Date,
  atMost: number,
) {
  const expired = db.selectFrom(table).select(key).where(column, '<=', until).limit(atMost).forUpdate().skipLocked()
  const deletion = db
    .with(
      (cte) => cte('expired').materialized(),
      () => expired,
    )
    .deleteFrom(table)
    .using('expired')
  return key.reduce((rows, name) => rows.whereRef(`${table}.${name}`, '=', `expired.${name}`), deletion)
}
