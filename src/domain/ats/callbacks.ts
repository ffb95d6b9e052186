import type { Deps } from '../context.ts'
import type { Ats } from '../ports/ats-settings.ts'
import { findTargetFault, MAX_URL_LENGTH } from '../webhooks/targets.ts'

/** Domains of the systems that send a callback URL with each order. */
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
