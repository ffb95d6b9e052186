import type { AtsTest } from '../../../domain/ats/list-tests.ts'
import type { OrderProgress, OrderResult, OrderStatus } from '../../../domain/ats/order-status.ts'
import { TAKES_SCORE_LATER, WORDS } from './constants.ts'

export const presentTest = ({ id, name }: AtsTest) => ({ id, name })

/** Fields of a report that change. */
type ReportChange = { status: string; score?: string; completed_at?: string }

/** Recruitee's status for an order; null if it has none. It does not say that the candidate passed: that is the organization's decision. */
export function presentReport(status: OrderStatus, { result, completedAt }: OrderProgress): ReportChange | null {
  const completed_at = completedAt && writeTime(completedAt)
  const completed = { status: WORDS.completed, ...(completed_at && { completed_at }) }
  switch (status) {
    case 'invited':
      return { status: WORDS.sent }
    case 'in_review':
      return TAKES_SCORE_LATER ? completed : null
    case 'released':
      return { ...completed, ...(result?.ofPoints && { score: formatScore(result) }) }
    case 'expired':
    case 'revoked':
    case 'declined':
      return { status: WORDS.canceled }
    default:
      return null
  }
}

const formatScore = ({ points, ofPoints, percent }: OrderResult): string => `${points}/${ofPoints} (${percent}%)`

/** Time as Recruitee writes it: with six decimals of the second. */
const writeTime = (moment: Date): string => moment.toISOString().replace('Z', '000Z')
