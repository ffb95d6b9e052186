import { sql } from '../../db/builder.ts'
import type { SqlBool } from '../../db/queries.ts'
import type { Actor } from '../actor.ts'
import { pickProctoring } from '../assessments/assessment-input.ts'
import { findAssessments } from '../assessments/assessments.ts'
import { modeOf } from '../authorization/author.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { createInvite } from '../invites/create-invite.ts'
import { reactivateInvite } from '../invites/operate-invite.ts'
import { inTransaction } from '../transaction.ts'
import { toStoredAddress } from '../validation/email-address.ts'
import { isReady } from './list-tests.ts'
import { isReported, type OrderProgress, readOrderProgress } from './order-status.ts'
import { queueReport } from './queue-report.ts'

export type NewOrder = {
  /** Key of the order in the recruiting system. The same key is the same order. */
  naturalKey: string
  assessmentId: string
  recipientEmail: string
  recipientName: string | null
  callbackUrl: string | null
  profileUrl: string
}

/** Why an order is not taken: of the invite that the address has already, it is being taken, was declined, or the result is there. */
export type OrderRefusal = 'running' | 'in_review' | 'declined' | 'released'
export type PlacedOrder =
  | { orderId: string; inviteId: string; createdAt: Date; refused?: never }
  | { refused: OrderRefusal; status: OrderProgress }

type OrderPolicy = {
  /** True if a repeated order uses the existing invite instead of being refused. */
  takesOver: boolean
}

/**
 * Takes an order in one transaction: creates the invite and queues its mail, or assigns the order to the invite that the address already
 * has for the assessment. A repeated order, also a simultaneous one, gets the first one's answer.
 *
 * @param ctx of an ATS.
 * @throws DomainError assessment_not_found, also for an assessment that is not ready to send; as createInvite and reactivateInvite.
 */
export const placeOrder = (ctx: Context, order: NewOrder, policy: OrderPolicy): Promise<PlacedOrder> =>
  inTransaction(ctx, async (inside) => {
    const { db, deps } = inside
    const claimedOrder = await claim(inside, order)
    if (!claimedOrder.isNew) return claimedOrder
    const { orderId, createdAt } = claimedOrder
    const where = { organizationId: inside.organization.id, id: orderId }
    const found = await findOrInvite(inside, order)
    const status = await readOrderProgress(inside, found.inviteId)
    const refused = found.isNew ? null : refusalOf(status, policy)
    if (refused) {
      await db.atsOrder.delete({ where })
      return { refused, status }
    }
    if (status.status === 'expired' || status.status === 'revoked') await reactivateInvite(inside, found.inviteId, {})
    const { inviteId } = found
    const { position } = await db.eventSequence.findUniqueOrThrow({ where: { id: 1 } })
    // The invite is locked, so later events have a higher sequence.
    const start = { afterSequence: await lastSequence(inside, inviteId), startPosition: position }
    await db.atsOrder.update({ where, data: { inviteId, ...start } })
    // A finished invite has no further event, so its result is reported now.
    const { ats, connectionId } = atsOf(inside)
    if (status.status === 'released' && isReported(ats, 'released'))
      await queueReport(inside, { connectionId, orderId, status: 'released' })
    deps.log.info({ organizationId: inside.organization.id, ats, orderId, inviteId }, 'an ATS sent an order')
    return { orderId, inviteId, createdAt }
  })

/** The actor of a context that is an ATS's. @throws DomainError not_permitted. */
export function atsOf({ actor }: Pick<Context, 'actor'>): Extract<Actor, { kind: 'ats' }> {
  if (actor.kind !== 'ats') throw new DomainError('not_permitted')
  return actor
}

type Claimed = { orderId: string; createdAt: Date } & ({ isNew: true } | { isNew: false; inviteId: string })

/** Makes the order's row, or finds it: while another makes it, this one waits for its end, because both insert the same key. */
async function claim(inside: Context, { naturalKey, callbackUrl, profileUrl }: NewOrder): Promise<Claimed> {
  const { db, deps, organization } = inside
  const { id: keyId, connectionId } = atsOf(inside)
  const [id, createdAt] = [deps.newId(), deps.clock()]
  const orderColumns = { naturalKey, callbackUrl, profileUrl, keyId }
  const { count } = await db.atsOrder.createMany({
    data: [{ id, organizationId: organization.id, connectionId, ...orderColumns, createdAt }],
    skipDuplicates: true,
  })
  if (count === 1) return { isNew: true, orderId: id, createdAt }
  const where = { organizationId: organization.id, connectionId, naturalKey, cancelledAt: null }
  const earlier = await db.atsOrder.findFirstOrThrow({ where })
  return { isNew: false, orderId: earlier.id, inviteId: earlier.inviteId!, createdAt: earlier.createdAt }
}

/** Finds or creates the address's invite for the assessment. @throws DomainError assessment_not_found. */
async function findOrInvite(inside: Context, order: NewOrder): Promise<{ inviteId: string; isNew: boolean }> {
  const { assessmentId, recipientEmail, recipientName } = order
  const [assessment] = await findAssessments(inside, [assessmentId])
  if (!assessment || !isReady(inside, assessment)) throw new DomainError('assessment_not_found')
  const found = await findEarlier(inside, order)
  if (found) return { inviteId: found, isNew: false }
  try {
    const { id } = await createInvite(inside, { assessmentId, recipientEmail, recipientName, ...pickProctoring(assessment) })
    return { inviteId: id, isNew: true }
  } catch (error) {
    // Another has invited the address meanwhile.
    const isLate = error instanceof DomainError && error.kind === 'duplicate_invite'
    const earlier = isLate && (await findEarlier(inside, order))
    if (!earlier) throw error
    return { inviteId: earlier, isNew: false }
  }
}

/** Locks the invite, so that no event of it is recorded until the transaction ends. */
async function findEarlier(inside: Context, { assessmentId, recipientEmail }: NewOrder): Promise<string | undefined> {
  const toAddress = inside.db
    .selectFrom('invites')
    .where('assessmentId', '=', assessmentId)
    .where('mode', '=', modeOf(inside))
    .where(({ ref }) => sql<SqlBool>`address_key(${ref('recipientEmail')}) = address_key(${toStoredAddress(recipientEmail)})`)
  return (await toAddress.select('id').orderBy('attempt', 'desc').forUpdate().executeTakeFirst())?.id
}

/** Reason for refusing an order; null: it is accepted. A candidate who declined gets no further mail without a person's decision. */
function refusalOf({ status }: OrderProgress, { takesOver }: OrderPolicy): OrderRefusal | null {
  if (status === 'declined') return 'declined'
  if (takesOver || status === 'expired' || status === 'revoked') return null
  return status === 'released' || status === 'in_review' ? status : 'running'
}

/** Two queries, because events with a position and events without one have separate indexes. */
async function lastSequence(inside: Context, inviteId: string): Promise<bigint> {
  const eventsOfInvite = inside.db.selectFrom('events').where('inviteId', '=', inviteId).select('sequence')
  const allEvents = eventsOfInvite.where('position', 'is not', null).unionAll(eventsOfInvite.where('position', 'is', null))
  const last = await allEvents.orderBy('sequence', 'desc').limit(1).executeTakeFirst()
  return BigInt(last?.sequence ?? 0) // of an invite that was imported there may be none
}
