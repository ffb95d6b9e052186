import { readOrderProgress } from '../../../domain/ats/order-status.ts'
import type { ReportWriter } from '../kit/report.ts'
import { TEST_REPORT_ID } from './constants.ts'
import { presentReport } from './view.ts'

/** Updates Recruitee's report of an order (docs/ats.md, Recruitee). */
export const writeRecruiteeReport: ReportWriter = async (ctx, { report, order }) => {
  const settings = ctx.deps.ats.recruitee
  if (!settings) return { error: 'Recruitee is switched off.' }
  const change = order ? presentReport(report.status, await readOrderProgress(ctx, order.inviteId)) : {}
  if (change === null) return null
  return {
    method: 'PATCH',
    url: `${settings.url}/reports/${order?.naturalKey ?? TEST_REPORT_ID}`,
    headers: { 'rt-partner-secret': settings.secret },
    body: JSON.stringify(change),
  }
}
