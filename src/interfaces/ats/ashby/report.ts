import { readOrderProgress } from '../../../domain/ats/order-status.ts'
import { KEY_LOST, type ReportWriter, withBasic } from '../kit/report.ts'
import { IDENTIFIERS, TEST_ASSESSMENT_ID } from './constants.ts'
import { presentUpdate, type Update } from './view.ts'

/** Reports the status of an order to Ashby (docs/ats.md, Ashby). */
export const writeAshbyReport: ReportWriter = async (ctx, { report, order, credentials }) => {
  const settings = ctx.deps.ats.ashby
  if (!settings) return { error: 'Ashby is switched off.' }
  if (credentials.apiKey === null) return KEY_LOST
  const { status, happenedAt } = report
  const update =
    order === null || status === 'test'
      ? testAt(happenedAt)
      : presentUpdate(ctx, { status, at: happenedAt, order: await readOrderProgress(ctx, order.inviteId) })
  return {
    method: 'POST',
    url: `${settings.url}/assessment.update`,
    headers: { ...withBasic(credentials.apiKey), accept: 'application/json; version=1' },
    body: JSON.stringify(update),
  }
}

const testAt = (happenedAt: Date): Update => ({
  assessment_id: TEST_ASSESSMENT_ID,
  timestamp: happenedAt.getTime(),
  assessment_status: { identifier: IDENTIFIERS.status, label: 'Status', type: 'string', value: 'Test' },
})
