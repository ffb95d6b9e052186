import { createHash, timingSafeEqual } from 'node:crypto'
import { statusIn } from '../../domain/mails/classify-bounce.ts'
import type { MailEvent, MailEventReader, MailNotice } from '../../domain/mails/mail-events.ts'
import { isUuid } from '../../domain/values/uuid.ts'
import { storable } from '../verdict.ts'
import { parseObject } from './parse-object.ts'

/** The header by which a mail has its id told back. */
export const postmarkHeaders = (emailId: string): Record<string, string> => ({ 'X-PM-Metadata-email_id': emailId })

/** Of Postmark's types of bounces those that say something of the address, where the server's words have no status code. */
const STATUS_OF: Record<string, string> = {
  HardBounce: '5.1.1',
  BadEmailAddress: '5.1.3',
  SoftBounce: '4.2.0',
  DnsError: '4.4.0',
  Transient: '4.0.0',
}
/** What comes back, and is none: answers of machines, what was said of other things, and what got there after all. */
const NO_BOUNCES = ['AutoResponder', 'AddressChange', 'Subscribe', 'Unsubscribe', 'ChallengeVerification', 'OpenRelayTest']

/** Postmark's webhooks for bounces and spam complaints. They are not signed: a password in their address (Basic) proves them. */
export const createPostmarkReader = (secret: string): MailEventReader => ({
  admit: ({ authorization }) => (isSecret(authorization, secret) ? { emailId: null } : null),
  async identify(body) {
    const { RecordType, ID, MessageID = '' } = parseObject<Postmark>(body)
    // Their ids are of 64 bits, of which a number has 53 here: the mail's sets those of two mails apart.
    return typeof RecordType === 'string' && ID !== undefined ? storable(`${RecordType} ${ID} ${MessageID}`).slice(0, 200) : null
  },
  read: async ({ body }) => readPostmark({ body }),
})

function readPostmark({ body }: Pick<MailEvent, 'body'>): MailNotice[] {
  const { RecordType, Type, Metadata, Details, Description } = parseObject<Postmark>(body)
  const emailId = Metadata?.email_id
  if (typeof emailId !== 'string' || !isUuid(emailId)) return []
  if (RecordType === 'SpamComplaint') return [{ emailId, kind: 'complained' }]
  if (RecordType !== 'Bounce' || NO_BOUNCES.includes(String(Type))) return []
  const reason = storable(String(Details || Description || '')).slice(0, 1_000)
  return [{ emailId, kind: 'bounced', status: statusIn(reason) || (STATUS_OF[String(Type)] ?? ''), reason }]
}

type Postmark = Partial<Record<'RecordType' | 'Type' | 'ID' | 'MessageID' | 'Details' | 'Description', unknown>> & {
  Metadata?: { email_id?: unknown }
}

/** Compares in the same time wherever they differ, and however long they are. */
function isSecret(authorization: string | string[] | undefined, secret: string): boolean {
  const [, encoded = ''] = /^basic +(\S+) *$/i.exec(String(authorization ?? '')) ?? []
  const [, ...password] = Buffer.from(encoded, 'base64').toString('utf8').split(':')
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(password.join(':')), digest(secret))
}
