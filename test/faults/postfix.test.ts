import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hasPostfix, startPostfix } from '../support/postfix.ts'
import { ask, openTestDatabase, startProcess } from '../support/processes.ts'
import { LONG } from '../support/scale.ts'
import { startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'

/** Starts the mail server that Postfix relays to. */
async function startTarget() {
  const target = await startSmtpListener()
  onTestFinished(() => target.close())
  return { target, port: Number(new URL(target.url).port) }
}

async function startInviting(smtpUrl: string) {
  const database = await openTestDatabase()
  onTestFinished(() => database.db.$disconnect())
  const organization = await database.make.organization()
  const { id: assessmentId } = await database.make.assessment(organization.id)
  const service = await startProcess({ DATABASE_URL: database.url, SMTP_URL: smtpUrl, RATE_LIMIT_STANDARD: '1000000' })
  const invite = async (recipientEmail: string) =>
    expect((await ask(service, organization.key, '/invites', { assessmentId, recipientEmail })).status).toBe(201)
  const count = (state: 'queued' | 'sent' | 'failed') => database.db.inviteEmail.count({ where: { state } })
  return { ...database, invite, count }
}

const SLOW_MS = 25_000

describe.runIf(LONG && hasPostfix)('a real Postfix', () => {
  it('receives each mail once even if it filters each text for 25 s', async () => {
    const { target, port } = await startTarget()
    const postfix = await startPostfix(port, async (request) => {
      if (request.includes('protocol_state=END-OF-MESSAGE')) await sleep(SLOW_MS)
      return 'DUNNO'
    })
    const { invite, count } = await startInviting(postfix.url)
    const emails = Array.from({ length: 12 }, (_, i) => `filtered-${i}@example.com`)
    for (const email of emails) await invite(email)
    await waitUntil('all mails', async () => ((await count('sent')) === emails.length ? true : undefined), 400_000)
    await target.waitFor(emails.length)
    expect(target.mails.map(({ envelope }) => envelope.to[0]).sort()).toEqual(emails.toSorted())
  })

  it('gets one mail at a time while it refuses the service, and causes no mail to fail', async () => {
    const { target, port } = await startTarget()
    let refuses = true
    let tries = 0
    const postfix = await startPostfix(port, async () => {
      if (refuses) tries++
      return refuses ? 'REJECT' : 'DUNNO'
    })
    const { db, invite, count } = await startInviting(postfix.url)
    const emails = Array.from({ length: 30 }, (_, i) => `refused-${i}@example.com`)
    for (const email of emails) await invite(email)
    const outage = () => db.mailOutage.findFirst()
    await waitUntil('the outage', async () => (await outage()) ?? undefined)
    const before = tries
    await db.$executeRaw`UPDATE mail_outages SET next_probe_at = now()`
    await waitUntil('a probe', () => (tries > before ? true : undefined))
    expect([before, tries]).toEqual([3, 4])
    expect([await count('failed'), await count('queued')]).toEqual([0, emails.length])

    refuses = false
    await db.$executeRaw`UPDATE mail_outages SET next_probe_at = now()`
    await waitUntil('all mails', async () => ((await count('sent')) === emails.length ? true : undefined))
    await target.waitFor(emails.length)
    expect(target.mails).toHaveLength(emails.length)
  })
})
