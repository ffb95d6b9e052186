import { createVerify, X509Certificate } from 'node:crypto'
import { EXPIRED_ROWS } from '../../domain/concurrency/expired-rows.ts'
import { findStatusCode } from '../../domain/mails/classify-bounce.ts'
import type { MailEventReader, MailNotice } from '../../domain/mails/mail-events.ts'
import { isUuid } from '../../domain/text/uuid.ts'
import { DAY_MS } from '../../domain/time/days.ts'
import { withoutNul } from '../verdict.ts'
import { parseObject } from './parse-object.ts'

/** Tag that SES repeats in its events. */
export const sesHeaders = (emailId: string): Record<string, string> => ({ 'X-SES-MESSAGE-TAGS': `email_id=${emailId}` })

/** Status codes for SES's bounce types, if the server's reply has none. */
const STATUS_OF: Record<string, string> = {
  'Permanent General': '5.1.1',
  'Permanent NoEmail': '5.1.1',
  'Permanent Suppressed': '5.1.1',
  'Permanent OnAccountSuppressionList': '5.1.1',
  'Transient MailboxFull': '4.2.2',
}
const CERTIFICATE_PATH = /^\/SimpleNotificationService-[\w-]+\.pem$/
/** Cached certificates. SNS uses one per region at a time. */
const CACHED_CERTIFICATES = 3

/** Fields that SNS signs, in this order. */
const SIGNED = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
} as const
type Sns = {
  [name in 'SigningCertURL' | 'Signature' | 'SignatureVersion' | (typeof SIGNED)[keyof typeof SIGNED][number]]?: unknown
}

/** Fetches a text from an Amazon URL. @throws Error if that fails. */
export type FetchText = (url: string) => Promise<string>

/**
 * Reads Amazon SES events from an SNS topic. Signatures are RSA with SHA-256 (SignatureVersion 2, set at the topic). No message decides which
 * host is contacted: the certificate's host has to match the topic's region, and the confirmation URL is built here.
 */
export function createSesReader(topicArn: string, fetchText: FetchText): MailEventReader {
  const region = topicArn.split(':')[3] ?? ''
  const host = `sns.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
  const certificateOf = createCertificates(fetchText)
  return {
    admit: (headers) => (headers['x-amz-sns-topic-arn'] === topicArn ? { emailId: null } : null),
    async identify(body) {
      const message = parseObject<Sns>(body)
      if (message.TopicArn !== topicArn || message.SignatureVersion !== '2' || !isSignable(message.Type)) return null
      if (!isRecent(message.Timestamp)) return null
      const url = String(message.SigningCertURL)
      // Exact match: with a query string, one certificate would have many URLs, each fetched and cached.
      if (!url.startsWith(`https://${host}/`) || !CERTIFICATE_PATH.test(url.slice(`https://${host}`.length))) return null
      return verifySignature(message, await certificateOf(url)) ? String(message.MessageId) : null
    },
    async read(event) {
      const message = parseObject<Sns>(event.body)
      if (message.Type === 'Notification') return readNotification(Buffer.from(String(message.Message)))
      if (message.Type === 'SubscriptionConfirmation') await fetchText(confirmationOf(host, topicArn, String(message.Token)))
      return []
    },
  }
}

const confirmationOf = (host: string, topicArn: string, token: string): string =>
  `https://${host}/?${new URLSearchParams({ Action: 'ConfirmSubscription', TopicArn: topicArn, Token: token })}`

/** Fetches one certificate at a time: unauthenticated senders can name new ones. */
function createCertificates(fetchText: FetchText): FetchText {
  const certificates = new Map<string, string>()
  let isFetching = false
  return async (url) => {
    const found = certificates.get(url)
    if (found !== undefined) return found
    if (isFetching) throw new Error('Another certificate of SNS is being looked up')
    isFetching = true
    try {
      const certificate = await fetchText(url)
      const [oldest] = certificates.keys()
      if (certificates.size >= CACHED_CERTIFICATES && oldest !== undefined) certificates.delete(oldest)
      certificates.set(url, certificate)
      return certificate
    } finally {
      isFetching = false
    }
  }
}

const isSignable = (type: unknown): type is keyof typeof SIGNED => typeof type === 'string' && Object.hasOwn(SIGNED, type)

/** Rejects messages older than the list of known event ids, which would be processed again. Amazon retries for 23 days. */
const isRecent = (timestamp: unknown): boolean =>
  Date.now() - Date.parse(String(timestamp)) < EXPIRED_ROWS.mailEvents.days * DAY_MS

function verifySignature(message: Sns, certificate: string): boolean {
  if (!isSignable(message.Type)) return false
  const text = SIGNED[message.Type].filter((name) => message[name] !== undefined).map((name) => `${name}\n${message[name]}\n`)
  const { publicKey, validFromDate, validToDate } = new X509Certificate(certificate)
  const now = new Date()
  if (now < validFromDate || now > validToDate) return false
  return createVerify('RSA-SHA256').update(text.join('')).verify(publicKey, String(message.Signature), 'base64')
}

type Ses = {
  eventType?: string
  notificationType?: string
  mail?: { tags?: { email_id?: string[] } }
  bounce?: {
    bounceType?: string
    bounceSubType?: string
    bouncedRecipients?: { status?: string; diagnosticCode?: string }[]
  }
  complaint?: { complaintFeedbackType?: string }
}

/** SES's message that it may publish to the topic is not JSON. */
function readNotification(text: Buffer): MailNotice[] {
  const { eventType, notificationType, mail, bounce = {}, complaint } = parseObject<Ses>(text)
  const emailId = mail?.tags?.email_id?.[0]
  if (emailId === undefined || !isUuid(emailId)) return []
  const type = eventType ?? notificationType
  if (type === 'Complaint') return complaint?.complaintFeedbackType === 'not-spam' ? [] : [{ emailId, kind: 'complained' }]
  if (type !== 'Bounce') return []
  const { bounceType, bounceSubType, bouncedRecipients: [recipient = {}] = [] } = bounce
  const reason = withoutNul(recipient.diagnosticCode ?? `${bounceType} ${bounceSubType}`).slice(0, 1_000)
  // The server's reply wins: SES calls a missing domain "transient".
  const status =
    findStatusCode(recipient.status ?? '') || findStatusCode(reason) || (STATUS_OF[`${bounceType} ${bounceSubType}`] ?? '')
  // SES also reports out-of-office replies as bounces, without a server's reply.
  if (status === '' && bounceType === 'Transient') return []
  return [{ emailId, kind: 'bounced', status, reason: reason.replace(/^smtp;\s*/i, '') }]
}
