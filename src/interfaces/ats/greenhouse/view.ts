import type { AtsTest } from '../../../domain/ats/list-tests.ts'
import type { OrderProgress } from '../../../domain/ats/order-status.ts'
import type { Context } from '../../../domain/context.ts'
import { MAX_LABEL_LENGTH, WORDS } from './constants.ts'

/** An item of the menu. */
export const presentTest = ({ id, name }: AtsTest) => ({
  partner_test_id: id,
  partner_test_name: [...name].slice(0, MAX_LABEL_LENGTH).join(''),
})

/** Response to test_status. A released result has a link to a page that requires sign-in. */
export function presentStatus({ deps, organization, mode }: Context, order: OrderProgress) {
  const { status, result, startedAt, completedAt } = order
  const partner_status = WORDS[status]
  if (!result) return { partner_status }
  return {
    partner_status,
    partner_profile_url: deps.links.resultUrl({ organization, mode, submissionId: result.submissionId }),
    ...(result.percent !== null && { partner_score: result.percent }),
    metadata: {
      Points: `${result.points} of ${result.ofPoints}`,
      ...(startedAt && { Started: formatTime(startedAt) }),
      ...(completedAt && { Finished: formatTime(completedAt) }),
    },
  }
}

const formatTime = (moment: Date): string => `${moment.toISOString().slice(0, 16).replace('T', ' ')} UTC`
