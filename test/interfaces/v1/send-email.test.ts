import { afterAll, beforeAll, expect, it } from 'vitest'
import { waitForState } from '../../support/mail.ts'
import { type Service, startService } from '../../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../../support/smtp.ts'

let service: Service
let smtp: SmtpListener
beforeAll(async () => {
  smtp = await startSmtpListener()
  service = await startService({ SMTP_URL: smtp.url })
})
afterAll(async () => {
  await service.close()
  await smtp.close()
})

async function setUp() {
  const { id: organizationId, key } = await service.make.organization()
  const { id: assessmentId } = await service.make.assessment(organizationId)
  const client = service.v1(key)
  const create = (fields: object, headers: Record<string, string> = {}) =>
    client
      .post('/invites')
      .set(headers)
      .send({ assessmentId, recipientEmail: `${organizationId}@example.com`, ...fields })
  const emailsOf = async (id: string) => (await client.get(`/invites/${id}/emails`)).body.emails
  const received = () => smtp.mails.filter(({ envelope }) => envelope.to[0] === `${organizationId}@example.com`)
  return { organizationId, client, create, emailsOf, received }
}

it('creates the invite without a mail if sendEmail is false', async () => {
  const [silent, usual] = [await setUp(), await setUp()]
  const { status, body } = await silent.create({ sendEmail: false })
  const other = (await usual.create({})).body.invite
  expect(status).toBe(201)
  expect(Object.keys(body.invite)).toEqual(Object.keys(other))
  expect(body.invite).toMatchObject({ status: 'pending', sentAt: other.sentAt, expiresAt: other.expiresAt })
  expect(await silent.emailsOf(body.invite.id)).toEqual([])
  // The mail of a later invite has arrived, and no other.
  await waitForState(service, { inviteId: other.id }, 'sent')
  expect([usual.received().length, silent.received().length]).toEqual([1, 0])
})

it('keeps the link valid if sendEmail is false, and mails a resend', async () => {
  const { client, create, emailsOf, received } = await setUp()
  const { id } = (await create({ sendEmail: false })).body.invite
  const { link } = (await client.get(`/invites/${id}/link`)).body
  expect((await client.post(`/invites/${id}/resend`)).status).toBe(200)
  await waitForState(service, { inviteId: id }, 'sent')
  expect(await emailsOf(id)).toHaveLength(1)
  expect(received().map(({ parsed }) => parsed.text!.includes(link))).toEqual([true])
  expect(received()[0]!.parsed.subject).not.toContain('Sent again')
})

it.each([true, undefined])('mails the invitation if sendEmail is %j', async (sendEmail) => {
  const { create, received } = await setUp()
  const { id } = (await create({ sendEmail })).body.invite
  await waitForState(service, { inviteId: id }, 'sent')
  expect(received()).toHaveLength(1)
})

it('compares sendEmail with the first request of the Idempotency-Key', async () => {
  const { organizationId, create } = await setUp()
  const send = (sendEmail: boolean) => create({ sendEmail }, { 'Idempotency-Key': 'once' })
  const [first, again, other] = [await send(false), await send(false), await send(true)]
  expect([first.status, again.status, other.status]).toEqual([201, 201, 422])
  expect([again.text, again.headers['idempotent-replayed']]).toEqual([first.text, 'true'])
  expect(await service.db.inviteEmail.count({ where: { organizationId } })).toBe(0)
})

it.each([[null], ['false'], [0], [[]], [{}]])('answers 400 if sendEmail is %j, and creates no invite', async (sendEmail) => {
  const { organizationId, create } = await setUp()
  const { status, body } = await create({ sendEmail })
  expect([status, body]).toEqual([400, { error: 'sendEmail must be true or false' }])
  expect(await service.db.invite.count({ where: { organizationId } })).toBe(0)
})
