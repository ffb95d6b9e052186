import { createHash, timingSafeEqual } from 'node:crypto'
import { findStatusCode } from '../../domain/mails/classify-bounce.ts'
import type { MailEvent, MailEventReader, MailNotice } from '../../domain/mails/mail-events.ts'
import { isUuid } from '../../domain/text/uuid.ts'
import { withoutNul } from '../verdict.ts'
import { parseObject } from './parse-object.ts'

/** Metadata that Postmark repeats in its events. */
export const postmarkHeaders = (emailId: string): Record<string, string> => ({ 'X-PM-Metadata-email_id': emailId })

/** Status codes for Postmark's bounce types, if the server's reply has none. */
const STATUS_OF: Record<string, string> = {
  HardBounce: '5.1.1',
  BadEmailAddress: '5.1.3',
  SoftBounce: '4.2.0',
  DnsError: '4.4.0',
  Transient: '4.0.0',
}
/** Types that are not bounces: automatic replies, events about other things, and mails that arrived after all. */
const NO_BOUNCES = ['AutoResponder', 'AddressChange', 'Subscribe', 'Unsubscribe', 'ChallengeVerification', 'OpenRelayTest']

/** Reads Postmark's webhooks for bounces and complaints. They are not signed: a password in their URL (Basic) authenticates them. */
export const createPostmarkReader = (secret: string): MailEventReader => ({
  admit: ({ authorization }) => (isSecret(authorization, secret) ? { emailId: null } : null),
  async identify(body) {
    const { RecordType, ID, MessageID = '' } = parseObject<Postmark>(body)
    // Postmark's 64-bit ids lose precision as numbers, so the message id is added.
    return typeof RecordType === 'string' && ID !== undefined
      ? withoutNul(`${RecordType} ${ID} ${MessageID}`).slice(0, 200)
      : null
  },
  read: async ({ body }) => readPostmark({ body }),
})

function readPostmark({ body }: Pick<MailEvent, 'body'>): MailNotice[] {
  const { RecordType, Type, Metadata, Details, Description } = parseObject<Postmark>(body)
  const emailId = Metadata?.email_id
  if (typeof emailId !== 'string' || !isUuid(emailId)) return []
  if (RecordType === 'SpamComplaint') return [{ emailId, kind: 'complained' }]
  if (RecordType !== 'Bounce' || NO_BOUNCES.includes(String(Type))) return []
  const reason = withoutNul(String(Details || Description || '')).slice(0, 1_000)
  return [{ emailId, kind: 'bounced', status: findStatusCode(reason) || (STATUS_OF[String(Type)] ?? ''), reason }]
}

type Postmark = Partial<Record<'RecordType' | 'Type' | 'ID' | 'MessageID' | 'Details' | 'Description', unknown>> & {
  Metadata?: { email_id?: unknown }
}

/** Compares in constant time. */
function isSecret(authorization: string | string[] | undefined, secret: string): boolean {
  const [, encoded = ''] = /^basic +(\S+) *$/i.exec(String(authorization ?? '')) ?? []
  const [, ...password] = Buffer.from(encoded, 'base64').toString('utf8').split(':')
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(password.join(':')), digest(secret))
}
