import { createSign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { EXPIRED_ROWS } from '../../src/domain/concurrency/expired-rows.ts'
import { processMailEvent } from '../../src/domain/invites/record-mail-event.ts'
import { DAY_MS } from '../../src/domain/time/days.ts'
import { createSesReader } from '../../src/mail/events/ses.ts'
import { readFeed } from '../support/events.ts'
import { queueMail, waitForState } from '../support/mail.ts'
import { type Service, startService } from '../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../support/smtp.ts'
import { PATIENT } from '../support/wait-until.ts'

const fixture = (name: string) => readFileSync(path.join(import.meta.dirname, 'fixtures', name), 'utf8')

const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:mail'
const SECRET = 'a-secret-of-postmark'
const CERTIFICATE_URL = 'https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-0a1b2c.pem'
/** URLs requested from Amazon. */
const asked: string[] = []

let service: Service
let smtp: SmtpListener
beforeAll(async () => {
  smtp = await startSmtpListener()
  service = await startService({
    SMTP_URL: smtp.url,
    MAIL_BOUNCE_DOMAIN: 'Bounces.example.com',
    MAIL_EVENTS: `ses:${TOPIC}, postmark:${SECRET}`,
  })
  service.mailEventReaders.ses = createSesReader(TOPIC, async (url) => {
    asked.push(url)
    return url === CERTIFICATE_URL ? fixture('sns-certificate.pem') : 'confirmed'
  })
})
afterAll(async () => {
  await service.close()
  await smtp.close()
})

/** Sends a mail. `mail` is the message as the mail server received it. */
async function send() {
  const { id: organizationId, key } = await service.make.organization()
  const invite = await service.make.invite(await service.make.assessment(organizationId))
  const id = await queueMail(service, invite)
  await waitForState(service, { id }, 'sent')
  const mail = smtp.mails.find(({ envelope }) => envelope.to.includes(invite.recipientEmail))!
  const read = () => service.db.inviteEmail.findUniqueOrThrow({ where: { id } })
  const typesOf = async () =>
    (await readFeed(service, key)).events.map(({ type }) => type).filter((type) => type !== 'email.sent')
  return { id, invite, mail, key, read, typesOf, recipient: mail.envelope.from }
}
type Sent = Awaited<ReturnType<typeof send>>

const post = (source: string, headers: Record<string, string>, body: string) =>
  service.http().post(`/mail-events/${source}`).set(headers).send(body)
const fill = (name: string, { id, recipient }: Sent) =>
  fixture(name).replaceAll('{{id}}', id).replaceAll('{{recipient}}', recipient)
const report = (sent: Sent, name: string, recipient = sent.recipient) =>
  post('dsn', { 'content-type': 'message/rfc822', 'x-envelope-recipient': recipient }, fill(name, sent))
const basic = (password: string) => ({ authorization: `Basic ${Buffer.from(`postmark:${password}`).toString('base64')}` })
const postAsPostmark = (sent: Sent, name: string, password = SECRET) =>
  post('postmark', { 'content-type': 'application/json', ...basic(password) }, fill(name, sent))

/** Signs a message as SNS does. */
function sign(message: Record<string, string>): Record<string, string> {
  const signed = ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'].filter(
    (name) => message[name],
  )
  const text = signed.map((name) => `${name}\n${message[name]}\n`).join('')
  return { ...message, Signature: createSign('RSA-SHA256').update(text).sign(fixture('sns-key.pem'), 'base64') }
}
const notification = (text: string, given: Record<string, string> = {}) => ({
  ...{ Type: 'Notification', MessageId: crypto.randomUUID(), TopicArn: TOPIC, Message: text },
  ...{ Timestamp: new Date().toISOString(), SignatureVersion: '2', SigningCertURL: CERTIFICATE_URL },
  ...given,
})
const postAsSns = (message: object, topic = TOPIC) =>
  post('ses', { 'content-type': 'text/plain; charset=UTF-8', 'x-amz-sns-topic-arn': topic }, JSON.stringify(message))

const isRead = () =>
  vi.waitFor(async () => expect(await service.db.mailEvent.count({ where: { processedAt: null } })).toBe(0), PATIENT)
const countStored = () => service.db.mailEvent.count()

describe('an outgoing mail', () => {
  it('has its own envelope sender, and carries its ID in provider headers', async () => {
    const { id, mail, recipient } = await send()
    expect(recipient).toMatch(new RegExp(`^bounce\\+${id}\\.[0-9a-v]{13}@Bounces\\.example\\.com$`))
    expect(recipient.split('@')[0]!.length).toBeLessThanOrEqual(64)
    expect(mail.parsed.from?.address).not.toContain('bounce')
    const headers = Object.fromEntries(mail.parsed.headers.map(({ key, value }) => [key, value]))
    expect(headers).toMatchObject({ 'x-ses-message-tags': `email_id=${id}`, 'x-pm-metadata-email_id': id })
  })
})

describe('a bounce message', () => {
  it('is stored at most 20 times for each mail', async () => {
    const sent = await send()
    for (let i = 0; i < 30; i++) {
      const body = `${fill('postfix.eml', sent)}\nX-Again: ${i}\n`
      await post('dsn', { 'content-type': 'message/rfc822', 'x-envelope-recipient': sent.recipient }, body).expect(200)
    }
    expect(await service.db.mailEvent.count({ where: { emailId: sent.id } })).toBe(20)
    const other = await send()
    await report(other, 'postfix.eml').expect(200)
    expect(await service.db.mailEvent.count({ where: { emailId: other.id } })).toBe(1)
    await isRead()
  })

  it.each([
    ['postfix.eml', 'address', '5.1.1', /^550 5\.1\.1 .*User unknown in local recipient table$/],
    ['exim.eml', 'temporary', '5.2.2', /^552 5\.2\.2 Mailbox is over its quota$/],
    ['exchange.eml', 'address', '5.1.10', /RecipientNotFound/],
    ['gmail.eml', 'blocked', '5.7.26', /Unauthenticated email/],
  ])('sets the bounce reason of its mail: %s', async (name, bounce, bounceStatus, words) => {
    const sent = await send()
    await report(sent, name).expect(200)
    await isRead()
    expect(await sent.read()).toMatchObject({ state: 'sent', bounce, bounceStatus, bounceReason: expect.stringMatching(words) })
    const { events } = await readFeed(service, sent.key, { type: 'email.bounced' })
    const { status, inviteId } = events[0]!.data
    expect(events.map(({ data }) => data)).toMatchObject([{ emailId: sent.id, bounce, bounceStatus }])
    expect([status, inviteId]).toEqual(['pending', sent.invite.id])
  })

  it.each(['delayed.eml', 'out-of-office.eml'])('changes nothing if it is not a bounce: %s', async (name) => {
    const sent = await send()
    await report(sent, name).expect(200)
    await isRead()
    expect(await sent.read()).toMatchObject({ bouncedAt: null, complainedAt: null })
  })

  it('records a complaint', async () => {
    const sent = await send()
    await report(sent, 'arf.eml').expect(200)
    await isRead()
    expect(await sent.read()).toMatchObject({ bouncedAt: null, complainedAt: expect.any(Date) })
    expect(await sent.typesOf()).toEqual(['email.complained'])
  })

  it('is stored once if sent twice', async () => {
    const sent = await send()
    const before = await countStored()
    for (let i = 0; i < 2; i++) await report(sent, 'postfix.eml').expect(200)
    await isRead()
    expect(await countStored()).toBe(before + 1)
    expect(await sent.typesOf()).toEqual(['email.bounced'])
  })

  it("is deleted once processed, since it may contain the invite's link", async () => {
    const sent = await send()
    await report(sent, 'postfix.eml').expect(200)
    await isRead()
    const { body } = await service.db.mailEvent.findFirstOrThrow({ where: { emailId: sent.id } })
    expect(Buffer.from(body).toString()).toBe('')
  })

  it("is rejected for an address that the service didn't sign, and nothing is stored", async () => {
    const sent = await send()
    const before = await countStored()
    const digit = sent.recipient.indexOf('.') + 1
    const otherDigit = sent.recipient[digit] === '0' ? '1' : '0'
    const forged = sent.recipient.slice(0, digit) + otherDigit + sent.recipient.slice(digit + 1)
    for (const recipient of [forged, sent.recipient.replace('Bounces', 'others'), 'bounce@bounces.example.com', ''])
      await report(sent, 'postfix.eml', recipient).expect(401)
    await report(sent, 'postfix.eml', sent.recipient.toLowerCase()).expect(200)
    expect(await countStored()).toBe(before + 1)
  })

  it('is rejected if larger than the limit', async () => {
    const sent = await send()
    const headers = { 'content-type': 'message/rfc822', 'x-envelope-recipient': sent.recipient }
    await post('dsn', headers, 'x'.repeat(257 * 1024)).expect(413)
  })
})

describe('a Postmark webhook', () => {
  it('records bounces and complaints, each once', async () => {
    const sent = await send()
    for (let i = 0; i < 2; i++) await postAsPostmark(sent, 'postmark-bounce.json').expect(200)
    await postAsPostmark(sent, 'postmark-complaint.json').expect(200)
    await isRead()
    expect(await sent.read()).toMatchObject({ bounce: 'address', bounceStatus: '5.1.1', complainedAt: expect.any(Date) })
    expect((await sent.typesOf()).sort()).toEqual(['email.bounced', 'email.complained'])
  })

  it('keeps 64-bit IDs exact, so that IDs differing only in their last digits stay distinct', async () => {
    const [one, other] = [await send(), await send()]
    const postBounce = (sent: Sent, id: string, messageId: string) => {
      const body = fill('postmark-bounce.json', sent).replace('4323372036854775807', id)
      return post('postmark', basic(SECRET), body.replace('883953f4-6105-42a2-a16a-77a8eac79483', messageId))
    }
    await postBounce(one, '4323372036854775801', crypto.randomUUID()).expect(200)
    await postBounce(other, '4323372036854775802', crypto.randomUUID()).expect(200)
    await isRead()
    for (const sent of [one, other]) expect(await sent.typesOf()).toEqual(['email.bounced'])
  })

  it.each(['null', '[]', '1', '"x"', '{', '{"RecordType":"Bounce"}'])('is rejected with a malformed body: %s', async (body) => {
    await post('postmark', basic(SECRET), body).expect(401)
  })

  it('accepts any ID', async () => {
    await post('postmark', basic(SECRET), '{"RecordType":"Bounce\\u0000","ID":"\\ud800\\u0000"}').expect(200)
  })

  it('is rejected without its secret, or with a secret that differs in one letter', async () => {
    const sent = await send()
    const before = await countStored()
    await postAsPostmark(sent, 'postmark-bounce.json', `${SECRET.slice(0, -1)}x`).expect(401)
    await post('postmark', {}, fill('postmark-bounce.json', sent)).expect(401)
    expect(await countStored()).toBe(before)
  })
})

describe('an Amazon SES notification', () => {
  it.each([
    ['ses-bounce.json', { bounce: 'address', bounceStatus: '5.4.4', complainedAt: null }],
    ['ses-complaint.json', { bounce: null, complainedAt: expect.any(Date) }],
    ['ses-out-of-office.json', { bounce: null, complainedAt: null }],
  ])('is recorded from SNS: %s', async (name, expected) => {
    const sent = await send()
    const message = sign(notification(fill(name, sent)))
    for (let i = 0; i < 2; i++) await postAsSns(message).expect(200)
    await isRead()
    expect(await sent.read()).toMatchObject(expected)
    expect(await service.db.mailEvent.count({ where: { eventId: message.MessageId! } })).toBe(1)
  })

  it('is rejected if its signature, certificate, topic, or age is wrong', async () => {
    const sent = await send()
    const before = await countStored()
    const text = fill('ses-bounce.json', sent)
    const good = sign(notification(text))
    const askedBefore = asked.length
    await postAsSns({ ...good, Message: text.replace('5.4.4', '5.4.5') }).expect(401)
    await postAsSns({ ...good, Signature: `${good.Signature!.slice(0, 9)}A${good.Signature!.slice(10)}` }).expect(401)
    await postAsSns(sign(notification(text, { SignatureVersion: '1' }))).expect(401)
    const forgotten = new Date(Date.now() - EXPIRED_ROWS.mailEvents.days * DAY_MS).toISOString()
    for (const Timestamp of [forgotten, 'long ago']) await postAsSns(sign(notification(text, { Timestamp }))).expect(401)
    for (const url of [
      'https://evil.example/SimpleNotificationService-1.pem',
      'https://sns.eu-central-1.amazonaws.com.evil.example/a.pem',
      // Variants of the URL would fill the cache of certificates and displace the certificate in use.
      `${CERTIFICATE_URL}?1`,
      `${CERTIFICATE_URL}#1`,
      CERTIFICATE_URL.replace('https://', 'https://a@'),
    ])
      await postAsSns(sign(notification(text, { SigningCertURL: url }))).expect(401)
    await postAsSns(sign(notification(text, { TopicArn: `${TOPIC}2` }))).expect(401)
    await postAsSns(good, `${TOPIC}2`).expect(401)
    await postAsSns({ ...good, Type: 'constructor' }).expect(401)
    for (const body of ['null', '[]', '1', '{']) await post('ses', { 'x-amz-sns-topic-arn': TOPIC }, body).expect(401)
    expect(asked.slice(askedBefore).filter((url) => url !== CERTIFICATE_URL)).toEqual([])
    expect(await countStored()).toBe(before)
  })

  it("is ignored if it isn't a mail event, such as the validation message", async () => {
    await postAsSns(sign(notification('Successfully validated SNS topic for Amazon SES event publishing.'))).expect(200)
    await isRead()
  })

  it('confirms its subscription at a derived URL, ignoring the URL it contains', async () => {
    const confirmation = sign({
      ...notification('You have chosen to subscribe', { Type: 'SubscriptionConfirmation' }),
      ...{ Token: 'a b&c', SubscribeURL: 'https://evil.example/confirm' },
    })
    await postAsSns(confirmation).expect(200)
    await isRead()
    const query = `Action=ConfirmSubscription&TopicArn=${encodeURIComponent(TOPIC)}&Token=a+b%26c`
    expect(asked.at(-1)).toBe(`https://sns.eu-central-1.amazonaws.com/?${query}`)
  })
})

describe("a provider that isn't enabled", () => {
  it('keeps its events unprocessed in a process without the setting', async () => {
    const sent = await send()
    await postAsPostmark(sent, 'postmark-bounce.json').expect(200)
    await isRead()
    const { id } = await service.db.mailEvent.findFirstOrThrow({ where: { provider: 'postmark' } })
    await service.db.mailEvent.update({ where: { id }, data: { processedAt: null } })
    await expect(processMailEvent(service.system, {}, id)).rejects.toThrow('reads nothing of postmark')
    expect(await service.db.mailEvent.findUnique({ where: { id } })).toMatchObject({ processedAt: null })
  })

  it('gets 404 for its events', async () => {
    const off = await startService()
    try {
      for (const source of ['dsn', 'ses', 'postmark', 'constructor']) {
        const { status } = await off.http().post(`/mail-events/${source}`).set(basic('')).send('{}')
        expect([source, status]).toEqual([source, 404])
      }
    } finally {
      await off.close()
    }
  })
})
