import type { AtsTest } from '../../../domain/ats/list-tests.ts'
import type { OrderProgress, OrderStatus } from '../../../domain/ats/order-status.ts'
import type { Context } from '../../../domain/context.ts'
import { IDENTIFIERS, WORDS } from './constants.ts'

/** A field of a message. An identifier is the same field in all messages. */
type DataValue = {
  identifier: string
  label: string
  type: 'numeric_score' | 'numeric_duration_minutes' | 'url' | 'string'
  value: string | number
}

/** An update. A result completes the assessment, and a reason cancels it. */
export type Update = {
  assessment_id: string
  /** Milliseconds since 1970. */
  timestamp: number
  assessment_status?: DataValue
  assessment_profile_url?: DataValue
  assessment_result?: DataValue
  cancelled_reason?: DataValue
  metadata?: DataValue[]
}

export const presentTest = ({ id, name }: AtsTest) => ({ assessment_type_id: id, name, description: '' })

/** Update for the status of an order at that time. @param order current progress, for the released result. */
export function presentUpdate(
  { deps, organization, mode }: Context,
  { status, at, order }: { status: Exclude<OrderStatus, 'test'>; at: Date; order: OrderProgress },
): Update {
  const about = { assessment_id: order.inviteId, timestamp: at.getTime() }
  if (status === 'expired') return { ...about, cancelled_reason: cancelled(`Expired on ${at.toISOString().slice(0, 10)}`) }
  if (status === 'revoked') return { ...about, cancelled_reason: cancelled(`Withdrawn by ${organization.name}`) }
  if (status === 'declined') return { ...about, cancelled_reason: cancelled('Declined by the candidate') }
  const update = { ...about, assessment_status: text(IDENTIFIERS.status, 'Status', WORDS[status]) }
  if (status !== 'released' || !order.result) return update
  const url = deps.links.resultUrl({ organization, mode, submissionId: order.result.submissionId })
  return {
    ...update,
    assessment_profile_url: { identifier: IDENTIFIERS.profileUrl, label: 'Result', type: 'url', value: url },
    assessment_result: scoreOf(order.result.percent),
    metadata: detailsOf(order),
  }
}

const text = (identifier: string, label: string, value: string): DataValue => ({ identifier, label, type: 'string', value })
const cancelled = (reason: string): DataValue => text(IDENTIFIERS.cancelledReason, 'Cancelled', reason)

const scoreOf = (percent: number | null): DataValue =>
  percent === null
    ? text(IDENTIFIERS.noScore, 'Result', 'Released, without points')
    : { identifier: IDENTIFIERS.score, label: 'Score (percent)', type: 'numeric_score', value: percent }

function detailsOf({ result, startedAt, completedAt }: OrderProgress): DataValue[] {
  const minutes = startedAt && completedAt ? Math.round((completedAt.getTime() - startedAt.getTime()) / 60_000) : null
  const points = (identifier: string, label: string, value: number): DataValue[] =>
    result?.ofPoints ? [{ identifier, label, type: 'numeric_score', value }] : []
  return [
    ...points(IDENTIFIERS.points, 'Points', result?.points ?? 0),
    ...points(IDENTIFIERS.maxPoints, 'Of', result?.ofPoints ?? 0),
    ...(minutes === null
      ? []
      : [{ identifier: IDENTIFIERS.duration, label: 'Duration', type: 'numeric_duration_minutes', value: minutes } as const]),
  ]
}
