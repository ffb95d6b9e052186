import type { Ats, Deps } from '../context.ts'
import { findTargetFault, MAX_URL_LENGTH } from '../webhooks/targets.ts'

/** The domains of those who say with each order where to report to. */
const DOMAINS: Partial<Record<Ats, string>> = { greenhouse: 'greenhouse.io' }

/**
 * True if a report, which carries a key, may be sent to the address: a host of the system's own domain or one that the operator
 * allows, and allowed for webhooks. Checked for each order and again before each report.
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
