import { into, ownDelete } from '../../db/own.ts'
import { run } from '../../db/statements.ts'
import { authorize } from '../access/permissions.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { refuse } from '../checking/refuse.ts'
import { type Context, enterOrganization, type ServiceContext } from '../context.ts'
import { nameActor, queueOwnerEmails } from '../mails/member-emails.ts'
import { inTransaction } from '../transaction.ts'
import { DAY_MS, daysAfter } from '../values/days.ts'
import { eraseOrganization } from './erase-organization.ts'
import { beginAnew } from './retention.ts'

// An organization that is to be erased is on hold first: whoever has got hold of an owner's session ends no company by it. Where one is
// entered (by a session, a key, a candidate's link), and where something is sent for it, that is asked.

/** For so long it can be taken back; owners are reminded so long before the end at the latest, and where that was late, the end is later. */
export const SUSPENSION_DAYS = 14
const REMINDED_DAYS = 3
/** A reminder that a worker sends so much later, as it had to start first, moves no end. */
const TOLERATED_MS = 3_600_000

/** @property erasesAt from then on it is erased. */
export type Suspension = { id: string; askedAt: Date; erasesAt: Date; startedAt: Date | null }

const select = { id: true, askedAt: true, erasesAt: true, startedAt: true } as const

/** Null of an organization that is not on hold. */
export const findSuspension = ({ db, organization }: Pick<Context, 'db' | 'organization'>): Promise<Suspension | null> =>
  db.organizationSuspension.findUnique({ where: { organizationId: organization.id }, select })

/**
 * Has the organization be on hold, from this moment on, and be erased after {@link SUSPENSION_DAYS}. Its owners are told by mail. Asked for again
 * meanwhile, it is the same hold.
 *
 * @param input.name the organization's, as it was typed.
 * @throws DomainError not_permitted; invalid, `name`: `otherName`.
 */
export async function suspendOrganization(ctx: Context, { name }: { name: string }): Promise<Suspension> {
  authorize(ctx, 'erase_organization')
  const { id: organizationId } = ctx.organization
  const { name: current } = await ctx.db.organization.findUniqueOrThrow({ where: { id: organizationId } })
  refuse(name.trim() === current.trim() ? [] : [{ field: 'name', rule: 'account', problem: 'otherName' }])
  const hold = await inTransaction(ctx, async (inside) => {
    const { db, deps, actor } = inside
    const askedAt = deps.clock()
    const [id, erasesAt] = [deps.newId(), daysAfter(askedAt, SUSPENSION_DAYS)]
    const row = {
      organizationId,
      id,
      actorKind: actor.kind,
      actorId: actor.kind === 'member' ? actor.id : null,
      askedAt,
      erasesAt,
    }
    const insertion = into('organizationSuspensions').values(row)
    if (
      (await run(
        db,
        insertion.onConflict((conflict) => conflict.doNothing()),
      )) > 0
    ) {
      await deps.queue.enqueueSuspension(db, { suspensionId: id, at: daysAfter(askedAt, SUSPENSION_DAYS - REMINDED_DAYS) })
      await deps.queue.enqueueSuspension(db, { suspensionId: id, at: erasesAt })
      await recordAudit(inside, { action: 'asked_for_organization_erasure', details: { until: erasesAt.toISOString() } })
      await tellOwners(inside, 'organization_ending', erasesAt)
    }
    return db.organizationSuspension.findUniqueOrThrow({ where: { organizationId }, select })
  })
  ctx.deps.apiKeyCache.empty()
  return hold
}

/**
 * Has the organization be as it was before it was to be erased: one press. Its owners are told by mail.
 *
 * @returns whether it was on hold, and is no longer: what is being erased stays so.
 * @throws DomainError not_permitted.
 */
export async function keepOrganization(ctx: Context): Promise<boolean> {
  authorize(ctx, 'erase_organization')
  const isKept = await inTransaction(ctx, async (inside) => {
    if ((await run(inside.db, ownDelete(inside, 'organizationSuspensions').where('startedAt', 'is', null))) === 0) return false
    await beginAnew(inside)
    await recordAudit(inside, { action: 'kept_organization' })
    await tellOwners(inside, 'organization_kept')
    return true
  })
  ctx.deps.apiKeyCache.empty()
  return isKept
}

type Told = 'organization_ending' | 'organization_ending_soon' | 'organization_kept'

async function tellOwners(inside: Context, kind: Told, until?: Date): Promise<void> {
  const person = await nameActor(inside)
  await queueOwnerEmails(inside, { kind, facts: { ...(person && { person }), ...(until && { until: until.toISOString() }) } })
}

/**
 * Looks after a hold when something of it is due: reminds the owners, or erases the organization, from where it was interrupted. Without a
 * reminder nothing is erased: where no worker ran when it was due, it comes first, and the end some days after it. One that was taken back,
 * or is erased, is no more.
 *
 * @throws Error when nothing is due yet; whatever stands in the way: the store, the database, the log's file. It is tried again.
 */
export async function continueSuspension(service: ServiceContext, suspensionId: string): Promise<void> {
  const where = { id: suspensionId }
  const found = await service.db.organizationSuspension.findUnique({ where, include: { organization: true } })
  if (!found) return
  const { erasesAt, remindedAt, startedAt, organization } = found
  const ctx: Context = enterOrganization({ ...service, actor: { kind: 'system' } }, organization)
  const now = service.deps.clock()
  if (now >= erasesAt && (startedAt ?? remindedAt)) {
    await service.db.organizationSuspension.updateMany({ where: { ...where, startedAt: null }, data: { startedAt: now } })
    // An owner may have kept it in this very moment: then there is nothing that has begun.
    if ((await service.db.organizationSuspension.count({ where })) === 0) return
    return eraseOrganization(ctx, suspensionId)
  }
  if (erasesAt.getTime() - now.getTime() > REMINDED_DAYS * DAY_MS) throw new Error('It is too early for what a hold waits for')
  await inTransaction(ctx, async (inside) => {
    const fairAt = daysAfter(now, REMINDED_DAYS)
    const isLate = fairAt.getTime() - erasesAt.getTime() > TOLERATED_MS
    const data = { remindedAt: now, ...(isLate && { erasesAt: fairAt }) }
    const { count } = await inside.db.organizationSuspension.updateMany({ where: { ...where, remindedAt: null }, data })
    if (count === 0) return
    if (isLate) await inside.deps.queue.enqueueSuspension(inside.db, { suspensionId, at: fairAt })
    await tellOwners(inside, 'organization_ending_soon', isLate ? fairAt : erasesAt)
  })
}
