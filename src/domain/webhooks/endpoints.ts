import type { Prisma, WebhookMode, WebhookState } from '../../generated/prisma/client.ts'
import { versionOf } from '../audit/find-last-change.ts'
import { modeOf } from '../authorization/author.ts'
import type { Context } from '../context.ts'
import { DomainError, type Violation } from '../errors.ts'
import type { EventType } from '../events/event.ts'
import { type ListPage, type Order, type PageRequest, readPage } from '../lists/page.ts'
import { inTransaction } from '../transaction.ts'
import { checkText, findIssues } from '../validation/checks.ts'
import { refuseUnseenChanges, type SeenAt, timeOfChange } from '../validation/refuse-unseen-changes.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import {
  changeEndpoint,
  endpointModes,
  getEndpoint,
  lockFanOut,
  recordEndpoint,
  SECRET_COLUMNS,
  visibleEndpoints,
  type WebhookEndpoint,
} from './change-endpoint.ts'
import { toActive, toDisabled } from './endpoint-state.ts'
import { createWebhookSecret, encryptWebhookSecret } from './secrets.ts'
import { findTargetFault, MAX_URL_LENGTH } from './targets.ts'

// Webhook endpoints of an organization. Beyond both documents.

export type WebhookEndpointOrder = Order<'createdAt' | 'updatedAt'>
export const WEBHOOK_MODES = ['live', 'test', 'all'] as const satisfies WebhookMode[]
export const WEBHOOK_STATES = ['active', 'disabled'] as const satisfies WebhookState[]

export type NewWebhookEndpoint = { url: string; types?: EventType[]; mode?: WebhookMode; description?: string }
export type WebhookEndpointChange = Partial<Required<NewWebhookEndpoint>> & { state?: WebhookState }

/** Endpoints of one organization. */
export const MAX_ENDPOINTS = 20
/** In characters. */
export const MAX_DESCRIPTION_LENGTH = 1_000

export function listEndpoints(
  ctx: Context,
  { field, direction }: WebhookEndpointOrder,
  page: PageRequest,
): Promise<ListPage<WebhookEndpoint>> {
  const where = visibleEndpoints(ctx)
  const { webhookEndpoint } = ctx.db
  return readPage(
    page,
    () => webhookEndpoint.count({ where }),
    (window) =>
      webhookEndpoint.findMany({ where, orderBy: [{ [field]: direction }, { id: direction }], omit: SECRET_COLUMNS, ...window }),
  )
}

/**
 * Creates an endpoint for events from now on.
 *
 * @returns the endpoint and its secret, which is shown once. @throws DomainError invalid for a forbidden URL, another mode than the key's,
 *   or a text that is too long; too_many_webhooks.
 */
export async function createEndpoint(
  ctx: Context,
  { url, types = [], mode = modeOf(ctx), description = '' }: NewWebhookEndpoint,
): Promise<{ endpoint: WebhookEndpoint; secret: string }> {
  const { organizationId } = visibleEndpoints(ctx)
  refuseFields(ctx, { url, mode, description })
  return inTransaction(ctx, async (inside) => {
    const { db, deps } = inside
    const { head } = await lockFanOut(inside)
    const count = await db.webhookEndpoint.count({ where: { organizationId, deletedAt: null } })
    if (count >= MAX_ENDPOINTS) throw new DomainError('too_many_webhooks')
    const [id, secret, now] = [deps.newId(), createWebhookSecret(), deps.clock()]
    const times = { stateSince: now, createdAt: now, updatedAt: now }
    const fields = {
      url,
      types: distinct(types),
      mode,
      description,
      position: head,
      encryptedSecret: encryptWebhookSecret(inside, id, secret),
    }
    const endpoint = await db.webhookEndpoint.create({ data: { id, organizationId, ...fields, ...times }, omit: SECRET_COLUMNS })
    await recordEndpoint(inside, 'created_webhook', endpoint)
    return { endpoint, secret }
  })
}

/**
 * Changes the given fields. A re-enabled endpoint gets events from now on and its waiting deliveries; missed events can be replayed.
 *
 * @throws DomainError webhook_not_found; invalid as `createEndpoint`, and `changed` for values that somebody else changed since `seenAt`.
 */
export function updateEndpoint(
  ctx: Context,
  id: string,
  { state, ...change }: WebhookEndpointChange,
  seenAt?: SeenAt,
): Promise<WebhookEndpoint> {
  visibleEndpoints(ctx) // checks permission before locking
  return inTransaction(ctx, async (inside) => {
    const reached = await lockFanOut(inside)
    const endpoint = await getEndpoint(inside, id)
    refuseFields(ctx, change)
    const version = { updatedAt: endpoint.updatedAt, seen: seenAt, action: 'changed_webhook', targetId: endpoint.id } as const
    await refuseUnseenChanges(versionOf(inside, version), endpoint, change)
    const now = ctx.deps.clock()
    const moves = state !== undefined && state !== endpoint.state
    const data: Prisma.WebhookEndpointUpdateManyMutationInput = {
      ...change,
      ...(change.types && { types: distinct(change.types) }),
      ...(moves && (state === 'active' ? toActive(now, reached) : toDisabled(now, reached, endpoint, 'manual'))),
      updatedAt: timeOfChange(now, endpoint),
    }
    const changed = await changeEndpoint(inside, endpoint.id, data)
    if (Object.keys(change).length > 0) await recordEndpoint(inside, 'changed_webhook', changed)
    if (moves) await recordEndpoint(inside, state === 'active' ? 'enabled_webhook' : 'disabled_webhook', changed)
    return changed
  })
}

/**
 * Deletes an endpoint for good. The sweep removes its deliveries, because there may be many.
 *
 * @returns the endpoint before the deletion.
 * @throws DomainError webhook_not_found.
 */
export const deleteEndpoint = (ctx: Context, id: string): Promise<WebhookEndpoint> =>
  inTransaction(ctx, async (inside) => {
    await lockFanOut(inside)
    const endpoint = await getEndpoint(inside, id)
    const data = {
      deletedAt: ctx.deps.clock(),
      state: 'disabled',
      encryptedSecret: new Uint8Array(),
      encryptedPreviousSecret: null,
    } as const
    await inside.db.webhookEndpoint.update({ where: { organizationId: endpoint.organizationId, id: endpoint.id }, data })
    await recordEndpoint(inside, 'deleted_webhook', endpoint)
    return endpoint
  })

/** @throws DomainError invalid. */
function refuseFields(ctx: Context, { url, mode, description = '' }: Omit<WebhookEndpointChange, 'types' | 'state'>): void {
  throwIfIssues(
    findIssues([
      ['url', url === undefined ? undefined : checkTarget(ctx, url)],
      ['mode', mode === undefined ? undefined : checkMode(ctx, mode)],
      ['description', checkText(description, MAX_DESCRIPTION_LENGTH)],
    ]),
  )
}

function checkMode(ctx: Context, mode: WebhookMode): Violation | undefined {
  const limit: readonly WebhookMode[] = endpointModes(ctx.mode)
  return limit.includes(mode) ? undefined : { rule: 'keyMode', limit, value: modeOf(ctx) }
}

function checkTarget({ deps }: Context, url: string): Violation | undefined {
  const problem = findTargetFault(deps.webhookAllowance, url)
  return checkText(url, MAX_URL_LENGTH) ?? (problem && { rule: 'target', problem })
}

const distinct = (types: EventType[]): EventType[] => [...new Set(types)]
