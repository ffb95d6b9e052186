import { mayReportTo } from '../../../domain/ats/callbacks.ts'
import { findNewestCallback } from '../../../domain/ats/orders.ts'
import { KEY_LOST, type ReportWriter, withBasic } from '../kit/report.ts'
import { PATCH_KEY } from './constants.ts'

/** Tells Greenhouse that something has changed; it reads what by test_status. A test does so for the newest order. */
export const writeGreenhouseReport: ReportWriter = async (ctx, { connection, order, credentials }) => {
  const url = order ? order.callbackUrl : await findNewestCallback(ctx, connection.id)
  if (url === null) return { error: 'Greenhouse can be called only for an order, and there is none yet.' }
  if (!mayReportTo(ctx.deps, 'greenhouse', url)) return { error: 'The address to report to is not one of Greenhouse.' }
  const key = credentials[PATCH_KEY]
  return key === null ? KEY_LOST : { method: 'PATCH', url, headers: withBasic(key), body: '' }
}
