import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { inTransaction } from '../transaction.ts'
import { eraseSinceExport, type RepeatedErasure } from './erase-again.ts'
import { restartWaitingPeriod } from './retention.ts'

// An organization that moves to another installation is suspended here before it is exported, and there until the operator resumes it.

/**
 * Suspends the organization because it moves. Repeating it only changes the place.
 *
 * @param input.movedTo where its members find it, in the operator's words. @throws Error if it is suspended for another reason.
 */
export async function suspendForMove(ctx: Context, { movedTo }: { movedTo: string }): Promise<void> {
  authorize(ctx, 'erase_organization')
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization, actor } = inside
    const where = { organizationId: organization.id }
    const found = await db.organizationSuspension.findUnique({ where })
    if (found && (found.reason !== 'moved' || found.erasesAt)) throw new Error(`${organization.name} is suspended already.`)
    const row = { id: deps.newId(), actorKind: actor.kind, requestedAt: deps.clock(), reason: 'moved', movedTo }
    await db.organizationSuspension.upsert({ where, create: { ...where, ...row }, update: { movedTo } })
    if (!found) await recordAudit(inside, { action: 'moved_organization', details: { to: movedTo } })
  })
  ctx.deps.apiKeyCache.empty()
}

/**
 * Ends the suspension of an organization that was imported, or that did not move after all. In an imported one, the erasures since its
 * export are repeated first.
 *
 * @returns repeated erasures; null if there is no erasure log.
 * @throws Error if it is not suspended, or is going to be erased.
 */
export async function resumeOrganization(ctx: Context): Promise<RepeatedErasure[] | null> {
  authorize(ctx, 'erase_organization')
  const where = { organizationId: ctx.organization.id }
  const found = await ctx.db.organizationSuspension.findUnique({ where })
  if (!found) throw new Error(`${ctx.organization.name} is not suspended.`)
  if (found.erasesAt) throw new Error(`${ctx.organization.name} is going to be erased. To keep it: org cancel-erasure`)
  const repeated = found.exportedId === null ? [] : await eraseSinceExport(ctx, found.exportedId)
  await inTransaction(ctx, async (inside) => {
    await inside.db.organizationSuspension.delete({ where: { ...where, erasesAt: null } })
    await restartWaitingPeriod(inside)
    await recordAudit(inside, { action: 'resumed_organization', details: { reason: found.reason } })
  })
  ctx.deps.apiKeyCache.empty()
  return repeated
}
