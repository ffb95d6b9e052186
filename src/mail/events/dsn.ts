import { createHash } from 'node:crypto'
import PostalMime, { type Attachment, type Email } from 'postal-mime'
import { statusIn } from '../../domain/mails/classify-bounce.ts'
import type { MailEvent, MailEventReader, MailNotice } from '../../domain/mails/mail-events.ts'
import { readBounceAddress } from '../../domain/secrets/bounce-address.ts'
import { storable } from '../verdict.ts'

/** Of what a server says about a mail. */
const MAX_REASON_LENGTH = 1_000

/** Whose notice it is to: the mail server names it when it hands the notice on. */
const RECIPIENT_HEADER = 'x-envelope-recipient'

/**
 * Notices of mail servers (RFC 3464), and of complaints (RFC 5965), as the mail server of MAIL_BOUNCE_DOMAIN hands them on. Their envelope's
 * recipient proves them: nobody knows it but who has the mail that it is of.
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

/** As domain/secrets/bounce-address.ts makes them. Of a fixed length before the @: a stranger's header takes no time that grows by its square. */
const ADDRESSES = /bounce\+[0-9a-f-]{36}\.[0-9a-v]{13}@[a-z\d.-]{1,253}/gi

/** What the reader of such notices makes of one in a mailbox, by whichever field names its address there. @returns the mail that it is of. */
export function findMailOf({ admit }: MailEventReader, notice: Buffer): string | null {
  const [header = ''] = notice.toString('latin1').split(/\r?\n\r?\n/, 1)
  for (const [address] of header.matchAll(ADDRESSES)) {
    const known = admit({ [RECIPIENT_HEADER]: address })
    if (known) return known.emailId
  }
  return null
}

async function readNotice({ emailId, body }: MailEvent): Promise<MailNotice[]> {
  if (emailId === null) return []
  const mail = await PostalMime.parse(body, { forceRfc822Attachments: true })
  const type = reportTypeOf(mail)
  if (type === 'feedback-report') return isComplaint(mail) ? [{ emailId, kind: 'complained' }] : []
  // Whatever else comes to the address is of a machine that answers for somebody who is away, or of a person.
  if (type !== 'delivery-status') return []
  const failed = fieldGroups(partOf(mail, 'message/delivery-status')).find(({ action }) => action?.toLowerCase() === 'failed')
  if (!failed) return []
  const reason = (failed['diagnostic-code'] ?? '').replace(/^\s*[\w-]+\s*;\s*/, '')
  const told = /\d\.\d{1,3}\.\d{1,3}/.exec(failed.status ?? '')?.[0] ?? ''
  // Exim says 5.0.0 whatever the other server has said.
  const status = /^(\d\.0\.0)?$/.test(told) ? statusIn(reason) || told : told
  return [{ emailId, kind: 'bounced', status, reason: storable(reason).slice(0, MAX_REASON_LENGTH) }]
}

const reportTypeOf = ({ headers }: Email): string | undefined => {
  const type = headers.find(({ key }) => key === 'content-type')?.value ?? ''
  if (!/^\s*multipart\/report\b/i.test(type)) return undefined
  return /;\s*report-type\s*=\s*"?([\w-]+)/i.exec(type)?.[1]?.toLowerCase()
}

/** Some report what is no spam, too. */
const isComplaint = (mail: Email): boolean => {
  const [report = {}] = fieldGroups(partOf(mail, 'message/feedback-report'))
  return report['feedback-type'] !== undefined && report['feedback-type'].trim().toLowerCase() !== 'not-spam'
}

const partOf = ({ attachments }: Email, type: string): Attachment | undefined =>
  attachments.find(({ mimeType }) => mimeType === type || mimeType === type.replace('message/', 'message/global-'))

/** The fields of a report, by their names in small letters; a group each for the message and for each of its recipients. */
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
