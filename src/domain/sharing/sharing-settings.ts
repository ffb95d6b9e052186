import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { isResultPart, type ResultPart } from '../submissions/result-parts.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'

/** True if an admin lets members share results by links. */
export async function isSharing({ db, organization }: Context): Promise<boolean> {
  const select = { sharesResults: true }
  return (await db.organization.findUniqueOrThrow({ where: { id: organization.id }, select })).sharesResults
}

/**
 * Switches links on or off. Switching off stops all links immediately; switching on makes the unexpired ones work again.
 *
 * @throws DomainError not_permitted.
 */
export async function changeSharing(ctx: Context, isOn: boolean): Promise<void> {
  authorize(ctx, 'manage_settings')
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    const where = { id: organization.id, sharesResults: !isOn }
    const { count } = await db.organization.updateMany({ where, data: { sharesResults: isOn, updatedAt: deps.clock() } })
    if (count > 0) await recordAudit(inside, { action: 'changed_sharing', details: { isOn } })
  })
}

/** Parts of an assessment's results that clients see besides points. */
export type ClientView = { id: string; name: string; sees: ResultPart[] }

/** @throws DomainError not_permitted; assessment_not_found. */
export async function readClientView(ctx: Context, assessmentId: string): Promise<ClientView> {
  authorize(ctx, 'decide')
  authorize(ctx, 'share_results')
  const where = { organizationId: ctx.organization.id, id: assessmentId }
  const select = { id: true, name: true, clientSees: true }
  const found = isUuid(assessmentId) ? await ctx.db.assessment.findFirst({ where, select }) : null
  if (!found) throw new DomainError('assessment_not_found')
  return { id: found.id, name: found.name, sees: found.clientSees.filter(isResultPart) }
}

/** @throws DomainError not_permitted; assessment_not_found. */
export async function changeClientView(ctx: Context, assessmentId: string, sees: string[]): Promise<void> {
  const { id } = await readClientView(ctx, assessmentId)
  const shows = sees.filter(isResultPart)
  await inTransaction(ctx, async (inside) => {
    const where = { organizationId: inside.organization.id, id }
    await inside.db.assessment.updateMany({ where, data: { clientSees: shows } })
    await recordAudit(inside, { action: 'changed_client_view', target: { kind: 'assessment', id }, details: { shows } })
  })
}
