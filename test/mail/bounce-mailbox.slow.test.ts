import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Log } from '../../src/domain/ports/log-events.ts'
import { countUnread, createBounceMailbox } from '../../src/mail/events/bounce-mailbox.ts'
import { loadConfig } from '../../src/runtime/config.ts'
import { runCli } from '../cli/run-cli.ts'
import { type Dovecot, hasDovecot, MAILBOX_PASSWORD, startDovecot } from '../support/dovecot.ts'
import { readFeed } from '../support/events.ts'
import { queueMail, waitForState } from '../support/mail.ts'
import { runSweep } from '../support/run-sweep.ts'
import { SECRET_KEY, type Service, startServiceForTest } from '../support/service.ts'
import { startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'

const fixture = (name: string) => readFileSync(path.join(import.meta.dirname, 'fixtures', name), 'utf8')
const DOMAIN = 'bounces.example.com'

async function start(url: string) {
  const smtp = await startSmtpListener()
  onTestFinished(() => smtp.close())
  const service = await startServiceForTest({ SMTP_URL: smtp.url, MAIL_BOUNCE_DOMAIN: DOMAIN, BOUNCE_IMAP_URL: url })
  /** Sends a mail and prepares its bounce message. */
  const send = async (name = 'postfix.eml') => {
    const { id: organizationId, key } = await service.make.organization()
    const invite = await service.make.invite(await service.make.assessment(organizationId))
    const id = await queueMail(service, invite)
    await waitForState(service, { id }, 'sent')
    const { envelope } = smtp.mails.find(({ envelope }) => envelope.to.includes(invite.recipientEmail))!
    const notice = fixture(name).replaceAll('{{recipient}}', envelope.from).replaceAll('{{id}}', id)
    const read = () => service.db.inviteEmail.findUniqueOrThrow({ where: { id } })
    const isKept = async () =>
      (await service.db.mailEvent.count({ where: { emailId: id, processedAt: { not: null } } })) || undefined
    return { id, key, notice, read, isKept, recipient: envelope.from }
  }
  return { service, send }
}
const fetchBounces = (service: Service) => runSweep(service, ['fetch_bounces'])
const NO_LOG: Log = { info() {}, warn() {}, error() {} }
/** The mailbox as a newly started process opens it. */
const mailboxAt = (dovecot: Dovecot, { domain = DOMAIN, log = NO_LOG } = {}) =>
  createBounceMailbox(addressOf(dovecot.url()), { domain, log })
const addressOf = (url: string) => loadConfig({ MAIL_BOUNCE_DOMAIN: DOMAIN, BOUNCE_IMAP_URL: url, SECRET_KEY }).bounces.mailbox!

describe.runIf(hasDovecot)('a bounce mailbox', () => {
  it('is fetched: each bounce is stored once and marked as read, and other mail is left unread', async () => {
    const dovecot = await startDovecot()
    const { service, send } = await start(dovecot.url('Bounces'))
    const [one, other] = [await send(), await send('exim.eml')]
    await dovecot.deliver('Bounces', one.notice)
    await dovecot.deliver('Bounces', 'From: a@example.com\nTo: b@example.com\nSubject: hello\n\nHello\n')
    await dovecot.deliver(
      'Bounces',
      one.notice.replace(/bounce\+(.)/g, (_, digit) => `bounce+${digit === '0' ? '1' : '0'}`),
    )
    await dovecot.deliver('Bounces', other.notice)
    await dovecot.deliver('INBOX', one.notice)
    await fetchBounces(service)
    for (const { isKept } of [one, other]) await waitUntil('the notice to be read', isKept)
    expect(await one.read()).toMatchObject({ bounce: 'address', bounceStatus: '5.1.1' })
    expect(await other.read()).toMatchObject({ bounce: 'temporary', bounceStatus: '5.2.2' })
    await waitUntil('both to be marked', async () => ((await dovecot.count('Bounces')).unread === 2 ? true : undefined))
    expect(await dovecot.count('INBOX')).toEqual({ all: 1, unread: 1 })

    await dovecot.forget('Bounces')
    expect(await countUnread(addressOf(dovecot.url('Bounces')))).toBe(4)
    await fetchBounces(service)
    expect(await service.db.mailEvent.count()).toBe(2)
    const { events } = await readFeed(service, one.key, { type: 'email.bounced' })
    expect(events).toHaveLength(1)
  })

  it("is fetched from the last position on: a mail that couldn't be stored stays unread, and is first the next time", async () => {
    const dovecot = await startDovecot()
    for (let i = 0; i < 45; i++) await dovecot.deliver('INBOX', `Subject: ${i}\n\n${'x'.repeat(300_000)}\n`)
    const mailbox = mailboxAt(dovecot)
    const seen: string[] = []
    const take = (until: number) => async (start: Buffer) => {
      if (seen.length === until) throw new Error('the database is away')
      expect(start.length).toBeLessThanOrEqual(256 * 1024)
      seen.push(/Subject: (\d+)/.exec(start.toString())![1]!)
      return true
    }
    await expect(mailbox.processUnread(take(30), () => false)).rejects.toThrow('the database is away')
    expect((await dovecot.count('INBOX')).unread).toBe(25)
    seen.length = 0
    expect(await mailbox.processUnread(take(Number.POSITIVE_INFINITY), () => false)).toBe(25)
    expect(seen.slice(0, 2)).toEqual(['20', '21'])
    expect(await dovecot.count('INBOX')).toEqual({ all: 45, unread: 0 })
    expect(await mailbox.processUnread(take(0), () => false)).toBe(0)
  })

  it('is fetched once if it belongs to another service, by any process', async () => {
    const dovecot = await startDovecot()
    await dovecot.deliver('INBOX', 'Subject: one\n\n1\n')
    let looks = 0
    const take = async () => {
      looks++
      return false
    }
    const lookAgain = (domain?: string) => mailboxAt(dovecot, { domain }).processUnread(take, () => false)
    for (let i = 0; i < 3; i++) await lookAgain()
    expect(looks).toBe(1)
    await dovecot.deliver('INBOX', 'Subject: two\n\n2\n')
    await lookAgain()
    expect(looks).toBe(2)
    await lookAgain('elsewhere.example.com')
    expect(looks).toBe(4)
    expect((await dovecot.count('INBOX')).unread).toBe(2)
  })

  it("skips a mail that can't be fetched, and logs it once", async () => {
    const dovecot = await startDovecot()
    for (let i = 1; i <= 3; i++) await dovecot.deliver('INBOX', `Subject: ${i}\n\nmail ${i}\n`)
    await dovecot.breakMail('mail 2')
    const warnings: unknown[] = []
    const log = { ...NO_LOG, warn: (fields: object) => warnings.push(fields) }
    const mailbox = mailboxAt(dovecot, { log })
    const seen: string[] = []
    const take = async (start: Buffer) => {
      seen.push(/Subject: (\d+)/.exec(start.toString())![1]!)
      return true
    }
    expect(await mailbox.processUnread(take, () => false)).toBe(2)
    await dovecot.deliver('INBOX', 'Subject: 4\n\nmail 4\n')
    expect(await mailbox.processUnread(take, () => false)).toBe(1)
    expect([seen, warnings]).toEqual([['1', '3', '4'], [{ uid: 2 }]])
    expect((await dovecot.count('INBOX')).unread).toBe(1)
  })

  it('can be reached with STARTTLS, but not without encryption or with an untrusted certificate', async () => {
    const dovecot = await startDovecot()
    await dovecot.deliver('INBOX', 'Subject: one\n\n1\n')
    expect(await countUnread(addressOf(dovecot.url('INBOX', 'imap')))).toBe(1)
    const checked = addressOf(dovecot.url().replace(/\?.*/, ''))
    await expect(countUnread(checked)).rejects.toThrow(/certificate/i)
  })

  it('is reported by log and doctor without its password while it does not respond, and fetched afterwards', async () => {
    const dovecot = await startDovecot()
    const { service, send } = await start(dovecot.url())
    const { notice, isKept } = await send()
    await dovecot.deliver('INBOX', notice)
    await dovecot.stop()
    await fetchBounces(service)
    const line = await waitUntil('the failure', () => service.logLines.find((one) => one.includes('"part":"fetch_bounces"')))
    expect(line).toContain('ECONNREFUSED')
    const examine = async (url: string) => {
      const env = { DATABASE_URL: service.databaseUrl, SMTP_URL: 'smtp://127.0.0.1:1', MAIL_BOUNCE_DOMAIN: DOMAIN }
      const { stdout } = await runCli(['doctor', '--json'], { ...env, BOUNCE_IMAP_URL: url })
      return JSON.parse(stdout).checks.find(({ name }: { name: string }) => name === 'bounces')
    }
    expect(await examine(dovecot.url())).toEqual({
      name: 'bounces',
      problem: true,
      message: expect.stringContaining('BOUNCE_IMAP_URL'),
    })
    await dovecot.start()
    expect(await examine(dovecot.url())).toEqual({
      name: 'bounces',
      problem: false,
      message: '127.0.0.1 answers; unread in INBOX: 1',
    })
    const refused = await examine(dovecot.url('INBOX', 'imaps', `not ${MAILBOX_PASSWORD}`))
    expect(refused).toMatchObject({ problem: true, message: expect.stringMatching(/authentication failed/i) })
    expect(await examine(dovecot.url('Elsewhere'))).toMatchObject({
      problem: true,
      message: expect.stringContaining('Elsewhere'),
    })
    await fetchBounces(service)
    await waitUntil('the notice to be read', isKept)
    const said = [...service.logLines, JSON.stringify(refused)].join('\n')
    for (const password of [MAILBOX_PASSWORD, encodeURIComponent(MAILBOX_PASSWORD)]) expect(said).not.toContain(password)
  })
})
