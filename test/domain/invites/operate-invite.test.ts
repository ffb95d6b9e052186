import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { DAY_MS } from '../../support/factories.ts'
import { linkIn, retryNow, waitForState } from '../../support/mail.ts'
import { type Service, startService, startServiceForTest } from '../../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../../support/smtp.ts'
import { PATIENT, waitUntil } from '../../support/wait-until.ts'

let service: Service
let smtp: SmtpListener
/** Recipients that the mail server rejects, with its replies. */
const rejected = new Map<string, { responseCode: number; message: string }>()
beforeAll(async () => {
  smtp = await startSmtpListener({
    onRcptTo({ address }, _session, callback) {
      const reply = rejected.get(address)
      callback(reply && Object.assign(new Error(reply.message), reply))
    },
  })
  service = await startService({ SMTP_URL: smtp.url })
})
afterAll(async () => {
  await service.close()
  await smtp.close()
})
beforeEach(() => service.clock.advance(60_000))

const LATER = { responseCode: 451, message: 'Greylisted, try again later' }
const NEVER = { responseCode: 550, message: 'No such candidate here' }

type Email = { id: string; status: string; attempts: number; reason: string; createdAt: string; sentAt: string | null }

/** Invites a candidate over HTTP. */
async function invite({
  reply = undefined as typeof LATER | undefined,
  mode = 'live' as 'live' | 'test',
  of = service,
  sendEmail = true,
} = {}) {
  const { id: organizationId, key } = await of.make.organization({ mode })
  const assessment = await of.make.assessment(organizationId)
  const recipientEmail = `${of.make.unique('candidate').replace(' ', '-')}@example.com`
  if (reply) rejected.set(recipientEmail, reply)
  const { body } = await of.v1(key).post('/invites').send({ assessmentId: assessment.id, recipientEmail, sendEmail })
  const { id } = body.invite as { id: string }
  const received = () => smtp.mails.filter(({ envelope }) => envelope.to[0] === recipientEmail)
  return {
    id,
    organizationId,
    key,
    recipientEmail,
    operate: (name: string, fields: object = {}) => of.v1(key).post(`/invites/${id}/${name}`).send(fields),
    emails: async (): Promise<Email[]> => (await of.v1(key).get(`/invites/${id}/emails`)).body.emails,
    /** Waits until the candidate has received this number of mails in total. */
    async mails(count: number) {
      await vi.waitFor(() => expect(received()).toHaveLength(count), PATIENT)
      return received()
    },
    received,
    page: (link: string) => of.http().get(link),
  }
}
type Invited = Awaited<ReturnType<typeof invite>>

/** Waits until the first attempt to send was rejected. @returns the mail. */
async function waitForRetry({ emails }: Invited): Promise<Email> {
  await vi.waitFor(async () => expect((await emails())[0]!.attempts).toBe(1), PATIENT)
  return (await emails())[0]!
}

describe('resend', () => {
  it('sends another mail, a new message with the same link', async () => {
    const { operate, mails } = await invite()
    await mails(1)
    service.clock.advance(1_000)
    expect((await operate('resend')).body.invite).toMatchObject({ status: 'pending' })
    const [first, second] = await mails(2)
    expect(linkIn(second!)).toBe(linkIn(first!))
    expect(second!.parsed.messageId).not.toBe(first!.parsed.messageId)
    expect(second!.parsed.subject).toBe(`Sent again: ${first!.parsed.subject}`)
    expect(second!.parsed.text).toContain('The link is the same as in the earlier email.')
  })

  it("keeps the candidate's progress: the link of a started invite continues", async () => {
    const { id, operate, mails, page } = await invite()
    await service.db.invite.update({ where: { id }, data: { status: 'started' } })
    await operate('resend')
    const [, second] = await mails(2)
    expect((await page(linkIn(second!))).text).toContain('Your assessment has begun')
  })
})

describe('reactivate', () => {
  it('mails a new link that works, and disables the old one', async () => {
    const { operate, mails, page } = await invite()
    await mails(1)
    await operate('revoke')
    expect((await operate('reactivate', { expiresInDays: 2 })).body.invite).toMatchObject({
      status: 'pending',
      sentAt: service.clock.now().toISOString(),
      expiresAt: new Date(service.clock.now().getTime() + 2 * DAY_MS).toISOString(),
      revokedAt: null,
    })
    const both = await mails(2)
    const [old, fresh] = both.map(linkIn)
    expect(both[1]!.parsed.subject).toBe(`Open again: ${both[0]!.parsed.subject}`)
    expect(both[1]!.parsed.text).toContain('The link in earlier emails no longer works')
    expect((await page(fresh!)).text).toContain('You are invited')
    const dead = await page(old!)
    expect([dead.status, dead.type, dead.text]).toEqual([404, 'text/html', expect.stringContaining('This link is not valid')])
  })

  it('sends a normal invitation if none was sent before', async () => {
    const { id, organizationId, operate, emails } = await invite({ sendEmail: false })
    expect(await emails()).toEqual([])
    await operate('revoke')
    expect((await operate('reactivate', { expiresInDays: 2 })).status).toBe(200)
    const kinds = await service.db.inviteEmail.findMany({ where: { organizationId, inviteId: id }, select: { kind: true } })
    expect(kinds).toEqual([{ kind: 'invitation' }])
  })

  it('returns the same response when repeated, and rejects another number of days for a pending invite', async () => {
    const { id, operate, emails } = await invite()
    await operate('revoke')
    const { body } = await operate('reactivate', { expiresInDays: 2 })
    service.clock.advance(60_000)
    const repeated = await operate('reactivate', { expiresInDays: 2 })
    expect([repeated.status, repeated.body]).toEqual([200, body])
    const other = await operate('reactivate', { expiresInDays: 14 })
    expect([other.status, other.headers['x-error-code'], other.body]).toEqual([
      409,
      'move_not_allowed',
      { error: 'The invite is pending and can not be reactivated' },
    ])
    const { expiresAt } = await service.db.invite.findUniqueOrThrow({ where: { id } })
    expect([expiresAt.toISOString(), (await emails()).length]).toEqual([body.invite.expiresAt, 2])
  })

  it('ignores forms of the old page, whose link stays disabled', async () => {
    const { id, operate, mails, page } = await invite()
    const link = linkIn((await mails(1))[0]!)
    const proof = /name="proof" value="([^"]+)"/.exec((await page(link)).text)![1]
    await operate('revoke')
    await operate('reactivate')
    const before = await service.db.invite.findUniqueOrThrow({ where: { id } })
    for (const action of ['accept', 'decline']) {
      const answer = await service.http().post(`${link}/${action}`).type('form').send({ proof }).redirects(1)
      expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('This link is not valid')])
    }
    expect(await service.db.invite.findUniqueOrThrow({ where: { id } })).toEqual(before)
  })

  it('holds back a waiting mail with the old link', async () => {
    const invited = await invite({ reply: LATER })
    const waiting = await waitForRetry(invited)
    rejected.delete(invited.recipientEmail)
    await invited.operate('revoke')
    service.clock.advance(1_000)
    await invited.operate('reactivate')
    const [sent] = await invited.mails(1)
    await retryNow(service, waiting.id)
    const { reason } = await waitForState(service, { id: waiting.id }, 'failed')
    expect(reason).toBe('Not sent: the invite has been reactivated with a new link.')
    expect(invited.received()).toEqual([sent])
    expect((await invited.page(linkIn(sent!))).status).toBe(200)
  })
})

describe('revoke', () => {
  it('holds back a mail that is still waiting', async () => {
    const invited = await invite({ reply: LATER })
    const { id } = await waitForRetry(invited)
    rejected.delete(invited.recipientEmail)
    await invited.operate('revoke')
    await retryNow(service, id)
    await waitForState(service, { id }, 'failed')
    expect(await invited.emails()).toMatchObject([
      { id, status: 'failed', reason: 'Not sent: the invite is revoked.', sentAt: null },
    ])
    expect(invited.received()).toEqual([])
  })

  it('keeps the link, whose page shows the withdrawal and whom to ask', async () => {
    const { operate, mails, page } = await invite()
    const [mail] = await mails(1)
    await operate('revoke')
    const { status, text } = await page(linkIn(mail!))
    expect([status, text]).toEqual([
      200,
      expect.stringMatching(/has been withdrawn[\s\S]*Questions\? Reply to the invitation email/),
    ])
  })
})

describe('extend', () => {
  it('counts the days from now, and keeps the link and the mails', async () => {
    const { operate, mails, page, emails } = await invite()
    const [mail] = await mails(1)
    const { body } = await operate('extend', { expiresInDays: 45 })
    const expiresAt = new Date(service.clock.now().getTime() + 45 * DAY_MS)
    expect(body.invite).toMatchObject({ status: 'pending', expiresAt: expiresAt.toISOString() })
    const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' }).format(expiresAt)
    expect((await page(linkIn(mail!))).text).toContain(day)
    expect(await emails()).toHaveLength(1)
  })

  it('rejects a shorter period with 400, naming the current expiry, and changes nothing', async () => {
    const { id, operate } = await invite()
    const before = await service.db.invite.findUniqueOrThrow({ where: { id } })
    const present = before.expiresAt.toISOString()
    const { status, body } = await operate('extend', { expiresInDays: 29 })
    const error = `expiresInDays must not lead to an earlier expiry than the present one, ${present}`
    expect([status, body]).toEqual([400, { error }])
    expect(await service.db.invite.findUniqueOrThrow({ where: { id } })).toEqual(before)
    expect((await operate('extend', { expiresInDays: 30 })).body.invite.expiresAt).toBe(present)
  })
})

describe('GET /invites/{id}/emails', () => {
  it('shows an accepted mail as sent, with the time', async () => {
    const invited = await invite()
    await waitForState(service, { inviteId: invited.id }, 'sent')
    const now = service.clock.now().toISOString()
    expect(await invited.emails()).toEqual([
      { id: expect.stringMatching(/^[0-9a-f-]{36}$/), status: 'sent', attempts: 1, reason: '', createdAt: now, sentAt: now },
    ])
  })

  it("shows a permanently refused mail as failed, with the server's reply, and the invite stays pending", async () => {
    const { id, key, emails } = await invite({ reply: NEVER })
    await waitForState(service, { inviteId: id }, 'failed')
    expect(await emails()).toMatchObject([
      { status: 'failed', attempts: 1, reason: expect.stringMatching(/^550 .*No such candidate here/), sentAt: null },
    ])
    expect((await service.v1(key).get(`/invites/${id}`)).body.status).toBe('pending')
  })

  it("shows a temporarily refused mail as queued, with the server's reply", async () => {
    const invited = await invite({ reply: LATER })
    expect(await waitForRetry(invited)).toMatchObject({
      status: 'queued',
      reason: expect.stringMatching(/451 .*Greylisted, try again later/),
      sentAt: null,
    })
  })

  it('lists every sending, newest first, or in the requested order and pages', async () => {
    const { id, key, operate, mails } = await invite()
    for (const count of [1, 2, 3]) {
      await mails(count)
      service.clock.advance(60_000)
      if (count < 3) await operate('resend')
    }
    const list = async (query: string) => (await service.v1(key).get(`/invites/${id}/emails?${query}`)).body
    // A mail arrives before the service records it as sent.
    const { emails, pagination } = await waitUntil('the record of the last', async () => {
      const listed = await list('')
      return listed.emails.every(({ status }: Email) => status === 'sent') ? listed : undefined
    })
    const times = emails.map(({ createdAt }: Email) => createdAt)
    expect([times, pagination]).toEqual([times.toSorted().toReversed(), { page: 1, limit: 20, total: 3, totalPages: 1 }])
    expect((await list('sort=created_at&order=asc')).emails).toEqual(emails.toReversed())
    expect(await list('limit=2&page=2')).toEqual({
      emails: [emails[2]],
      pagination: { page: 2, limit: 2, total: 3, totalPages: 2 },
    })
  })
})

describe('the mail of a test invite', () => {
  it("is captured and never sent, and can't be resent by a live key", async () => {
    const { id, organizationId, emails, received } = await invite({ mode: 'test' })
    await waitForState(service, { inviteId: id }, 'captured')
    const live = await createApiKey(service.system, { organizationId, name: 'Live', mode: 'live' })
    service.clock.advance(1_000)
    expect((await service.v1(live.key).post(`/invites/${id}/resend`)).status).toBe(404)
    expect(await emails()).toMatchObject([{ status: 'captured' }])
    expect(received()).toEqual([])
  })

  it('is delivered like any other when TEST_MAIL=deliver', async () => {
    const delivering = await startServiceForTest({ SMTP_URL: smtp.url, TEST_MAIL: 'deliver' })
    const { id, mails } = await invite({ mode: 'test', of: delivering })
    expect(await mails(1)).toHaveLength(1)
    await waitForState(delivering, { inviteId: id }, 'sent')
  })
})
