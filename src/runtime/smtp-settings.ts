import { isIP } from 'node:net'
import type { SmtpSettings } from '../mail/connections.ts'
import type { Config } from './config.ts'

/** How the mail server is reached; undefined where mails are captured. Other servers think little of who has a name without a dot. */
export function smtpSettings({ smtp: { url, isOpportunistic }, publicUrl }: Config): SmtpSettings | undefined {
  if (url === undefined) return undefined
  const host = new URL(publicUrl).hostname
  return { url, isOpportunistic, name: host.includes('.') && isIP(host) === 0 ? host : undefined }
}
