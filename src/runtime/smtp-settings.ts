import { isIP } from 'node:net'
import type { SmtpSettings } from '../mail/connections.ts'
import type { Config } from './config.ts'

/** SMTP settings; undefined if mails are captured. `name` (EHLO) is set only if PUBLIC_URL has a domain: servers distrust names without a dot. */
export function toSmtpSettings({ smtp: { url, isOpportunistic }, publicUrl }: Config): SmtpSettings | undefined {
  if (url === undefined) return undefined
  const host = new URL(publicUrl).hostname
  return { url, isOpportunistic, name: host.includes('.') && isIP(host) === 0 ? host : undefined }
}
