import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import type { Db } from '../../src/db/client.ts'
import { ask, openTestDatabase, type ServiceProcess, startProcess } from '../support/processes.ts'
import { startReceiver } from '../support/receiver.ts'
import { startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'

// Sends mails and webhooks to slow receivers. Rates depend on the machine, so the test only prints them. It checks that each message is sent
// once, and how many are sent at the same time, which decides the rate.

const LATENCY_MS = 300
const MAILS = 3_000
const CONNECTIONS = 40
const MESSAGES = 600
const PATIENCE_MS = 1_200_000

/** Counts messages in progress: `now` is the current number, `most` the highest; `first` and `last` are times. */
function createGauge() {
  const gauge = { now: 0, most: 0, first: 0, last: 0 }
  return {
    gauge,
    async pass() {
      gauge.first ||= performance.now()
      gauge.most = Math.max(gauge.most, ++gauge.now)
      await sleep(LATENCY_MS)
      gauge.now--
      gauge.last = performance.now()
    },
  }
}
type Gauge = ReturnType<typeof createGauge>['gauge']
const rateOf = ({ first, last }: Gauge, count: number) => (count / ((last - first) / 1_000)).toFixed(1)

const AT_ONCE = 50
async function inviteMany(api: ServiceProcess, key: string, assessmentId: string, count: number): Promise<void> {
  for (let first = 0; first < count; first += AT_ONCE) {
    const made = Array.from({ length: AT_ONCE }, (_, i) =>
      ask(api, key, '/invites', { assessmentId, recipientEmail: `c${first + i}@example.com` }),
    )
    for (const { status } of await Promise.all(made)) expect(status).toBe(201)
  }
}

const countSent = (db: Db) => db.inviteEmail.count({ where: { state: 'sent' } })

it(`sends each of ${MAILS} mails once over ${CONNECTIONS} connections to a server that takes ${LATENCY_MS} ms for each`, async () => {
  const { url: DATABASE_URL, db, make } = await openTestDatabase()
  onTestFinished(() => db.$disconnect())
  const { gauge, pass } = createGauge()
  const recipients: string[] = []
  const smtp = await startSmtpListener({
    onData(stream, session, callback) {
      stream.resume()
      stream.on('end', () => {
        recipients.push(session.envelope.rcptTo[0]!.address)
        void pass().then(() => callback())
      })
    },
  })
  onTestFinished(() => smtp.close())
  const env = { DATABASE_URL, SMTP_URL: smtp.url, RATE_LIMIT_STANDARD: '1000000' }
  const api = await startProcess({ ...env, ROLE: 'api' })
  const { id, key } = await make.organization()
  const { id: assessmentId } = await make.assessment(id)
  await inviteMany(api, key, assessmentId, MAILS)
  api.kill('SIGTERM')
  await api.exited
  await startProcess({ ...env, ROLE: 'worker', SMTP_CONNECTIONS: String(CONNECTIONS) })
  await waitUntil('all mails to be sent', async () => (await countSent(db)) === MAILS || undefined, PATIENCE_MS)
  process.stdout.write(`${MAILS} mails at ${LATENCY_MS} ms: ${rateOf(gauge, MAILS)}/s, ${gauge.most} at a time at most\n`)
  expect(new Set(recipients).size).toBe(MAILS)
  expect(recipients).toHaveLength(MAILS)
  expect(gauge.most).toBe(CONNECTIONS)
})

it(`sends ${MESSAGES} events, up to 32 at a time to a fast receiver, undelayed by a silent one, which gets 4 at a time`, async () => {
  const { url: DATABASE_URL, db, make } = await openTestDatabase()
  onTestFinished(() => db.$disconnect())
  const quick = createGauge()
  const slow = { now: 0, most: 0 }
  const quickReceiver = await startReceiver((response) => void quick.pass().then(() => response.writeHead(204).end()))
  const slowReceiver = await startReceiver((response) => {
    slow.most = Math.max(slow.most, ++slow.now)
    response.once('close', () => slow.now--) // it never answers
  })
  onTestFinished(async () => {
    await quickReceiver.close()
    await slowReceiver.close()
  })
  const env = { DATABASE_URL, RATE_LIMIT_STANDARD: '1000000', WEBHOOK_ALLOW: '127.0.0.1' }
  const api = await startProcess({ ...env, ROLE: 'api' })
  for (const { url } of [quickReceiver, slowReceiver]) {
    const { id, key } = await make.organization()
    const { id: assessmentId } = await make.assessment(id)
    expect((await ask(api, key, '/webhooks', { url, types: ['invite.created'] })).status).toBe(201)
    await inviteMany(api, key, assessmentId, MESSAGES)
  }
  api.kill('SIGTERM')
  await api.exited
  await startProcess({ ...env, ROLE: 'worker' })
  const delivered = async () => (await db.webhookDelivery.count({ where: { state: 'delivered' } })) === MESSAGES || undefined
  await waitUntil('the fast receiver to get all events', delivered, PATIENCE_MS)
  process.stdout.write(
    `${MESSAGES} webhooks at ${LATENCY_MS} ms: ${rateOf(quick.gauge, MESSAGES)}/s, ${quick.gauge.most} at a time at most; slow one ${slow.most}\n`,
  )
  expect(new Set(quickReceiver.received.map(({ id }) => id)).size).toBe(MESSAGES)
  expect(quick.gauge.most).toBe(32)
  expect(slow.most).toBeLessThanOrEqual(4)
})
