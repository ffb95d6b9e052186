import { afterAll, beforeAll, expect, it } from 'vitest'
import { INVITE_STATUSES } from '../../../src/domain/invites/invites.ts'
import { DAY_MS } from '../../support/factories.ts'
import { linkIn } from '../../support/mail.ts'
import { SECRET_KEY, type Service, startService, startServiceForTest } from '../../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../../support/smtp.ts'

let service: Service
let smtp: SmtpListener
beforeAll(async () => {
  smtp = await startSmtpListener()
  service = await startService({ SMTP_URL: smtp.url, PUBLIC_URL: 'https://assess.example.org' })
})
afterAll(async () => {
  await service.close()
  await smtp.close()
})

async function setUp(data: Parameters<Service['make']['invite']>[1] = {}, of = service) {
  const { id, key } = await of.make.organization()
  const assessment = await of.make.assessment(id)
  const invite = await of.make.invite(assessment, data)
  const link = () => of.v1(key).get(`/invites/${invite.id}/link`)
  const open = async () => of.http().get(new URL((await link()).body.link).pathname)
  return { key, assessment, invite, link, open }
}

it('returns the link of the mail, which opens the invitation', async () => {
  const { key, assessment } = await setUp()
  const created = await service
    .v1(key)
    .post('/invites')
    .send({ assessmentId: assessment.id, recipientEmail: 'same-link@example.com' })
  await smtp.waitFor(1)
  const mail = smtp.mails.find(({ envelope }) => envelope.to[0] === 'same-link@example.com')!
  const { status, body } = await service.v1(key).get(`/invites/${created.body.invite.id}/link`)
  const { expiresAt } = created.body.invite
  expect([status, body]).toEqual([200, { link: `https://assess.example.org${linkIn(mail)}`, status: 'pending', expiresAt }])
  expect((await service.http().get(new URL(body.link).pathname)).text).toContain(assessment.name)
})

it.each(INVITE_STATUSES)('returns the link and the status of an invite that is %s', async (status) => {
  const { invite, link, open } = await setUp({ status })
  expect((await link()).body).toEqual({
    link: expect.stringMatching(/^https:\/\/assess\.example\.org\/i\/[\w-]+$/),
    status,
    expiresAt: invite.expiresAt.toISOString(),
  })
  expect((await open()).status).toBe(200)
})

it('returns the status expired from the instant of the expiry', async () => {
  const { link } = await setUp({ expiresAt: service.clock.now() })
  expect((await link()).body.status).toBe('expired')
})

it('returns the same link after a resend, and a new one after a reactivation, which invalidates the first', async () => {
  const { key, invite, link } = await setUp()
  const first = (await link()).body.link
  const operate = (name: string) => service.v1(key).post(`/invites/${invite.id}/${name}`)
  await operate('resend')
  expect((await link()).body.link).toBe(first)
  await operate('revoke')
  await operate('reactivate')
  const second = (await link()).body.link
  const [old, present] = [first, second].map((address) => service.http().get(new URL(address).pathname))
  expect([(await old!).status, (await present!).status]).toEqual([404, 200])
})

it('signs the link with the newest secret', async () => {
  const rotated = await startServiceForTest({ SECRET_KEY: `${'n'.repeat(32)},${SECRET_KEY}` })
  const data = { expiresAt: new Date(rotated.clock.now().getTime() + DAY_MS) }
  const { link, open } = await setUp(data, rotated)
  expect((await open()).status).toBe(200)
  const path = new URL((await link()).body.link).pathname
  expect((await service.http().get(path)).status).toBe(404)
})

it('keeps the link out of caches and logs', async () => {
  const { link } = await setUp()
  const { headers, body } = await link()
  expect(headers['cache-control']).toBe('no-store')
  const log = service.logLines.join('\n')
  expect(log).toContain('/api/v1/invites/:inviteId/link')
  expect(log).not.toContain(body.link.split('/').at(-1))
})
