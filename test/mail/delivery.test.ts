import type { SMTPServerOptions, SMTPServerSession } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { queueInvitationEmail, retryFailedEmail } from '../../src/domain/invites/emails.ts'
import { inTransaction } from '../../src/domain/transaction.ts'
import { queueMail, retryNow, waitForState } from '../support/mail.ts'
import { type Service, startService } from '../support/service.ts'
import { itSlow } from '../support/slow.ts'
import { type SmtpListener, startSmtpListener } from '../support/smtp.ts'
import { PATIENT } from '../support/wait-until.ts'

type Stage = 'recipient' | 'content'
/** Errors of the mail server by address, with the number of times it returns them. It accepts all other mails. */
const refusals = new Map<string, { at: Stage; times: number; error: Error }>()
/** Message-IDs of all mails that the server received, accepted or not, by address. */
const offered = new Map<string, string[]>()

function refusalOf(address: string, stage: Stage): Error | null {
  const refusal = refusals.get(address)
  return refusal?.at === stage && refusal.times-- > 0 ? refusal.error : null
}

const mailServer: SMTPServerOptions = {
  onRcptTo: ({ address }, _session, callback) => callback(refusalOf(address, 'recipient')),
  onData(stream, { envelope }: SMTPServerSession, callback) {
    const { address } = envelope.rcptTo[0]!
    const chunks: Buffer[] = []
    stream.on('data', (chunk) => chunks.push(chunk))
    stream.on('end', () => {
      const messageId = /^Message-ID:\s*(\S+)/im.exec(Buffer.concat(chunks).toString())![1]!
      offered.set(address, [...(offered.get(address) ?? []), messageId])
      callback(refusalOf(address, 'content'))
    })
  },
}

let service: Service
let smtp: SmtpListener
beforeAll(async () => {
  smtp = await startSmtpListener(mailServer)
  service = await startService({ SMTP_URL: smtp.url })
})
afterAll(async () => {
  await service.close()
  await smtp.close()
})

async function makeInvite({ make }: Service, data: object = {}) {
  const { id } = await make.organization()
  const invite = await make.invite(await make.assessment(id), data)
  return { invite, offers: () => offered.get(invite.recipientEmail) ?? [] }
}

const answerWith = (responseCode: number, text: string) => Object.assign(new Error(text), { responseCode })
const readJob = async ({ db }: Service, emailId: string) => {
  const rows = await db.$queryRaw<{ state: string; retryCount: number }[]>`
    SELECT state, retry_count AS "retryCount" FROM pgboss.job WHERE name = 'invitation-email' AND data->>'emailId' = ${emailId}`
  return rows[0]
}
const readEmail = ({ db }: Service, id: string) => db.inviteEmail.findUniqueOrThrow({ where: { id } })
const waitForJob = (of: Service, emailId: string, state: string) =>
  vi.waitFor(async () => expect(await readJob(of, emailId)).toMatchObject({ state }), PATIENT)

describe('an accepted mail', () => {
  it('is sent once, and its record has the time', async () => {
    const { invite, offers } = await makeInvite(service)
    const email = await waitForState(service, { id: await queueMail(service, invite) }, 'sent')
    expect(email).toMatchObject({ attempts: 1, reason: '', sentAt: service.clock.now() })
    await waitForJob(service, email.id, 'completed')
    expect(offers()).toHaveLength(1)
  })

  it('is the same message at its second attempt after a temporary refusal', async () => {
    const { invite, offers } = await makeInvite(service)
    refusals.set(invite.recipientEmail, { at: 'content', times: 1, error: answerWith(451, 'Greylisted, try again later') })
    const id = await queueMail(service, invite)
    await waitForJob(service, id, 'retry')
    const reason = expect.stringContaining('Greylisted, try again later')
    expect(await readEmail(service, id)).toMatchObject({ state: 'queued', attempts: 1, reason, sentAt: null })

    await retryNow(service, id)
    expect(await waitForState(service, { id }, 'sent')).toMatchObject({ attempts: 2, reason: '' })
    expect(offers()).toHaveLength(2)
    expect(offers()[1]).toBe(offers()[0])
  })

  it('is a new message each time it is resent explicitly', async () => {
    const { invite, offers } = await makeInvite(service)
    for (let i = 0; i < 2; i++) await waitForState(service, { id: await queueMail(service, invite) }, 'sent')
    expect(new Set(offers()).size).toBe(2)
  })
})

describe('a permanently refused mail', () => {
  const expectFailed = async (of: Service, id: string) => {
    const email = await waitForState(of, { id }, 'failed')
    const reason = expect.stringMatching(/^550 .*No such candidate here/)
    expect(email).toMatchObject({ attempts: 1, failure: 'refused', reason, sentAt: null })
    await waitForJob(of, id, 'completed')
    expect(await readJob(of, id)).toMatchObject({ retryCount: 0 })
    expect(of.logLines.filter((line) => line.includes(id) && line.includes('No such candidate here'))).toHaveLength(1)
  }

  it.each(['recipient', 'content'] as const)("fails with the server's reason, and isn't retried (%s)", async (at) => {
    const { invite } = await makeInvite(service)
    refusals.set(invite.recipientEmail, { at, times: 9, error: answerWith(550, 'No such candidate here') })
    await expectFailed(service, await queueMail(service, invite))
  })
})

describe('an undeliverable mail', () => {
  it('fails with the last reason once its retries are used up', async () => {
    const { invite } = await makeInvite(service)
    refusals.set(invite.recipientEmail, { at: 'recipient', times: 9, error: answerWith(452, 'Mailbox full') })
    const id = await queueMail(service, invite)
    await waitForJob(service, id, 'retry')
    await service.db.$executeRaw`UPDATE pgboss.job SET retry_limit = retry_count + 1 WHERE data->>'emailId' = ${id}`
    await retryNow(service, id)
    expect(await waitForState(service, { id }, 'failed')).toMatchObject({
      attempts: 2,
      failure: 'given_up',
      reason: expect.stringContaining('Mailbox full'),
    })
  })

  it('is sent if it is queued again', async () => {
    const { invite, offers } = await makeInvite(service)
    refusals.set(invite.recipientEmail, { at: 'content', times: 1, error: answerWith(550, 'Not today') })
    const { id } = await waitForState(service, { id: await queueMail(service, invite) }, 'failed')
    expect(await retryFailedEmail(service.system, id)).toBe(1)
    expect(await waitForState(service, { id }, 'sent')).toMatchObject({ attempts: 2, failure: null, reason: '' })
    expect(offers()[1]).toBe(offers()[0])
    expect(await retryFailedEmail(service.system, id)).toBe(0)
  })
})

describe('a mail with an outdated link', () => {
  it.each(['revoked', 'expired', 'completed'] as const)("isn't sent if the invite is %s", async (status) => {
    const { invite, offers } = await makeInvite(service, { status })
    const email = await waitForState(service, { id: await queueMail(service, invite) }, 'failed')
    expect([email.failure, email.reason, offers()]).toEqual(['obsolete', `Not sent: the invite is ${status}.`, []])
  })

  it("isn't sent if the invite has expired while the mail was waiting", async () => {
    const expiresAt = new Date(service.clock.now().getTime() + 1_000)
    const { invite, offers } = await makeInvite(service, { expiresAt })
    refusals.set(invite.recipientEmail, { at: 'content', times: 1, error: answerWith(451, 'Later') })
    const id = await queueMail(service, invite)
    await waitForJob(service, id, 'retry')
    service.clock.set(expiresAt)
    await retryNow(service, id)
    expect((await waitForState(service, { id }, 'failed')).reason).toBe('Not sent: the invite is expired.')
    expect(offers()).toHaveLength(1)
  })

  it("isn't sent if a newer link has replaced it", async () => {
    const { invite, offers } = await makeInvite(service, { linkVersion: 2 })
    await waitForState(service, { id: await queueMail(service, { ...invite, linkVersion: 1 }) }, 'failed')
    expect(offers()).toEqual([])
  })
})

describe('a transaction that is rolled back', () => {
  it('queues no mail', async () => {
    const { invite, offers } = await makeInvite(service)
    const countJobs = () => service.db.$queryRaw`SELECT count(*)::int AS count FROM pgboss.job`
    const before = await countJobs()
    const rolledBack = inTransaction(service.system, async (ctx) => {
      await queueInvitationEmail(ctx, invite)
      throw new Error('rolled back')
    })
    await expect(rolledBack).rejects.toThrow('rolled back')
    expect(await service.db.inviteEmail.count({ where: { inviteId: invite.id } })).toBe(0)
    expect(await countJobs()).toEqual(before)

    const id = await queueMail(service, invite)
    await waitForState(service, { id }, 'sent')
    expect(offers()).toEqual([expect.stringContaining(id)])
  })
})

describe('a test key', () => {
  it('has its mail captured, never sent', async () => {
    const { id, key } = await service.make.organization({ mode: 'test' })
    const { id: assessmentId } = await service.make.assessment(id)
    const { body } = await service.v1(key).post('/invites').send({ assessmentId, recipientEmail: 'sandbox@example.com' })
    expect(await waitForState(service, { inviteId: body.invite.id }, 'captured')).toMatchObject({ attempts: 1, reason: '' })
    expect(offered.has('sandbox@example.com')).toBe(false)
  })
})

itSlow('sends as many mails at a time as SMTP_CONNECTIONS once the server has accepted some', async () => {
  const connections = 60
  const held: (() => void)[] = []
  let isHolding = false
  const patient = await startSmtpListener({
    onData(stream, _session, callback) {
      stream.resume()
      stream.on('end', () => {
        if (!isHolding) return callback()
        held.push(callback)
      })
    },
  })
  const own = await startService({ SMTP_URL: patient.url, SMTP_CONNECTIONS: String(connections) })
  const assessment = await own.make.assessment((await own.make.organization()).id)
  const queue = async (count: number) => {
    const invites = await Promise.all(Array.from({ length: count }, () => own.make.invite(assessment)))
    await inTransaction(own.system, async (inside) => {
      for (const invite of invites) await queueInvitationEmail(inside, invite)
    })
  }
  const sent = () => own.db.inviteEmail.count({ where: { state: 'sent' } })
  await queue(20)
  await vi.waitFor(async () => expect(await sent()).toBe(20), PATIENT)
  isHolding = true
  await queue(2 * connections)
  await vi.waitFor(() => expect(held.length).toBe(connections), PATIENT)
  isHolding = false
  for (const take of held) take()
  await vi.waitFor(async () => expect(await sent()).toBe(20 + 2 * connections), PATIENT)
  expect(held.length).toBe(connections)
  await own.close()
  await patient.close()
})
