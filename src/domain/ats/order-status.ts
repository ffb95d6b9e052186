import { scopeWhere } from '../../db/queries.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import type { EventPayload, EventType } from '../events/event.ts'
import { declinedAtOf } from '../invites/declined.ts'
import { withCurrentStatus } from '../invites/expiry.ts'
import type { Ats } from '../ports/ats-settings.ts'
import { newestTotal } from '../submissions/newest-release.ts'

// Status of an order. interfaces/ats translates it for each applicant tracking system.

/**
 * `undelivered`: the invitation email was rejected for good; `in_review`: submitted, not released; `released`: the result is released.
 * `test`: a test of the connection, without an order.
 */
export const STATUSES = [
  'invited',
  'undelivered',
  'accepted',
  'started',
  'in_review',
  'released',
  'expired',
  'revoked',
  'declined',
  'test',
] as const
export type OrderStatus = (typeof STATUSES)[number]

/** Reported statuses by system. Greenhouse asks for the others itself; Recruitee has none for them. */
const REPORTED_STATUSES: Record<Ats, readonly OrderStatus[]> = {
  greenhouse: ['invited', 'undelivered', 'released', 'expired', 'revoked', 'declined', 'test'],
  ashby: STATUSES,
  recruitee: ['invited', 'in_review', 'released', 'expired', 'revoked', 'declined', 'test'],
}

export const isReported = (ats: Ats, status: OrderStatus): boolean => REPORTED_STATUSES[ats].includes(status)

/** Status of an order after an event of its invite; null if it stays the same. */
export function statusAfterEvent(
  type: EventType,
  { status, reason }: Pick<EventPayload, 'status' | 'reason'>,
): OrderStatus | null {
  switch (type) {
    case 'invite.accepted':
      return 'accepted'
    case 'invite.started':
      return 'started'
    case 'invite.completed':
      return 'in_review'
    case 'submission.released':
      return 'released'
    case 'invite.expired':
      return 'expired'
    case 'invite.revoked':
      return 'revoked'
    case 'invite.declined':
      return 'declined'
    case 'invite.reactivated':
      return 'invited'
    case 'invite.extended':
      return status === 'pending' ? 'invited' : null
    case 'email.failed':
      return status === 'pending' && reason !== 'obsolete' ? 'undelivered' : null
    default:
      return null
  }
}

/** A released result of a submission. @property at when it was. @property percent of the points, with two decimals at most; null: there are no points. */
export type OrderResult = { submissionId: string; at: Date; points: number; ofPoints: number; percent: number | null }

/** Current status of an order. @property result null until it is released. */
export type OrderProgress = {
  inviteId: string
  status: Exclude<OrderStatus, 'test'>
  startedAt: Date | null
  completedAt: Date | null
  result: OrderResult | null
}

/** Current status and result of an invite, as reported for its orders. @throws DomainError invite_not_found. */
export async function readOrderProgress(ctx: Context, inviteId: string): Promise<OrderProgress> {
  const { db, deps } = ctx
  const row = await db.invite.findFirst({
    where: { ...scopeWhere(ctx), id: inviteId },
    include: {
      emails: { orderBy: [{ createdAt: 'desc' }, { id: 'desc' }], take: 1, select: { state: true, failure: true } },
      submissions: { select: { id: true, releases: newestTotal } },
    },
  })
  if (!row) throw new DomainError('invite_not_found')
  const invite = withCurrentStatus(row, deps.clock())
  const submission = row.submissions.find(({ id }) => id === row.assessmentSession)
  const release = submission?.releases[0]
  const [mail] = row.emails
  const isUndelivered = mail?.state === 'failed' && mail.failure !== 'obsolete'
  const { startedAt, completedAt } = invite
  const result = release && invite.status === 'completed' ? toResult(release) : null
  const status = toOrderStatus({ ...invite, isUndelivered, isReleased: result !== null })
  return { inviteId, status, startedAt, completedAt, result }
}

type InviteStates = Parameters<typeof declinedAtOf>[0] & { isUndelivered: boolean; isReleased: boolean }

function toOrderStatus(invite: InviteStates): OrderProgress['status'] {
  const { status, isUndelivered, isReleased } = invite
  if (status === 'pending') return isUndelivered ? 'undelivered' : 'invited'
  if (status === 'completed') return isReleased ? 'released' : 'in_review'
  if (status === 'revoked') return declinedAtOf(invite) ? 'declined' : 'revoked'
  return status
}

type Release = { submissionId: string; createdAt: Date; points: unknown; ofPoints: bigint }

function toResult({ submissionId, createdAt: at, ...release }: Release): OrderResult {
  const [points, ofPoints] = [Number(release.points), Number(release.ofPoints)]
  return { submissionId, at, points, ofPoints, percent: ofPoints === 0 ? null : Math.round((points * 10_000) / ofPoints) / 100 }
}
