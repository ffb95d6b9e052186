import { expect, it, onTestFinished } from 'vitest'
import { openTestDatabase, startProcess } from '../support/processes.ts'
import { AFTER_TWO_DAYS } from '../support/reminders.ts'
import { runSweep } from '../support/run-sweep.ts'
import { scaled } from '../support/scale.ts'
import { startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'

/** A killed process's mails take up to a minute, or longer on a busy machine. */
const RECOVERY_MS = 600_000

it('queues each reminder once over random kills, repeats only the same message, and skips candidates who moved on', async () => {
  const smtp = await startSmtpListener()
  const { db, make, url } = await openTestDatabase()
  onTestFinished(async () => {
    await db.$disconnect()
    await smtp.close()
  })
  const { id: organizationId } = await make.organization()
  const assessment = await make.assessment(organizationId)
  const rule = {
    steps: [{ ...AFTER_TWO_DAYS, states: ['pending'] }],
    quietFrom: 0,
    quietUntil: 0,
    onDaysOff: true,
    activeSince: new Date(0),
  }
  await db.reminderRule.create({ data: { organizationId, id: organizationId, ...rule, updatedAt: new Date() } })
  const sentAt = new Date(Date.now() - 49 * 3_600_000)
  const count = scaled(150, 2_000)
  const invites: { id: string; recipientEmail: string }[] = []
  for (let i = 0; i < count; i++) invites.push(await make.invite(assessment, { sentAt }))

  const kills = scaled(2, 20)
  const moved = new Map<string, number>()
  const mailsTo = (address: string) => smtp.mails.filter(({ envelope }) => envelope.to.includes(address))
  const launch = () => startProcess({ DATABASE_URL: url, SMTP_URL: smtp.url })
  for (let life = 0; life < kills; life++) {
    const service = await launch()
    await runSweep({ databaseUrl: url }, ['queue_reminders'])
    setTimeout(() => service.kill('SIGKILL'), Math.random() * 1_500)
    await service.exited
    // No process runs now. A mail to these candidates after this would be sent without checking their status again.
    for (const { id, recipientEmail } of invites.slice(life * 10, life * 10 + 5)) {
      await db.invite.update({ where: { id }, data: { status: 'accepted', acceptedAt: new Date() } })
      moved.set(recipientEmail, mailsTo(recipientEmail).length)
    }
  }
  await launch()
  await runSweep({ databaseUrl: url }, ['queue_reminders'])
  const isDone = async () => {
    const isWaiting = (await db.inviteEmail.count({ where: { organizationId, state: 'queued' } })) > 0
    const arrived = new Set(smtp.mails.map(({ envelope }) => envelope.to[0]))
    return (
      (!isWaiting && invites.every(({ recipientEmail }) => moved.has(recipientEmail) || arrived.has(recipientEmail))) || undefined
    )
  }
  await waitUntil('all reminders to be sent or skipped', isDone, RECOVERY_MS)

  const rows = await db.inviteEmail.findMany({ where: { organizationId } })
  const perKey = Map.groupBy(rows, ({ inviteId, dedupeKey }) => `${inviteId} ${dedupeKey}`)
  expect([...perKey.values()].every((mails) => mails.length === 1)).toBe(true)
  let repeats = 0
  for (const { recipientEmail } of invites) {
    const mails = mailsTo(recipientEmail)
    expect(new Set(mails.map(({ parsed }) => parsed.messageId)).size).toBeLessThanOrEqual(1)
    const before = moved.get(recipientEmail)
    if (before !== undefined) expect(mails).toHaveLength(before)
    else expect(mails.length).toBeGreaterThan(0)
    repeats += Math.max(0, mails.length - 1)
  }
  process.stdout.write(`${count} reminders, ${kills} kills, ${moved.size} moved on, ${repeats} repeated as the same message\n`)
})
