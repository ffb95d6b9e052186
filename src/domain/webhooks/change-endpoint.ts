import { unscoped } from '../../db/unscoped.ts'
import type { Prisma, WebhookMode } from '../../generated/prisma/client.ts'
import type { AuditDetails } from '../audit/audit-details.ts'
import { type AuditAction, recordByMember } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context, Mode, ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { isUuid } from '../text/uuid.ts'

export const SECRET_COLUMNS = {
  encryptedSecret: true,
  encryptedPreviousSecret: true,
} as const satisfies Prisma.WebhookEndpointOmit

/** An endpoint without its secrets. */
export type WebhookEndpoint = Prisma.WebhookEndpointGetPayload<{ omit: typeof SECRET_COLUMNS }>

/** Endpoint modes by scope: a test scope sees endpoints of test events only, a live scope the others. */
const ENDPOINT_MODES: Record<Mode, readonly WebhookMode[]> = {
  test: ['test'],
  live: ['live', 'all'],
  all: ['live', 'test', 'all'],
}
export const endpointModes = (mode: Mode): readonly WebhookMode[] => ENDPOINT_MODES[mode]

/** The endpoints that the actor may see and change. */
export function visibleEndpoints(ctx: Context) {
  authorize(ctx, 'manage_webhooks')
  return { organizationId: ctx.organization.id, deletedAt: null, mode: { in: [...endpointModes(ctx.mode)] } }
}

/** @throws DomainError webhook_not_found. */
export async function getEndpoint(ctx: Context, id: string): Promise<WebhookEndpoint> {
  const where = visibleEndpoints(ctx)
  const endpoint = isUuid(id) ? await ctx.db.webhookEndpoint.findFirst({ where: { ...where, id }, omit: SECRET_COLUMNS }) : null
  if (!endpoint) throw new DomainError('webhook_not_found')
  return endpoint
}

/** @throws DomainError webhook_not_found, also when it was deleted since it was looked at. */
export async function changeEndpoint(
  ctx: Context,
  id: string,
  data: Prisma.WebhookEndpointUpdateManyMutationInput,
): Promise<WebhookEndpoint> {
  const where = { ...visibleEndpoints(ctx), id }
  const [changed] = await ctx.db.webhookEndpoint.updateManyAndReturn({ where, data, omit: SECRET_COLUMNS })
  if (!changed) throw new DomainError('webhook_not_found')
  return changed
}

/** Without its path, which may hold what lets others in. @param inside the transaction that does it. */
export const recordEndpoint = (
  inside: Context,
  action: AuditAction,
  { id, url }: Pick<WebhookEndpoint, 'id' | 'url'>,
  details: Pick<AuditDetails, 'event' | 'after'> = {},
): Promise<void> =>
  recordByMember(inside, { action, target: { kind: 'webhook', id }, details: { host: hostOf(url), ...details } })

/** Host of an endpoint. The path may contain a secret. */
export const hostOf = (url: string): string => new URL(url).host

/**
 * Holds up the handing over of events until the transaction ends: between what it reads here and its commit no event goes by, and those
 * that change endpoints take turns.
 *
 * @returns up to which position events have been handed over, and the last of the feed.
 */
export async function lockFanOut({ db }: ServiceContext): Promise<{ position: bigint; head: bigint }> {
  const { position } = await unscoped(db).selectFrom('webhookFanout').select('position').forUpdate().executeTakeFirstOrThrow()
  const { position: head } = await db.eventSequence.findUniqueOrThrow({ where: { id: 1 } })
  return { position: BigInt(position), head }
}
