import { expect, it, onTestFinished } from 'vitest'
import { hasDovecot, startDovecot } from '../support/dovecot.ts'
import { hasExim, startExim } from '../support/exim.ts'
import { queueMail, waitForState } from '../support/mail.ts'
import { type BounceMailbox, hasPostfix, startPostfix } from '../support/postfix.ts'
import { runSweep } from '../support/run-sweep.ts'
import { startServiceForTest } from '../support/service.ts'
import { startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'

// Tests bounce messages of real mail servers in a real mailbox. On Debian, Postfix and Exim can't be installed at the same time: install
// dovecot-imapd and one of them, run this test, install the other, and run it again.

const DOMAIN = 'bounces.example.com'
const SERVERS: [name: string, isThere: boolean, start: (port: number, to: BounceMailbox) => Promise<{ url: string }>][] = [
  ['Postfix', hasPostfix, (port, to) => startPostfix(port, async () => 'DUNNO', to)],
  ['Exim', hasExim, startExim],
]
/** Responses of the recipient's server, by recipient. */
const REFUSALS = [
  ['gone', 550, '5.1.1 There is no such mailbox', { bounce: 'address', bounceStatus: '5.1.1' }],
  ['full', 552, '5.2.2 The mailbox is full', { bounce: 'temporary', bounceStatus: '5.2.2' }],
  ['unwanted', 550, '5.7.1 Not from you', { bounce: 'blocked', bounceStatus: '5.7.1' }],
  ['terse', 550, 'No.', { bounce: 'blocked' }],
] as const

for (const [name, isThere, start] of SERVERS)
  it.runIf(isThere && hasDovecot)(`reads bounce messages of ${name} from a Dovecot mailbox`, async () => {
    const target = await startSmtpListener({
      onRcptTo({ address }, _session, done) {
        const [, responseCode, words] = REFUSALS.find(([who]) => address.startsWith(`${who}@`))!
        done(Object.assign(new Error(words), { responseCode }))
      },
    })
    onTestFinished(() => target.close())
    const dovecot = await startDovecot()
    const server = await start(Number(new URL(target.url).port), { domain: DOMAIN, ...dovecot })
    const service = await startServiceForTest({
      ...{ SMTP_URL: server.url, MAIL_BOUNCE_DOMAIN: DOMAIN, BOUNCE_IMAP_URL: dovecot.url() },
    })
    const { id: organizationId } = await service.make.organization()
    const assessment = await service.make.assessment(organizationId)
    const sent = []
    for (const [who, , words, expected] of REFUSALS) {
      const id = await queueMail(service, await service.make.invite(assessment, { recipientEmail: `${who}@example.org` }))
      await waitForState(service, { id }, 'sent')
      sent.push({ id, words, expected })
    }
    await waitUntil('all bounce messages', async () => ((await dovecot.count('INBOX')).unread === sent.length ? true : undefined))
    await runSweep(service, ['fetch_bounces'])
    for (const { id, words, expected } of sent) {
      const read = () => service.db.inviteEmail.findUniqueOrThrow({ where: { id } })
      const email = await waitUntil('the bounce message to be read', async () => ((await read()).bouncedAt ? read() : undefined))
      expect(email).toMatchObject({ state: 'sent', ...expected, bounceReason: expect.stringContaining(words) })
    }
    expect(await dovecot.count('INBOX')).toEqual({ all: sent.length, unread: 0 })
  })
