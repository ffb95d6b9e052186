import type { Ats, Deps } from '../context.ts'
import { findTargetFault, MAX_URL_LENGTH } from '../webhooks/targets.ts'

/** The domains of those who say with each order where to report to. */
const DOMAINS: Partial<Record<Ats, string>> = { greenhouse: 'greenhouse.io' }

/**
 * Whether a report, with the key that it carries, may be sent to an address: one of the ATS's own domain, or of a host that the operator
 * has named, and one that webhooks may go to. Asked when an order comes, and again before each report.
 */
export function mayReportTo(
  { ats, webhookAllowance }: Pick<Deps, 'ats' | 'webhookAllowance'>,
  system: Ats,
  text: string,
): boolean {
  if (text.length > MAX_URL_LENGTH || findTargetFault(webhookAllowance, text)) return false
  const { hostname } = new URL(text)
  const domain = DOMAINS[system]
  const isInbound = domain !== undefined && (hostname === domain || hostname.endsWith(`.${domain}`))
  return isInbound || ats.callbackHosts.has(hostname)
}
