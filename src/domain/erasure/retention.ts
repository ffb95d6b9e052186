import { toAuditDetails } from '../audit/audit-details.ts'
import { versionOf } from '../audit/find-last-change.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { omitUndefined } from '../fields/omit-undefined.ts'
import { RETENTION_DAYS } from '../limits.ts'
import { nameActor, queueAdminEmails } from '../mails/member-emails.ts'
import { daysAfter } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import { checkInteger, findIssues } from '../validation/checks.ts'
import { refuseUnseenChanges, type SeenAt, timeOfChange } from '../validation/refuse-unseen-changes.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { countDue, RETENTION_RULES, type RetentionDays, type RetentionRule, startOfDay } from './due-invites.ts'

// For how long an organization keeps invites that have ended: each rule is never unless it is set. See erase-due-invites.ts.

/** @property beginsAt nothing is erased before; null: nothing ever was set. @property updatedAt 1970 where nothing was. */
export type Retention = { kept: RetentionDays; beginsAt: Date | null; updatedAt: Date }

/** @throws DomainError not_permitted. */
export async function readRetention({ db, organization, ...ctx }: Context): Promise<Retention> {
  authorize(ctx, 'erase_candidates')
  const found = await db.organizationRetention.findUnique({ where: { organizationId: organization.id } })
  if (!found) return { kept: { completed: null, expired: null, revoked: null }, beginsAt: null, updatedAt: new Date(0) }
  return { kept: toRetentionDays(found), beginsAt: found.beginsAt, updatedAt: found.updatedAt }
}

type Days = { completedDays: number | null; expiredDays: number | null; revokedDays: number | null }

export const toRetentionDays = ({ completedDays, expiredDays, revokedDays }: Days): RetentionDays => ({
  completed: completedDays,
  expired: expiredDays,
  revoked: revokedDays,
})

/** New rules start at the beginning of a day (UTC), at least a whole day from now. */
const firstRunAt = (now: Date): Date => startOfDay(daysAfter(now, 2))

/** Restarts the waiting period after a suspension, during which nobody could revert the setting. Runs in the open transaction. */
export async function restartWaitingPeriod({ db, deps, organization }: Context): Promise<void> {
  const beginsAt = firstRunAt(deps.clock())
  const where = { organizationId: organization.id, nextAt: { lt: beginsAt } }
  await db.organizationRetention.updateMany({ where, data: { beginsAt, nextAt: beginsAt } })
}

/** Preview of the first retention run. @property due number of due invites, at most MAX_COUNTED_DUE. */
export type RetentionPreview = { beginsAt: Date; due: Record<RetentionRule, number> }

/** Preview of these settings. Invalid ones erase nothing. @throws DomainError not_permitted. */
export async function previewRetention(ctx: Context, retentionDays: RetentionDays): Promise<RetentionPreview> {
  authorize(ctx, 'erase_candidates')
  const beginsAt = firstRunAt(ctx.deps.clock())
  const settable = RETENTION_RULES.map((rule) => [rule, findPeriodFault(retentionDays[rule]) ? null : retentionDays[rule]])
  return { beginsAt, due: await countDue(ctx, Object.fromEntries(settable) as RetentionDays, beginsAt) }
}

const findPeriodFault = (days: number | null) => (days === null ? undefined : checkInteger(days, RETENTION_DAYS))

/**
 * Sets how long ended invites are kept. A shorter retention requires `sure`, and starts the day after next; until then nothing is erased.
 *
 * @throws DomainError not_permitted; invalid: days out of range, by rule; `sure` if not confirmed; `changed` for values that somebody else
 *   changed since `seen`.
 */
export async function changeRetention(
  ctx: Context,
  { kept: retentionDays, isSure, seen: seenAt }: { kept: RetentionDays; isSure: boolean; seen?: SeenAt | undefined },
): Promise<void> {
  authorize(ctx, 'erase_candidates')
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    await inside.db.selectFrom('organizations').select('id').forNoKeyUpdate().execute()
    const { kept: before, beginsAt, updatedAt } = await readRetention(inside)
    throwIfIssues(findIssues(RETENTION_RULES.map((rule) => [rule, findPeriodFault(retentionDays[rule])])))
    await refuseUnseenChanges(versionOf(inside, { updatedAt, seen: seenAt, action: 'changed_retention' }), before, retentionDays)
    const changed = RETENTION_RULES.filter((rule) => before[rule] !== retentionDays[rule])
    if (changed.length === 0) return
    const isShorter = changed.some((rule) => (retentionDays[rule] ?? Infinity) < (before[rule] ?? Infinity))
    if (isShorter && !isSure) throwIfIssues([{ field: 'sure', rule: 'required' }])
    const now = deps.clock()
    const begins = isShorter ? firstRunAt(now) : (beginsAt ?? now)
    const data = {
      ...{ completedDays: retentionDays.completed, expiredDays: retentionDays.expired, revokedDays: retentionDays.revoked },
      ...{ beginsAt: begins, updatedAt: timeOfChange(now, { updatedAt }), ...(isShorter && { nextAt: begins }) },
    }
    const organizationId = organization.id
    const create = { organizationId, nextAt: begins, ...data }
    await db.organizationRetention.upsert({ where: { organizationId }, create, update: data })
    const details = toAuditDetails(changed.map((rule) => [rule, { before: before[rule], after: retentionDays[rule] }] as const))
    await recordAudit(inside, { action: 'changed_retention', details })
    await queueAdminEmails(inside, { kind: 'retention_changed', facts: omitUndefined({ person: await nameActor(inside) }) })
  })
}
