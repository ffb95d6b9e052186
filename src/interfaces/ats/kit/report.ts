import type { LeasedReport } from '../../../domain/ats/lease-reports.ts'
import type { Context } from '../../../domain/context.ts'

/** Request to an ATS. An empty body is not sent. */
export type ReportCall = { method: string; url: string; headers: Record<string, string>; body: string }

/**
 * Writes a report in the format of its ATS, from the current order or from the report.
 *
 * @returns null if the ATS has no report for this status; an error if the report can't be sent.
 */
export type ReportWriter = (ctx: Context, lease: LeasedReport) => Promise<ReportCall | { error: string } | null>

/** A key as the user name, without a password. */
export const withBasic = (key: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}`,
})

/** The secret key has changed, so that the stored secret can't be decrypted. */
export const KEY_LOST = { error: 'The key can not be decrypted: generate another, or enter it again.' }
