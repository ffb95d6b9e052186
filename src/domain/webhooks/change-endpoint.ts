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

/** @throws DomainError webhook_not_found, also if it was just deleted. */
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

/** Records the host only: the path may contain a secret. @param inside the open transaction. */
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
 * Locks the handing over of events until the transaction ends, so that no event passes between reading and commit. Changes of endpoints
 * take turns.
 *
 * @returns position up to which events have been handed over, and the end of the feed.
 */
export async function lockFanOut({ db }: ServiceContext): Promise<{ position: bigint; head: bigint }> {
  const { position } = await unscoped(db).selectFrom('webhookFanout').select('position').forUpdate().executeTakeFirstOrThrow()
  const { position: head } = await db.eventSequence.findUniqueOrThrow({ where: { id: 1 } })
  return { position: BigInt(position), head }
}
