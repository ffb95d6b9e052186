import type { Prisma, WebhookMode, WebhookState } from '../../generated/prisma/client.ts'
import { modeOf } from '../access/author.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import type { EventType } from '../events/event.ts'
import { type Listing, type Order, type Page, readPage } from '../page.ts'
import { inTransaction } from '../transaction.ts'
import { changeEndpoint, getEndpoint, holdFanOut, omit, ownEndpoints, type WebhookEndpoint } from './access.ts'
import { makeSecret, sealSecret } from './secrets.ts'
import { toActive, toDisabled } from './state.ts'
import { findTargetFault } from './targets.ts'

// The addresses that an organization has its events sent to. Beyond both documents.

export type WebhookEndpointOrder = Order<'createdAt' | 'updatedAt'>
export const WEBHOOK_MODES = ['live', 'test', 'all'] as const satisfies WebhookMode[]
export const WEBHOOK_STATES = ['active', 'disabled'] as const satisfies WebhookState[]

export type NewWebhookEndpoint = { url: string; types?: EventType[]; mode?: WebhookMode; description?: string }
export type WebhookEndpointChange = Partial<Required<NewWebhookEndpoint>> & { state?: WebhookState }

/** Of one organization. */
export const MAX_ENDPOINTS = 20

export function listEndpoints(
  ctx: Context,
  { field, direction }: WebhookEndpointOrder,
  page: Page,
): Promise<Listing<WebhookEndpoint>> {
  const where = ownEndpoints(ctx)
  const { webhookEndpoint } = ctx.db
  return readPage(
    page,
    () => webhookEndpoint.count({ where }),
    (window) => webhookEndpoint.findMany({ where, orderBy: [{ [field]: direction }, { id: direction }], omit, ...window }),
  )
}

/**
 * Makes an endpoint, which is told of every event from now on.
 *
 * @returns the endpoint, and its secret: it is not shown again.
 * @throws DomainError invalid for a URL that is not to be called, or a mode that is not the key's; too_many_webhooks.
 */
export async function createEndpoint(
  ctx: Context,
  { url, types = [], mode = modeOf(ctx), description = '' }: NewWebhookEndpoint,
): Promise<{ endpoint: WebhookEndpoint; secret: string }> {
  const { organizationId } = ownEndpoints(ctx)
  refuseTarget(ctx, { url, mode })
  return inTransaction(ctx, async (inside) => {
    const { db, deps } = inside
    const { head } = await holdFanOut(inside)
    const count = await db.webhookEndpoint.count({ where: { organizationId, deletedAt: null } })
    if (count >= MAX_ENDPOINTS) throw new DomainError('too_many_webhooks')
    const [id, secret, now] = [deps.newId(), makeSecret(), deps.clock()]
    const times = { stateSince: now, createdAt: now, updatedAt: now }
    const fields = { url, types: distinct(types), mode, description, position: head, secret: sealSecret(inside, id, secret) }
    const endpoint = await db.webhookEndpoint.create({ data: { id, organizationId, ...fields, ...times }, omit })
    return { endpoint, secret }
  })
}

/**
 * Changes what is given. An endpoint that is enabled again is told of what happens from then on, and its waiting deliveries go out; what it
 * missed can be replayed.
 *
 * @throws DomainError webhook_not_found; invalid as `createEndpoint`.
 */
export function updateEndpoint(ctx: Context, id: string, { state, ...change }: WebhookEndpointChange): Promise<WebhookEndpoint> {
  ownEndpoints(ctx) // refuses those who may not, before they hold up anybody
  return inTransaction(ctx, async (inside) => {
    const reached = await holdFanOut(inside)
    const endpoint = await getEndpoint(inside, id)
    refuseTarget(ctx, change)
    const now = ctx.deps.clock()
    const moves = state !== undefined && state !== endpoint.state
    const data: Prisma.WebhookEndpointUpdateManyMutationInput = {
      ...change,
      ...(change.types && { types: distinct(change.types) }),
      ...(moves && (state === 'active' ? toActive(now, reached) : toDisabled(now, reached, endpoint, 'manual'))),
      updatedAt: now,
    }
    return changeEndpoint(inside, endpoint.id, data)
  })
}

/**
 * For good. Its deliveries go with it; the sweep removes them, there may be many.
 *
 * @returns the endpoint as it was.
 * @throws DomainError webhook_not_found.
 */
export const deleteEndpoint = (ctx: Context, id: string): Promise<WebhookEndpoint> =>
  inTransaction(ctx, async (inside) => {
    await holdFanOut(inside)
    const endpoint = await getEndpoint(inside, id)
    const data = { deletedAt: ctx.deps.clock(), state: 'disabled', secret: new Uint8Array(), previousSecret: null } as const
    await inside.db.webhookEndpoint.update({ where: { id: endpoint.id }, data })
    return endpoint
  })

function refuseTarget(ctx: Context, { url, mode }: { url?: string; mode?: WebhookMode }): void {
  const fault = url === undefined ? undefined : findTargetFault(ctx.deps.webhookAllowance, url)
  if (fault) throw new DomainError('invalid', { issues: [{ field: 'url', rule: 'target', problem: fault }] })
  if (mode !== undefined && modeOf(ctx) === 'test' && mode !== 'test')
    throw new DomainError('invalid', { issues: [{ field: 'mode', rule: 'choice', limit: ['test'], value: mode }] })
}

const distinct = (types: EventType[]): EventType[] => [...new Set(types)]
