import { createHash } from 'node:crypto'
import PostalMime, { type Attachment, type Email } from 'postal-mime'
import { findStatusCode } from '../../domain/mails/classify-bounce.ts'
import type { MailEvent, MailEventReader, MailNotice } from '../../domain/mails/mail-events.ts'
import { readBounceAddress } from '../../domain/secrets/bounce-address.ts'
import { withoutNul } from '../verdict.ts'

/** Characters. */
const MAX_REASON_LENGTH = 1_000

/** Envelope recipient, added by the mail server that forwards the bounce. */
const RECIPIENT_HEADER = 'x-envelope-recipient'

/**
 * Reads delivery status notifications (RFC 3464) and complaints (RFC 5965) forwarded by the mail server of MAIL_BOUNCE_DOMAIN. The envelope
 * recipient authenticates them: it is signed, and only the original mail contains it.
 */
export const createDsnReader = (secretKeys: () => readonly string[], domain: string): MailEventReader => ({
  admit(headers) {
    const recipient = headers[RECIPIENT_HEADER]
    const emailId = typeof recipient === 'string' ? readBounceAddress(secretKeys(), recipient.trim(), domain) : null
    return emailId === null ? null : { emailId }
  },
  identify: async (body) => createHash('sha256').update(body).digest('hex'),
  read: readNotice,
})

/** Matches addresses of domain/secrets/bounce-address.ts. The fixed length before the @ prevents quadratic matching time. */
const ADDRESSES = /bounce\+[0-9a-f-]{36}\.[0-9a-v]{13}@[a-z\d.-]{1,253}/gi

/** Finds the bounce address in any header of a bounce. @returns the id of the mail that bounced. */
export function findBouncedMail({ admit }: MailEventReader, notice: Buffer): string | null {
  const [header = ''] = notice.toString('latin1').split(/\r?\n\r?\n/, 1)
  for (const [address] of header.matchAll(ADDRESSES)) {
    const admitted = admit({ [RECIPIENT_HEADER]: address })
    if (admitted) return admitted.emailId
  }
  return null
}

async function readNotice({ emailId, body }: MailEvent): Promise<MailNotice[]> {
  if (emailId === null) return []
  const mail = await PostalMime.parse(body, { forceRfc822Attachments: true })
  const type = reportTypeOf(mail)
  if (type === 'feedback-report') return isComplaint(mail) ? [{ emailId, kind: 'complained' }] : []
  // Anything else is an automatic reply or written by a person.
  if (type !== 'delivery-status') return []
  const failed = fieldGroups(partOf(mail, 'message/delivery-status')).find(({ action }) => action?.toLowerCase() === 'failed')
  if (!failed) return []
  const reason = (failed['diagnostic-code'] ?? '').replace(/^\s*[\w-]+\s*;\s*/, '')
  const reportedStatus = /\d\.\d{1,3}\.\d{1,3}/.exec(failed.status ?? '')?.[0] ?? ''
  // Exim always reports 5.0.0, and the other server's status only in the text.
  const status = /^(\d\.0\.0)?$/.test(reportedStatus) ? findStatusCode(reason) || reportedStatus : reportedStatus
  return [{ emailId, kind: 'bounced', status, reason: withoutNul(reason).slice(0, MAX_REASON_LENGTH) }]
}

const reportTypeOf = ({ headers }: Email): string | undefined => {
  const type = headers.find(({ key }) => key === 'content-type')?.value ?? ''
  if (!/^\s*multipart\/report\b/i.test(type)) return undefined
  return /;\s*report-type\s*=\s*"?([\w-]+)/i.exec(type)?.[1]?.toLowerCase()
}

/** Some providers also report mails that users marked as not spam. */
const isComplaint = (mail: Email): boolean => {
  const [report = {}] = fieldGroups(partOf(mail, 'message/feedback-report'))
  return report['feedback-type'] !== undefined && report['feedback-type'].trim().toLowerCase() !== 'not-spam'
}

const partOf = ({ attachments }: Email, type: string): Attachment | undefined =>
  attachments.find(({ mimeType }) => mimeType === type || mimeType === type.replace('message/', 'message/global-'))

/** Parses a report's fields, by lower-case name: one group for the message and one per recipient. */
function fieldGroups(part: Attachment | undefined): Record<string, string>[] {
  if (!part) return []
  const { content } = part
  const text = typeof content === 'string' ? content : new TextDecoder().decode(content)
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/\n[ \t]+/g, ' ')
    .split(/\n{2,}/)
    .map((group) =>
      Object.fromEntries(
        group
          .split('\n')
          .map((line) => /^([\w-]+):\s*(.*)$/.exec(line))
          .filter((field) => field !== null)
          .map(([, name, value]) => [name!.toLowerCase(), value!]),
      ),
    )
}
