import { expect, it, onTestFinished } from 'vitest'
import { hasPgbouncer, startPgbouncer } from '../support/pgbouncer.ts'
import { ask, openTestDatabase, startProcess } from '../support/processes.ts'
import { startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'

// Counts the database sessions of 16 processes behind a pooler: 20 of the pooler, one per process for notifications, and five more per
// process with the job queue.

const ROLES = [...Array<string>(12).fill('api'), ...Array<string>(4).fill('worker')]
const SHARED = 20
const MOST = 60
const INVITES = 2_000
const CLIENTS = 48

it.runIf(hasPgbouncer)(`keeps under ${MOST} database sessions with 16 processes under load`, async () => {
  const { url: direct, db, make } = await openTestDatabase()
  onTestFinished(() => db.$disconnect())
  const { id, key } = await make.organization()
  const { id: assessmentId } = await make.assessment(id)
  const smtp = await startSmtpListener()
  onTestFinished(smtp.close)
  const settings = {
    DATABASE_URL: await startPgbouncer(direct, { size: SHARED }),
    DATABASE_POOLER: 'transaction',
    DATABASE_DIRECT_URL: direct,
    DATABASE_POOL_SIZE: '10',
    RATE_LIMIT_STANDARD: '1000000',
    SMTP_URL: smtp.url,
  }
  const services = []
  for (const ROLE of ROLES) services.push(await startProcess({ ...settings, ROLE }))
  const answering = services.slice(0, ROLES.lastIndexOf('api') + 1)

  // Excludes the session that counts, but includes this test's other sessions.
  const count = async () =>
    (
      await db.$queryRaw<[{ count: number }]>`
        SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
          AND query NOT LIKE '%pg_stat_activity%'`
    )[0].count
  const counted: number[] = []
  let isOver = false
  const counting = (async () => {
    while (!isOver) counted.push(await count())
  })()
  const invite = async (client: number) => {
    for (let nth = client; nth < INVITES; nth += CLIENTS) {
      const body = { assessmentId, recipientEmail: `candidate${nth}@example.com` }
      expect((await ask(answering[nth % answering.length]!, key, '/invites', body)).status).toBe(201)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => invite(client)))
  const sent = () => db.inviteEmail.count({ where: { state: 'sent' } })
  await waitUntil('all mails to be sent', async () => (await sent()) === INVITES || undefined, 600_000)
  isOver = true
  await counting
  process.stdout.write(`at most ${Math.max(...counted)} sessions, counted ${counted.length} times\n`)
  expect(Math.max(...counted)).toBeGreaterThan(ROLES.length)
  expect(Math.max(...counted)).toBeLessThan(MOST)
})
