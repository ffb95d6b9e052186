import { expect, it, onTestFinished } from 'vitest'
import { hasPgbouncer, startPgbouncer } from '../support/pgbouncer.ts'
import { ask, launchService, openTestDatabase, startProcess } from '../support/processes.ts'
import { startReceiver } from '../support/receiver.ts'
import { scaled } from '../support/scale.ts'
import { startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'
import { TO_LOOPBACK } from '../support/webhooks.ts'

const CREATES = scaled(150, 900)
const CLIENTS = 12

async function setUp() {
  const { url, db, make } = await openTestDatabase()
  onTestFinished(() => db.$disconnect())
  return { direct: url, db, make }
}

it.runIf(hasPgbouncer)(
  'creates, mails, and reports every invite through PgBouncer in transaction mode, and logs no error',
  async () => {
    const { direct, db, make } = await setUp()
    const { id, key } = await make.organization()
    const { id: assessmentId } = await make.assessment(id)
    const pooled = await startPgbouncer(direct)
    const smtp = await startSmtpListener()
    onTestFinished(smtp.close)
    const receiver = await startReceiver()
    const settings = {
      ...TO_LOOPBACK,
      DATABASE_URL: pooled,
      DATABASE_POOLER: 'transaction',
      DATABASE_DIRECT_URL: direct,
      RATE_LIMIT_STANDARD: '1000000',
      SMTP_URL: smtp.url,
    }
    const services = await Promise.all(['all', 'api', 'worker'].map((ROLE) => startProcess({ ...settings, ROLE })))
    const answering = services.slice(0, 2)
    const webhook = await ask(answering[0]!, key, '/webhooks', {
      url: `http://127.0.0.1:${receiver.port}/`,
      events: ['invite.created'],
    })
    expect(webhook.status).toBe(201)

    const statuses = new Map<number, number>()
    const invite = async (client: number) => {
      for (let nth = client; nth < CREATES; nth += CLIENTS) {
        const body = { assessmentId, recipientEmail: `candidate${nth}@example.com` }
        const { status } = await ask(answering[nth % answering.length]!, key, '/invites', body)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, (_, client) => invite(client)))
    expect(Object.fromEntries(statuses)).toEqual({ 201: CREATES })
    const created = () => receiver.received.filter(({ event }) => event.type === 'invite.created')
    await waitUntil('webhooks for all invites', () => created().length >= CREATES || undefined)
    await smtp.waitFor(CREATES)
    const sent = () => db.inviteEmail.count({ where: { state: 'sent' } })
    await waitUntil('all mails to be sent', async () => (await sent()) === CREATES || undefined)
    expect(new Set(smtp.mails.map(({ envelope }) => envelope.to[0])).size).toBe(CREATES)
    for (const service of services)
      expect(service.log().filter(({ level }) => ['warn', 'error', 'fatal'].includes(level))).toEqual([])
  },
)

it.runIf(hasPgbouncer)('returns the right times from a database with another time zone', async () => {
  const { direct, db, make } = await setUp()
  await db.$executeRawUnsafe(`ALTER DATABASE ${new URL(direct).pathname.slice(1)} SET TimeZone = 'Asia/Tokyo'`)
  const { key } = await make.organization()
  const DATABASE_URL = await startPgbouncer(direct)
  const service = await startProcess({ DATABASE_URL, DATABASE_POOLER: 'transaction', DATABASE_DIRECT_URL: direct })
  const before = Date.now() - 60_000
  const { tag } = (await (await ask(service, key, '/tags', { name: 'Now' })).json()) as { tag: { createdAt: string } }
  expect(Date.parse(tag.createdAt)).toBeGreaterThan(before)
  expect(Date.parse(tag.createdAt)).toBeLessThan(before + 600_000)
})

it.runIf(hasPgbouncer)('refuses to start if sessions behind the pooler have other settings, and names them', async () => {
  const { direct } = await setUp()
  const DATABASE_URL = await startPgbouncer(direct, { atConnect: `SET TimeZone = 'Asia/Tokyo'; SET statement_timeout = 0` })
  const service = launchService({ DATABASE_URL, DATABASE_POOLER: 'transaction', DATABASE_DIRECT_URL: direct })
  expect((await service.exited).code).toBe(1)
  expect(service.output()).toContain('statement_timeout is 0 instead of 4000, TimeZone is Asia/Tokyo instead of UTC')
})
