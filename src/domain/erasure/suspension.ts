import { affectedRows } from '../../db/statements.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import { type Context, enterOrganization, type ServiceContext } from '../context.ts'
import { nameActor, queueOwnerEmails } from '../mails/member-emails.ts'
import { DAY_MS, daysAfter } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { eraseOrganization } from './erase-organization.ts'
import { restartWaitingPeriod } from './retention.ts'

// An organization is suspended for two weeks before its erasure, so that a stolen session of an owner can't destroy it. Sessions, API keys,
// candidates' links, and mails check whether their organization is suspended.

/** Owners can cancel the erasure for 14 days and are reminded 3 days before it. A late reminder postpones it. */
export const SUSPENSION_DAYS = 14
const REMINDED_DAYS = 3
/** A reminder that is late by less than this postpones nothing. */
const TOLERATED_MS = 3_600_000

/** Suspension that ends in an erasure. For others, see moves.ts. */
export type Suspension = { id: string; requestedAt: Date; erasesAt: Date; startedAt: Date | null }

const select = { id: true, requestedAt: true, erasesAt: true, startedAt: true } as const

/** @returns null if the organization is not going to be erased. */
export async function findSuspension({ db, organization }: Pick<Context, 'db' | 'organization'>): Promise<Suspension | null> {
  const found = await db.organizationSuspension.findUnique({ where: { organizationId: organization.id }, select })
  return found?.erasesAt ? { ...found, erasesAt: found.erasesAt } : null
}

/**
 * Suspends the organization now, to erase it after {@link SUSPENSION_DAYS}, and notifies its owners by mail. If it is going to be erased already,
 * nothing changes.
 *
 * @param input.name the organization's name, which the user types to confirm.
 * @throws DomainError not_permitted; invalid, `name`: `otherName`.
 */
export async function suspendOrganization(ctx: Context, { name }: { name: string }): Promise<Suspension> {
  authorize(ctx, 'erase_organization')
  const { id: organizationId } = ctx.organization
  const { name: current } = await ctx.db.organization.findUniqueOrThrow({ where: { id: organizationId } })
  throwIfIssues(name.trim() === current.trim() ? [] : [{ field: 'name', rule: 'account', problem: 'otherName' }])
  const suspension = await inTransaction(ctx, async (inside) => {
    const { db, deps, actor } = inside
    const requestedAt = deps.clock()
    const [id, erasesAt] = [deps.newId(), daysAfter(requestedAt, SUSPENSION_DAYS)]
    const row = {
      id,
      actorKind: actor.kind,
      actorId: actor.kind === 'member' ? actor.id : null,
      requestedAt,
      erasesAt,
    }
    const insertion = db
      .insertInto('organizationSuspensions')
      .values(row)
      .onConflict((conflict) =>
        // An organization that moved, or was imported, is suspended already.
        conflict.column('organizationId').doUpdateSet(row).where('organizationSuspensions.erasesAt', 'is', null),
      )
    if ((await affectedRows(insertion)) > 0) {
      await deps.queue.enqueueSuspension(db, { suspensionId: id, at: daysAfter(requestedAt, SUSPENSION_DAYS - REMINDED_DAYS) })
      await deps.queue.enqueueSuspension(db, { suspensionId: id, at: erasesAt })
      await recordAudit(inside, { action: 'asked_for_organization_erasure', details: { until: erasesAt.toISOString() } })
      await notifyOwners(inside, 'organization_ending', erasesAt)
    }
    return findSuspension(inside)
  })
  ctx.deps.apiKeyCache.empty()
  return suspension!
}

/**
 * Cancels the erasure and notifies the owners by mail. The suspension ends, unless the organization has moved or was imported.
 *
 * @returns false if it is not going to be erased, or its erasure has begun.
 * @throws DomainError not_permitted.
 */
export async function liftSuspension(ctx: Context): Promise<boolean> {
  authorize(ctx, 'erase_organization')
  const isKept = await inTransaction(ctx, async (inside) => {
    const ending = inside.db.deleteFrom('organizationSuspensions').where('reason', '=', 'erasure')
    const scheduledErasures = inside.db.updateTable('organizationSuspensions').where('erasesAt', 'is not', null)
    const isLifted = (await affectedRows(ending.where('startedAt', 'is', null))) > 0
    const goesOn = scheduledErasures.where('startedAt', 'is', null).set({ erasesAt: null, remindedAt: null })
    if (!isLifted && (await affectedRows(goesOn)) === 0) return false
    await restartWaitingPeriod(inside)
    await recordAudit(inside, { action: 'kept_organization' })
    await notifyOwners(inside, 'organization_kept')
    return true
  })
  ctx.deps.apiKeyCache.empty()
  return isKept
}

type SuspensionMail = 'organization_ending' | 'organization_ending_soon' | 'organization_kept'

async function notifyOwners(inside: Context, kind: SuspensionMail, until?: Date): Promise<void> {
  const person = await nameActor(inside)
  await queueOwnerEmails(inside, { kind, facts: { ...(person && { person }), ...(until && { until: until.toISOString() }) } })
}

/**
 * Executes the next step for a suspended organization: reminds its owners, or erases it, continuing an interrupted erasure. The reminder
 * always comes first: if no worker ran when it was due, the erasure is postponed. Does nothing if the suspension was canceled.
 *
 * @throws Error if nothing is due yet; errors of the store, the database, or the erasure log. The job is retried.
 */
export async function continueSuspension(service: ServiceContext, suspensionId: string): Promise<void> {
  const where = { id: suspensionId }
  const found = await service.db.organizationSuspension.findUnique({ where, include: { organization: true } })
  if (!found?.erasesAt) return
  const { erasesAt, remindedAt, startedAt, organization } = found
  const ctx: Context = enterOrganization({ ...service, actor: { kind: 'system' } }, organization)
  const now = service.deps.clock()
  if (now >= erasesAt && (startedAt ?? remindedAt)) {
    await service.db.organizationSuspension.updateMany({ where: { ...where, startedAt: null }, data: { startedAt: now } })
    // An owner may have canceled at this moment.
    if ((await service.db.organizationSuspension.count({ where })) === 0) return
    return eraseOrganization(ctx, suspensionId)
  }
  if (erasesAt.getTime() - now.getTime() > REMINDED_DAYS * DAY_MS) throw new Error('Nothing is due for this suspension yet')
  await inTransaction(ctx, async (inside) => {
    const fairAt = daysAfter(now, REMINDED_DAYS)
    const isLate = fairAt.getTime() - erasesAt.getTime() > TOLERATED_MS
    const data = { remindedAt: now, ...(isLate && { erasesAt: fairAt }) }
    const { count } = await inside.db.organizationSuspension.updateMany({
      where: { ...where, organizationId: organization.id, remindedAt: null },
      data,
    })
    if (count === 0) return
    if (isLate) await inside.deps.queue.enqueueSuspension(inside.db, { suspensionId, at: fairAt })
    await notifyOwners(inside, 'organization_ending_soon', isLate ? fairAt : erasesAt)
  })
}
