import type { SMTPServerOptions } from 'smtp-server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { suspendOrganization } from '../../src/domain/erasure/suspension.ts'
import { createMailer } from '../../src/mail/mailer.ts'
import { asEraser } from '../support/erasing.ts'
import { queueMail, waitForState } from '../support/mail.ts'
import { type Service, startServiceForTest } from '../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'

const answerWith = (responseCode: number, text: string) => Object.assign(new Error(text), { responseCode })

async function listen(behavior: SMTPServerOptions): Promise<SmtpListener> {
  const smtp = await startSmtpListener(behavior)
  onTestFinished(() => smtp.close())
  return smtp
}

/** Queues a mail for each of several candidates. @returns their ids. */
async function queueMails(service: Service, count: number, organization?: { id: string }): Promise<string[]> {
  const assessment = await service.make.assessment((organization ?? (await service.make.organization())).id)
  const ids: string[] = []
  for (let i = 0; i < count; i++) ids.push(await queueMail(service, await service.make.invite(assessment)))
  return ids
}

const readOutage = ({ db }: Service) => db.mailOutage.findFirst()
const waitForOutage = (service: Service) => waitUntil('the outage', async () => (await readOutage(service)) ?? undefined)
/** Makes the next probe due now, instead of after half a minute or more. */
const makeProbeDue = ({ db }: Service) => db.$executeRaw`UPDATE mail_outages SET next_probe_at = now() - interval '1 second'`
const waitForProbes = (service: Service, probes: number) =>
  waitUntil('a probe', async () => ((await readOutage(service))?.probes === probes ? true : undefined))

describe('a failing mail server', () => {
  const refusals: [string, (refuses: () => boolean) => SMTPServerOptions, string][] = [
    [
      'refuses the login',
      (refuses) => ({
        authOptional: false,
        allowInsecureAuth: true,
        onAuth: (_auth, _session, callback) => callback(null, refuses() ? {} : { user: 'service' }),
      }),
      'opportunistic',
    ],
    [
      'refuses the sender',
      (refuses) => ({
        onMailFrom: (_address, _session, callback) => callback(refuses() ? answerWith(550, '5.7.1 Sender not owned') : null),
      }),
      'required',
    ],
    [
      'asks for a login',
      (refuses) => ({
        onMailFrom: (_address, _session, callback) => callback(refuses() ? answerWith(530, '5.7.0 Login first') : null),
      }),
      'required',
    ],
    [
      'does not relay, and says so for each recipient',
      (refuses) => ({
        onRcptTo: (_address, _session, callback) => callback(refuses() ? answerWith(554, '5.7.1 Relay access denied') : null),
      }),
      'required',
    ],
  ]

  it.each(refusals)(
    'causes no mail to fail if it %s, gets one probe at a time, and gets all mails after it recovers',
    async (_why, behavior, security) => {
      let tries = 0
      let refuses = true
      const smtp = await listen(
        behavior(() => {
          if (refuses) tries++
          return refuses
        }),
      )
      const url = security === 'opportunistic' ? smtp.url.replace('//', '//user:secret@') : smtp.url
      const service = await startServiceForTest({ SMTP_URL: url, SMTP_SECURITY: security })
      const ids = await queueMails(service, 12)
      await waitForOutage(service)
      const before = tries
      for (let probe = 1; probe <= 3; probe++) {
        await makeProbeDue(service)
        await waitForProbes(service, probe)
        await waitUntil('the attempt', () => (tries === before + probe ? true : undefined))
      }
      // After three such refusals, the service knows that the server refuses the service itself.
      expect(before).toBeLessThanOrEqual(3)
      expect(await service.db.inviteEmail.count({ where: { state: 'queued' } })).toBe(12)
      expect(service.logLines.filter((line) => line.includes('the mail server accepts no mails'))).toHaveLength(1)

      refuses = false
      await makeProbeDue(service)
      for (const id of ids) await waitForState(service, { id }, 'sent')
      expect(smtp.mails).toHaveLength(12)
      expect(await readOutage(service)).toBeNull()
    },
  )
})

describe('an unreachable mail server', () => {
  it('is logged once with its reason, until it is back', async () => {
    const service = await startServiceForTest({ SMTP_URL: 'smtp://127.0.0.1:1' })
    await queueMails(service, 3)
    expect(await waitForOutage(service)).toMatchObject({ about: 'unreachable', reason: expect.stringContaining('ECONNREFUSED') })
    const tried = await service.db.inviteEmail.findMany({ where: { attempts: { gt: 0 } } })
    expect(tried.map(({ state, reason }) => [state, reason.includes('ECONNREFUSED')])).toEqual([['queued', true]])
    expect(await service.metrics.registry.getSingleMetricAsString('mail_outage_seconds')).toMatch(/mail_outage_seconds \d/)
  })

  it('does not keep mails of suspended organizations from being postponed', async () => {
    const service = await startServiceForTest({ SMTP_URL: 'smtp://127.0.0.1:1' })
    await queueMails(service, 1)
    await waitForOutage(service)
    const organization = await service.make.organization()
    await suspendOrganization(asEraser(service, organization), { name: organization.name })
    await queueMails(service, 25, organization)
    const where = { organizationId: organization.id, state: 'queued', delayedUntil: { gt: service.clock.now() } } as const
    await waitUntil('all mails to be postponed', async () =>
      (await service.db.inviteEmail.count({ where })) === 25 ? true : undefined,
    )
  })
})

it('sends every mail to a server that allows two connections, with few attempts to open more', async () => {
  const open = new Set<string>()
  let refused = 0
  const smtp = await listen({
    onConnect({ id }, callback) {
      if (open.size < 2) open.add(id)
      else refused++
      callback(open.has(id) ? null : answerWith(421, '4.7.0 Too many connections'))
    },
    onClose: ({ id }) => void open.delete(id),
  })
  const service = await startServiceForTest({ SMTP_URL: smtp.url })
  const ids = await queueMails(service, 40)
  for (const id of ids) await waitForState(service, { id }, 'sent')
  expect(smtp.mails).toHaveLength(40)
  expect(refused).toBeLessThan(20)
})

it('waits longer for the reply to a mail than for the reply to a command, so that the mail arrives once', async () => {
  const patience = { command: 200, end: 60_000 }
  let hasText = false
  let release = () => {}
  const slow = await listen({
    onData(stream, _session, callback) {
      stream.resume()
      stream.on('end', () => {
        release = callback
        hasText = true
      })
    },
  })
  const mailer = createMailer({ url: slow.url, name: undefined, isOpportunistic: false }, { patience })
  onTestFinished(() => mailer.close())
  const message = {
    messageId: '<one@example.com>',
    from: 'a@example.com',
    to: { name: '', address: 'b@example.com' },
    replyTo: 'a@example.com',
    subject: 'One',
    text: 'One',
    html: '',
    headers: {},
  }
  const sending = mailer.send(message)
  await waitUntil('the end of the text', () => (hasText ? true : undefined))
  // Wait much longer than a command may take.
  await new Promise((resolve) => setTimeout(resolve, 5 * patience.command))
  release()
  expect(await sending).toEqual({ kind: 'taken' })

  const silent = await listen({ onMailFrom: () => {} })
  const impatient = createMailer({ url: silent.url, name: undefined, isOpportunistic: false }, { patience })
  onTestFinished(() => impatient.close())
  expect(await impatient.send(message)).toMatchObject({ kind: 'unable', about: 'unreachable' })
})

it('sends no password or mail unencrypted unless configured to', async () => {
  const logins: string[] = []
  const smtp = await listen({
    allowInsecureAuth: true,
    onAuth({ username }, _session, callback) {
      logins.push(username!)
      callback(null, { user: username })
    },
  })
  const url = smtp.url.replace('//', '//user:secret@')
  const strict = createMailer({ url, name: undefined, isOpportunistic: false })
  onTestFinished(() => strict.close())
  await expect(strict.verify()).rejects.toThrow(/STARTTLS|TLS/i)
  expect(logins).toEqual([])
  const lax = createMailer({ url, name: undefined, isOpportunistic: true })
  onTestFinished(() => lax.close())
  await lax.verify()
  expect(logins).toEqual(['user'])
})
