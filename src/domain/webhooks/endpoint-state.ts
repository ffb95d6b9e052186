import type { Prisma, WebhookDisabledReason } from '../../generated/prisma/client.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { type Context, enterOrganization, type ServiceContext } from '../context.ts'
import { type MemberEmailKind, queueAdminEmails } from '../mails/member-emails.ts'
import { inTransaction } from '../transaction.ts'
import { hostOf, lockFanOut, SECRET_COLUMNS, visibleEndpoints, type WebhookEndpoint } from './change-endpoint.ts'

export type { WebhookDisabledReason }
export const DISABLED_REASONS = ['manual', 'failing', 'gone'] as const satisfies WebhookDisabledReason[]

const DAY_MS = 86_400_000
/** Since when an endpoint has answered with nothing but failures when its organization is warned, and when it is disabled. */
const WARNED_AFTER_MS = [DAY_MS, 3 * DAY_MS]
export const DISABLED_AFTER_DAYS = 5

type Reached = { position: bigint; head: bigint }
type Change = Prisma.WebhookEndpointUpdateManyMutationInput

/** Notices about a failing endpoint. */
export type FailingNotice = 'warning' | 'disabled'

export const toActive = (now: Date, { head }: Reached): Change => ({
  ...{ state: 'active', stateSince: now, disabledReason: null, failingSince: null, warnings: 0, position: head },
})

/** It records up to which event it was served, so that the later ones can be replayed. */
export const toDisabled = (
  now: Date,
  { position }: Reached,
  endpoint: Pick<WebhookEndpoint, 'position'>,
  disabledReason: WebhookDisabledReason,
): Change => ({
  ...{ state: 'disabled', stateSince: now, disabledReason },
  missedFrom: position > endpoint.position ? position : endpoint.position,
})

/** The actor's endpoints that fail, or have been disabled for that: at most as many as an organization may have. */
export const findFailingEndpoints = (ctx: Context): Promise<WebhookEndpoint[]> =>
  ctx.db.webhookEndpoint.findMany({
    where: {
      ...visibleEndpoints(ctx),
      OR: [{ state: 'active', failingSince: { not: null } }, { disabledReason: { in: ['failing', 'gone'] } }],
    },
    orderBy: { id: 'asc' },
    omit: SECRET_COLUMNS,
  })

/** Disables an active endpoint and notifies its organization's admins. @returns true if this call disabled it. */
export const disableEndpoint = (ctx: ServiceContext, id: string, reason: WebhookDisabledReason): Promise<boolean> =>
  inTransaction(ctx, async (inside) => {
    const { db, deps } = inside
    const reached = await lockFanOut(inside)
    const endpoint = await db.webhookEndpoint.findFirst({ where: { id, state: 'active' } })
    if (!endpoint) return false
    const now = deps.clock()
    const data = { ...toDisabled(now, reached, endpoint, reason), updatedAt: now }
    await db.webhookEndpoint.update({ where: { id }, data })
    await notifyAdmins(inside, endpoint, 'webhook_disabled')
    const organization = { id: endpoint.organizationId }
    const details = { host: hostOf(endpoint.url), reason }
    await recordAudit(enterOrganization(inside, organization), {
      action: 'disabled_webhook',
      target: { kind: 'webhook', id },
      details,
    })
    return true
  })

async function notifyAdmins(
  inside: ServiceContext,
  { id: webhookId, organizationId }: Pick<WebhookEndpoint, 'id' | 'organizationId'>,
  kind: MemberEmailKind,
): Promise<void> {
  const organization = await inside.db.organization.findUniqueOrThrow({ where: { id: organizationId } })
  await queueAdminEmails(enterOrganization(inside, organization), { kind, webhookId })
}

/** Resets the count of failures. */
export const recordEndpointSuccess = async ({ db }: ServiceContext, id: string): Promise<void> => {
  await db.webhookEndpoint.updateMany({ where: { id, failingSince: { not: null } }, data: { failingSince: null, warnings: 0 } })
}

/**
 * After a failure. Each notice is due once, of several processes to one; an endpoint that has failed for too long is disabled.
 *
 * @returns the notice that is due to its organization; null: none.
 */
export async function recordEndpointFailure(ctx: ServiceContext, id: string): Promise<FailingNotice | null> {
  const { db, deps } = ctx
  const now = deps.clock()
  const { count: begins } = await db.webhookEndpoint.updateMany({
    where: { id, state: 'active', failingSince: null },
    data: { failingSince: now, warnings: 0 },
  })
  if (begins > 0) return null
  const endpoint = await db.webhookEndpoint.findFirst({ where: { id, state: 'active' } })
  if (!endpoint?.failingSince) return null
  const failingFor = now.getTime() - endpoint.failingSince.getTime()
  if (failingFor >= DISABLED_AFTER_DAYS * DAY_MS) return (await disableEndpoint(ctx, id, 'failing')) ? 'disabled' : null
  const warnings = WARNED_AFTER_MS.filter((after) => failingFor >= after).length
  return inTransaction(ctx, async (inside) => {
    const { count } = await inside.db.webhookEndpoint.updateMany({
      where: { id, warnings: { lt: warnings } },
      data: { warnings },
    })
    if (count === 0) return null
    await notifyAdmins(inside, endpoint, 'webhook_failing')
    return 'warning'
  })
}
