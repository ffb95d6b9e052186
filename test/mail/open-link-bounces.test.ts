import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { requestErasure } from '../../src/domain/erasure/request-erasure.ts'
import { readFeed } from '../support/events.ts'
import { makeOpenLink, NETWORKS } from '../support/open-links.ts'
import { startServiceForFile } from '../support/service.ts'
import { startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'

const SECRET = 'a-secret-of-postmark'
const smtp = await startSmtpListener({
  onRcptTo: ({ address }, _session, callback) =>
    callback(address.startsWith('gone') ? Object.assign(new Error('5.1.1 No such user'), { responseCode: 550 }) : null),
})
afterAll(smtp.close)
const service = await startServiceForFile({
  ...NETWORKS,
  SMTP_URL: smtp.url,
  MAIL_BOUNCE_DOMAIN: 'bounces.example.com',
  MAIL_EVENTS: `postmark:${SECRET}`,
})

type Link = Awaited<ReturnType<typeof makeOpenLink>>
type Mailed = { id: string; recipient: string }

let addresses = 0
const newAddress = (word = 'visitor') => `${word}${++addresses}.${service.deps.newId().slice(-8)}@Example.com`
const mailsTo = (address: string) =>
  smtp.mails.filter(({ envelope }) => envelope.to.some((to) => to.toLowerCase() === address.toLowerCase()))
const suppressions = async ({ organization }: Link) =>
  (await service.v1(organization.key).get('/suppressions').expect(200)).body.suppressions

/** Registers on the open link and waits for the mail. */
async function mail(link: Link, address: string): Promise<Mailed> {
  service.clock.advance(61_000)
  const { id } = await link.register(address.toLowerCase())
  return { id, recipient: mailsTo(address).at(-1)!.envelope.from }
}
const fill = (name: string, { id, recipient }: Mailed) =>
  readFileSync(path.join(import.meta.dirname, 'fixtures', name), 'utf8')
    .replaceAll('{{id}}', id)
    .replaceAll('{{recipient}}', recipient)
const report = (mailed: Mailed, name: string, addition = '') =>
  service
    .http()
    .post('/mail-events/dsn')
    .set({ 'content-type': 'message/rfc822', 'x-envelope-recipient': mailed.recipient })
    .send(fill(name, mailed) + addition)
    .expect(200)
const reportAsPostmark = (mailed: Mailed, name: string) =>
  service
    .http()
    .post('/mail-events/postmark')
    .set('authorization', `Basic ${Buffer.from(`postmark:${SECRET}`).toString('base64')}`)
    .set('content-type', 'application/json')
    .send(fill(name, mailed))
    .expect(200)
const waitUntilProcessed = () =>
  waitUntil(
    'the notices to be read',
    async () => (await service.db.mailEvent.count({ where: { processedAt: null } })) === 0 || undefined,
  )
/** Registers on the open link, and waits until the registration is sent or failed. Expects no mail. */
async function sendAgain(link: Link, email: string): Promise<string> {
  service.clock.advance(61_000)
  const before = (await link.registrations(email)).length
  const { status, text } = await link.send({ email, solution: await link.prove() })
  expect(status).toBe(200)
  await waitUntil('the registration to be judged', async () => {
    const all = await link.registrations(email)
    return (all.length > before && all.every(({ state }) => ['sent', 'failed'].includes(state))) || undefined
  })
  return text
}

describe('a mail of an open link', () => {
  it('has its own envelope sender and its id for the providers', async () => {
    const link = await makeOpenLink(service)
    const address = newAddress()
    const { id, recipient } = await mail(link, address)
    expect(recipient).toMatch(new RegExp(`^bounce\\+${id}\\.[0-9a-v]{13}@bounces\\.example\\.com$`))
    const headers = Object.fromEntries(mailsTo(address)[0]!.parsed.headers.map(({ key, value }) => [key, value]))
    expect(headers).toMatchObject({ 'x-pm-metadata-email_id': id })
  })

  it.each<[string, string, (mailed: Mailed) => Promise<unknown>]>([
    ['bounces', 'bounce', (mailed) => report(mailed, 'postfix.eml')],
    ['bounces at Postmark', 'bounce', (mailed) => reportAsPostmark(mailed, 'postmark-bounce.json')],
    ['is reported as spam', 'complaint', (mailed) => report(mailed, 'arf.eml')],
    ['is reported as spam to Postmark', 'complaint', (mailed) => reportAsPostmark(mailed, 'postmark-complaint.json')],
  ])('suppresses the address if it %s: the next form gets the same response, and sends nothing', async (_, reason, notify) => {
    const [link, other] = [await makeOpenLink(service), await makeOpenLink(service)]
    const [address, unknown] = [newAddress().toLowerCase(), newAddress().toLowerCase()]
    const mailed = await mail(link, address)
    await notify(mailed)
    await waitUntilProcessed()
    expect(await suppressions(link)).toMatchObject([{ address, reason, until: null, emailId: mailed.id }])

    const [again, first] = [await sendAgain(link, address), await sendAgain(link, unknown)]
    expect(again.replaceAll(address, 'ADDRESS')).toBe(first.replaceAll(unknown, 'ADDRESS'))
    expect([mailsTo(address).length, mailsTo(unknown).length]).toEqual([1, 1])
    expect((await link.registrations(address)).at(-1)).toMatchObject({ state: 'failed', failure: 'suppressed' })
    // The organization's invites respect the suppression, and other organizations' don't.
    const { body } = await service
      .v1(link.organization.key)
      .post('/invites')
      .send({ assessmentId: link.assessment.id, recipientEmail: address })
      .expect(201)
    await waitUntil(
      'the mail of the invite to be suppressed',
      async () =>
        (await service.db.inviteEmail.findFirst({ where: { inviteId: body.invite.id } }))?.failure === 'suppressed' || undefined,
    )
    await mail(other, address)
    expect(mailsTo(address)).toHaveLength(2)
    const { events } = await readFeed(service, link.organization.key)
    expect(events.filter(({ type }) => type === 'email.bounced' || type === 'email.complained')).toEqual([])
  })

  it('suppresses the address if the mail server refuses it', async () => {
    const link = await makeOpenLink(service)
    const address = newAddress('gone').toLowerCase()
    await sendAgain(link, address)
    expect(await link.registrations(address)).toMatchObject([{ state: 'failed', failure: 'refused', bounce: 'address' }])
    expect(await suppressions(link)).toMatchObject([{ address, reason: 'bounce' }])
    await sendAgain(link, address)
    expect((await link.registrations(address)).at(-1)).toMatchObject({ failure: 'suppressed' })
  })

  it('pauses the address at its third temporary bounce in a row', async () => {
    const link = await makeOpenLink(service)
    const address = newAddress()
    for (let times = 0; times < 3; times++) {
      expect(await suppressions(link)).toEqual([])
      await report(await mail(link, address), 'exim.eml')
      await waitUntilProcessed()
    }
    expect(await suppressions(link)).toMatchObject([{ address: address.toLowerCase(), reason: 'full' }])
  })

  it('suppresses nothing if it bounces because of its content', async () => {
    const link = await makeOpenLink(service)
    await report(await mail(link, newAddress()), 'gmail.eml')
    await waitUntilProcessed()
    expect(await suppressions(link)).toEqual([])
  })

  it('keeps at most 20 bounce messages, which are erased with it', async () => {
    const link = await makeOpenLink(service)
    const address = newAddress()
    const mailed = await mail(link, address)
    for (let i = 0; i < 22; i++) await report(mailed, 'gmail.eml', `\nX-Again: ${i}\n`)
    const notices = () => service.db.mailEvent.count({ where: { emailId: mailed.id } })
    expect(await notices()).toBe(20)
    await requestErasure(link.ctx, { address })
    await waitUntil('the erasure', async () => (await link.registrations()).length === 0 || undefined)
    expect(await notices()).toBe(0)
    await report(mailed, 'postfix.eml')
    expect(await notices()).toBe(0)
  })
})
