import { setTimeout as sleep } from 'node:timers/promises'
import type { SMTPServerOptions } from 'smtp-server'
import { expect, it, onTestFinished } from 'vitest'
import { createDb, type Db, openPool } from '../../src/db/client.ts'
import { migrate } from '../../src/db/migrate.ts'
import { factories, systemOn } from '../support/factories.ts'
import { startPostgres } from '../support/postgres.ts'
import { ask, startProcess } from '../support/processes.ts'
import { scaled } from '../support/scale.ts'
import { startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'

/** Longer than the time after which a job without a heartbeat counts as lost. */
const LONG_OUTAGE_MS = 11_000

/** Starts a new PostgreSQL and two processes that send mail. One of them also answers requests. */
async function start(behavior: SMTPServerOptions) {
  const postgres = await startPostgres()
  await migrate(postgres.url)
  const db = createDb(openPool(postgres.url, { max: 2 }))
  const make = factories(systemOn(db))
  const organization = await make.organization()
  const { id: assessmentId } = await make.assessment(organization.id)
  const smtp = await startSmtpListener(behavior)
  const env = { DATABASE_URL: postgres.url, SMTP_URL: smtp.url, RATE_LIMIT_STANDARD: '1000000' }
  const service = await startProcess(env)
  const worker = await startProcess({ ...env, ROLE: 'worker' })
  onTestFinished(async () => {
    for (const process of [service, worker]) process.kill('SIGKILL')
    await Promise.all([service.exited, worker.exited])
    await smtp.close()
    await db.$disconnect()
    await postgres.close()
  })
  const invite = async (recipientEmail: string): Promise<number> =>
    (await ask(service, organization.key, '/invites', { assessmentId, recipientEmail })).status
  return { postgres, db, invite }
}

/** Waits until no job for a mail is open. */
const waitForAllJobs = (db: Db) =>
  waitUntil('all jobs to end', async () => {
    const [{ open }] = await db.$queryRaw<[{ open: bigint }]>`
        SELECT count(*) AS open FROM pgboss.job WHERE name = 'invitation-email' AND state < 'completed'`
    return open === 0n || undefined
  })

it('loses no mail and sends none twice during repeated database outages', async () => {
  const taken: string[] = []
  const { postgres, db, invite } = await start({
    onData(stream, { envelope }, callback) {
      stream.resume()
      stream.on('end', () => {
        taken.push(envelope.rcptTo[0]!.address)
        setTimeout(callback, Math.random() * 300)
      })
    },
  })
  const emails = Array.from({ length: scaled(100, 1_500) }, (_, i) => `candidate-${i}@example.com`)
  const stops = scaled(2, 24)
  const left = [...emails]
  const inviteOneByOne = async () => {
    for (let email = left.pop(); email !== undefined; email = left.pop()) while (!(await isInvited(email))) await sleep(200)
  }
  // 409 means that an earlier request created the invite, but its response was lost.
  const isInvited = async (email: string) => [201, 409].includes(await invite(email))
  const inviting = Promise.all(Array.from({ length: 4 }, inviteOneByOne))
  for (let stop = 1; stop <= stops; stop++) {
    const enough = () => taken.length >= (stop / (stops + 1)) * emails.length || undefined
    await waitUntil('mails to be sent', enough)
    await postgres.stopAtOnce()
    await sleep(stop % 4 === 2 ? LONG_OUTAGE_MS : Math.random() * 2_000)
    await postgres.start()
  }
  await inviting
  await waitForAllJobs(db)

  const lost = emails.filter((email) => !taken.includes(email))
  const again = taken.filter((email, i) => taken.indexOf(email) < i)
  process.stdout.write(`${emails.length} invited, ${stops} stops, ${lost.length} lost, ${again.length} again\n`)
  expect({ lost, again }).toEqual({ lost: [], again: [] })
  expect(await db.inviteEmail.count({ where: { state: { not: 'sent' } } })).toBe(0)
})

it("leaves a mail to the process that is sending it after an outage longer than the job's lock", async () => {
  const replies: (() => void)[] = []
  const offers: string[] = []
  const { postgres, db, invite } = await start({
    onRcptTo: (_address, _session, callback) => void replies.push(callback),
    onData(stream, { envelope }, callback) {
      stream.resume()
      stream.on('end', () => {
        offers.push(envelope.rcptTo[0]!.address)
        replies.push(callback)
      })
    },
  })
  expect(await invite('patient@example.com')).toBe(201)
  const goOn = await waitUntil('the mail to be in progress', () => replies[0])
  await postgres.stopAtOnce()
  await sleep(LONG_OUTAGE_MS)
  await postgres.start()
  const back = new Date()
  goOn()
  const end = await waitUntil('the text of the mail to be sent', () => replies[1])
  const readQueue = () => db.$queryRaw<{ at: Date }[]>`
    SELECT monitor_on AS at FROM pgboss.queue WHERE name = 'invitation-email' AND monitor_on > ${back}`
  const lookedForLostJobs = async () => (await readQueue().catch(() => []))[0]
  await waitUntil('a check for lost jobs', lookedForLostJobs)
  end()
  await waitForAllJobs(db)
  expect(offers).toEqual(['patient@example.com'])
  expect(await db.$queryRaw`SELECT retry_count AS retries FROM pgboss.job WHERE name = 'invitation-email'`).toEqual([
    { retries: 0 },
  ])
})
