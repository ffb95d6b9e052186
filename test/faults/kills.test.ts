import type { SMTPServerOptions } from 'smtp-server'
import { expect, it, onTestFinished } from 'vitest'
import { ask, openTestDatabase, type ServiceProcess, startProcess } from '../support/processes.ts'
import { scaled } from '../support/scale.ts'
import { startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'

/**
 * A killed process's mails take up to a minute: its jobs count as lost after 10 s without a heartbeat, and their retry waits 10 to 20 s. A
 * busy machine may take longer.
 */
const RECOVERY_MS = 300_000

async function start(behavior: SMTPServerOptions = {}) {
  const smtp = await startSmtpListener(behavior)
  const database = await openTestDatabase()
  onTestFinished(async () => {
    await database.db.$disconnect()
    await smtp.close()
  })
  const { id, key } = await database.make.organization()
  const { id: assessmentId } = await database.make.assessment(id)
  const launch = () => startProcess({ DATABASE_URL: database.url, SMTP_URL: smtp.url, RATE_LIMIT_STANDARD: '1000000' })
  const invite = (service: ServiceProcess, recipientEmail: string) =>
    ask(service, key, '/invites', { assessmentId, recipientEmail })
  /** Creates invites one after the other, and kills the process during invite number `last`. @returns the acknowledged addresses. */
  const inviteUntilKilled = async (service: ServiceProcess, emails: string[], last: number): Promise<string[]> => {
    const acknowledged: string[] = []
    for (const [i, email] of emails.slice(0, last + 1).entries()) {
      const answering = invite(service, email).catch(() => null)
      if (i === last) setTimeout(() => service.kill('SIGKILL'), Math.random() * 30)
      if ((await answering)?.status === 201) acknowledged.push(email)
    }
    await service.exited
    return acknowledged
  }
  return { smtp, db: database.db, launch, invite, inviteUntilKilled }
}

const recipients = (mails: { envelope: { to: string[] } }[]) => mails.map(({ envelope }) => envelope.to[0]!)

it('delivers the mail of an invite whose process was killed around its 201 response', async () => {
  const { smtp, launch, inviteUntilKilled } = await start()
  const emails = ['before@example.com', 'right-after@example.com']
  const acknowledged = await inviteUntilKilled(await launch(), emails, 1)
  expect(acknowledged).toContain('before@example.com')
  await launch()
  const arrived = () => acknowledged.every((email) => recipients(smtp.mails).includes(email)) || undefined
  await waitUntil('the mails', arrived, RECOVERY_MS)
})

it('loses no acknowledged invite over random kills, and repeats at most one mail per kill, as the same message', async () => {
  const { smtp, launch, inviteUntilKilled } = await start()
  const kills = scaled(2, 50)
  const perLife = scaled(15, 80)
  const acknowledged: string[] = []
  for (let life = 0; life < kills; life++) {
    const emails = Array.from({ length: perLife }, (_, i) => `life-${life}-${i}@example.com`)
    acknowledged.push(...(await inviteUntilKilled(await launch(), emails, Math.floor(Math.random() * perLife))))
  }
  await launch()
  const delivered = () => {
    const arrived = new Set(recipients(smtp.mails))
    return acknowledged.every((email) => arrived.has(email)) || undefined
  }
  await waitUntil('every acknowledged invite', delivered, RECOVERY_MS)
  const ids = new Map<string, Set<string>>()
  for (const { envelope, parsed } of smtp.mails) {
    const email = envelope.to[0]!
    ids.set(email, (ids.get(email) ?? new Set()).add(parsed.messageId!))
  }
  const duplicates = smtp.mails.length - ids.size
  process.stdout.write(`${acknowledged.length} acknowledged, ${kills} kills, 0 lost, ${duplicates} duplicates\n`)
  expect(acknowledged.length).toBeGreaterThan(kills)
  expect([...ids.values()].every((messageIds) => messageIds.size === 1)).toBe(true)
  expect(duplicates).toBeLessThanOrEqual(kills)
})

it('keeps a mail in the state sent if another process has sent it while the first was paused', async () => {
  const replies: ((error?: Error) => void)[] = []
  const { db, launch, invite } = await start({
    onData(stream, _session, callback) {
      stream.resume()
      stream.on('end', () => {
        if (replies.push(callback) > 1) callback()
      })
    },
  })
  const paused = await launch()
  expect((await invite(paused, 'paused@example.com')).status).toBe(201)
  await waitUntil('the mail to be in progress', () => replies[0])
  paused.kill('SIGSTOP')

  const other = await launch()
  await db.$executeRaw`UPDATE pgboss.job SET heartbeat_on = now() - interval '1 minute' WHERE state = 'active'`
  const retryNow = async () =>
    (await db.$executeRaw`UPDATE pgboss.job SET start_after = now() WHERE state = 'retry' AND start_after > now()`) || undefined
  await waitUntil('the job to count as lost', retryNow)
  await other.waitForLog('an invitation was sent')

  paused.kill('SIGCONT')
  replies[0]!(Object.assign(new Error('Too late'), { responseCode: 451 }))
  await paused.waitForLog('an invitation could not be sent yet')
  expect(await db.inviteEmail.findMany()).toMatchObject([{ state: 'sent', attempts: 1, reason: '' }])
})
