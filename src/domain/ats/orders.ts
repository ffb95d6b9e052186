import { scopeWhere } from '../../db/queries.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { revokeInvite } from '../invites/operate-invite.ts'
import { type ListPage, type PageRequest, readPage } from '../lists/page.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import { type ConnectionDetail, getConnection } from './connections.ts'
import { lockOrder } from './lock-order.ts'
import { type OrderProgress, readOrderProgress } from './order-status.ts'
import { atsOf } from './place-order.ts'
import { queueReport } from './queue-report.ts'

const include = {
  invite: { select: { id: true, recipientEmail: true, recipientName: true, assessment: { select: { name: true } } } },
  reports: { where: { state: 'waiting' }, take: 1, select: { nextAttemptAt: true, attemptCount: true } },
} satisfies Prisma.AtsOrderInclude

/** An order with its candidate, and the report that waits, if one does. */
export type OrderSummary = Prisma.AtsOrderGetPayload<{ include: typeof include }>

/** The orders of a connection, the newest first. @throws DomainError not_permitted; ats_not_found. */
export async function listOrders(ctx: Context, { id }: ConnectionDetail, page: PageRequest): Promise<ListPage<OrderSummary>> {
  authorize(ctx, 'manage_ats')
  const where = { organizationId: ctx.organization.id, connectionId: id }
  const { atsOrder } = ctx.db
  return readPage(
    page,
    () => atsOrder.count({ where }),
    (window) => atsOrder.findMany({ where, include, orderBy: [{ createdAt: 'desc' }, { id: 'desc' }], ...window }),
  )
}

/** State of an invite that the ATS ordered, and its newest order. @param ctx of an ATS. @throws DomainError invite_not_found. */
export async function readInviteOrder(ctx: Context, inviteId: string): Promise<OrderProgress & { orderId: string }> {
  const { id } = await findInviteOrder(ctx, inviteId)
  return { ...(await readOrderProgress(ctx, inviteId)), orderId: id }
}

/** @param ctx of an ATS. @throws DomainError invite_not_found. */
export async function findInviteOrder(ctx: Context, inviteId: string): Promise<{ id: string }> {
  const where = { organizationId: ctx.organization.id, connectionId: atsOf(ctx).connectionId, inviteId }
  const orderBy = [{ createdAt: 'desc' }, { id: 'desc' }] as const satisfies Prisma.AtsOrderOrderByWithRelationInput[]
  const order = isUuid(inviteId) ? await ctx.db.atsOrder.findFirst({ where, orderBy, select: { id: true } }) : null
  if (!order) throw new DomainError('invite_not_found')
  return order
}

/** Callback of the connection's newest order; null: none. */
export async function findNewestCallback(ctx: Context, connectionId: string): Promise<string | null> {
  const where = { organizationId: ctx.organization.id, connectionId, callbackUrl: { not: null } }
  const order = await ctx.db.atsOrder.findFirst({ where, orderBy: [{ createdAt: 'desc' }, { id: 'desc' }] })
  return order?.callbackUrl ?? null
}

/** Stores an error that the ATS reported for an answer, to be shown with the order. @param ctx of an ATS. */
export async function recordComplaint(ctx: Context, orderId: string, text: string): Promise<void> {
  const where = { organizationId: ctx.organization.id, id: orderId }
  await ctx.db.atsOrder.updateMany({ where, data: { lastError: text } })
}

/**
 * Reports the order's current state to the ATS again. A waiting report is sent at once, with all retries.
 *
 * @returns the id of its connection. @throws DomainError not_permitted; ats_not_found.
 */
export async function reportAgain(ctx: Context, orderId: string): Promise<string> {
  authorize(ctx, 'manage_ats')
  return inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    const where = { organizationId: organization.id, id: orderId, connection: scopeWhere(inside) }
    const order = isUuid(orderId) ? await db.atsOrder.findFirst({ where }) : null
    if (!order?.inviteId) throw new DomainError('ats_not_found')
    const { connectionId, inviteId } = order
    await lockOrder(inside, organization, orderId)
    const { count } = await db.atsReport.updateMany({
      where: { organizationId: organization.id, orderId, state: 'waiting' },
      data: { nextAttemptAt: deps.clock(), attemptCount: 0 },
    })
    if (count === 0) {
      const { status } = await readOrderProgress(inside, inviteId)
      await queueReport(inside, { connectionId, orderId, status })
    }
    const target = { kind: 'invite', id: inviteId } as const
    await recordAudit(inside, { action: 'reported_to_ats_again', target })
    return connectionId
  })
}

/** Calls the ATS to see whether it answers, and takes the key. @throws DomainError not_permitted; ats_not_found. */
export async function testConnection(ctx: Context, connectionId: string): Promise<void> {
  const { id, ats, mode } = await getConnection(ctx, connectionId)
  await inTransaction(ctx, async (inside) => {
    await queueReport(inside, { connectionId: id, orderId: null, status: 'test' })
    const target = { kind: 'ats_connection', id } as const
    await recordAudit(inside, { action: 'tested_ats', target, details: { ats, mode } })
  })
}

/** Statuses that can be revoked. */
const OPEN = ['invited', 'undelivered', 'accepted', 'started']

/**
 * Cancels an order of the ATS: stops its reports, and revokes the invite if it is open. A closed invite stays as it is.
 *
 * @param ctx of an ATS.
 * @returns the order; null if there is none.
 */
export const cancelOrder = (ctx: Context, inviteId: string): Promise<{ id: string } | null> =>
  inTransaction(ctx, async (inside) => {
    const { connectionId } = atsOf(inside)
    const where = { organizationId: inside.organization.id, connectionId, inviteId, cancelledAt: null }
    const order = isUuid(inviteId) ? await inside.db.atsOrder.findFirst({ where, select: { id: true } }) : null
    if (!order) return null
    const { status } = await readOrderProgress(inside, inviteId)
    await inside.db.atsOrder.updateMany({ where, data: { cancelledAt: inside.deps.clock() } })
    await inside.db.atsReport.deleteMany({
      where: { organizationId: inside.organization.id, orderId: order.id, state: 'waiting', leasedUntil: null },
    })
    if (OPEN.includes(status)) await revokeInvite(inside, inviteId)
    return order
  })
