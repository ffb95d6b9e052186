import { afterAll, beforeAll, expect, it } from 'vitest'
import { signUnsubscribeToken } from '../../src/domain/secrets/unsubscribe-tokens.ts'
import { expectPage } from '../support/candidate.ts'
import { readFeed } from '../support/events.ts'
import { queueMail, waitForState } from '../support/mail.ts'
import { makeReminding } from '../support/reminders.ts'
import { type Service, startService, startServiceForTest } from '../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'

let service: Service
let smtp: SmtpListener
beforeAll(async () => {
  smtp = await startSmtpListener()
  service = await startService({ SMTP_URL: smtp.url, PUBLIC_URL: 'https://assess.example.com' })
})
afterAll(async () => {
  await service.close()
  await smtp.close()
})

const pathOf = (inviteId: string) => `/u/${signUnsubscribeToken(service.site.secretKeys, inviteId)}`
const listHeaders = ({ headers }: SmtpListener['mails'][number]['parsed']) =>
  headers.flatMap(({ key, value }) => (key.startsWith('list-') ? [[key, value]] : [])).sort()
const mailTo = (address: string, count = 1) =>
  waitUntil(`a mail to ${address}`, async () => smtp.mails.filter(({ envelope }) => envelope.to.includes(address))[count - 1])

it('has the unsubscribe headers of RFC 8058 in automatic mails, and not in invitations', async () => {
  const { invite, remind } = await makeReminding(service)
  const invited = await invite()
  await remind()
  const { parsed } = await mailTo(invited.recipientEmail)
  const address = `https://assess.example.com${pathOf(invited.id)}`
  expect(listHeaders(parsed)).toEqual([
    ['list-unsubscribe', `<${address}>`],
    ['list-unsubscribe-post', 'List-Unsubscribe=One-Click'],
  ])
  expect(parsed.text).toContain(address)

  service.clock.advance(25 * 3_600_000)
  await queueMail(service, invited)
  const invitation = await mailTo(invited.recipientEmail, 2)
  expect(listHeaders(invitation.parsed)).toEqual([])
  expect(invitation.parsed.text).not.toContain('/u/')
})

it('omits the unsubscribe headers if the service has no HTTPS', async () => {
  const plain = await startServiceForTest({ SMTP_URL: smtp.url, PUBLIC_URL: 'http://assess.example.com' })
  const { invite, remind } = await makeReminding(plain)
  const invited = await invite()
  await remind()
  const { parsed } = await mailTo(invited.recipientEmail)
  expect(listHeaders(parsed)).toEqual([])
  expect(parsed.text).toContain('http://assess.example.com/u/')
})

it('changes nothing when its page is opened, even repeatedly', async () => {
  const { organizationId, invite, key } = await makeReminding(service)
  const { id } = await invite()
  for (let i = 0; i < 100; i++) {
    const page = await service.http().get(pathOf(id))
    expectPage(page, 200)
    expect(page.text).toContain('Stop reminders and notices')
  }
  expect(await service.db.suppression.count({ where: { organizationId } })).toBe(0)
  expect((await readFeed(service, key, { type: 'email.unsubscribed' })).events).toEqual([])
})

it.each([
  ['application/x-www-form-urlencoded', 'List-Unsubscribe=One-Click'],
  [
    'multipart/form-data; boundary=x',
    '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n',
  ],
])('stops automatic mails at once by one POST from a mail program, as %s', async (type, body) => {
  const { organizationId, invite, remind, key } = await makeReminding(service)
  const invited = await invite({ recipientEmail: `One.${crypto.randomUUID()}@example.com` })
  for (let i = 0; i < 2; i++) {
    const answer = await service.http().post(pathOf(invited.id)).set('content-type', type).send(body)
    expectPage(answer, 200)
    expect(answer.text).toContain('You get no more reminders and notices')
  }
  expect(await remind()).toEqual([])
  const kept = await service.db.suppression.findMany({ where: { organizationId } })
  expect(kept).toMatchObject([
    { address: invited.recipientEmail.toLowerCase(), scope: 'reminders', reason: 'unsubscribed', until: null, mode: 'live' },
  ])
  const { events } = await readFeed(service, key, { type: 'email.unsubscribed' })
  expect(events.map(({ data, actor }) => [data.inviteId, data.scope, actor.type])).toEqual([
    [invited.id, 'reminders', 'candidate'],
  ])
  const { suppressions } = (await service.v1(key).get('/suppressions').expect(200)).body
  expect(suppressions).toMatchObject([{ reason: 'unsubscribed', scope: 'reminders' }])
  // Inviting a person explicitly still sends a mail.
  expect(await waitForState(service, { id: await queueMail(service, invited) }, 'sent')).toMatchObject({ kind: 'invitation' })
})

it("stops all mails of one organization on request, and no other's", async () => {
  const { invite } = await makeReminding(service)
  const others = await makeReminding(service)
  const invited = await invite()
  const theirs = await others.invite({ recipientEmail: invited.recipientEmail })
  expectPage(await service.http().post(`${pathOf(invited.id)}/all`), 200)
  const email = await waitForState(service, { id: await queueMail(service, invited) }, 'failed')
  expect(email).toMatchObject({ failure: 'suppressed', reason: 'Not sent: the candidate has stopped these mails.' })
  expect(await waitForState(service, { id: await queueMail(service, theirs) }, 'sent')).toMatchObject({ failure: null })
})

it('returns 404 for an incomplete link', async () => {
  const { invite } = await makeReminding(service)
  const path = pathOf((await invite()).id)
  for (const other of [`${path.slice(0, -1)}_`, '/u/none', pathOf('01900000-0000-7000-8000-000000000000')]) {
    expectPage(await service.http().get(other), 404)
    expectPage(await service.http().post(other), 404)
  }
})
