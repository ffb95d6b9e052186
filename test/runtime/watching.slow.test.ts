import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { signInvitation } from '../../src/domain/secrets/invitation-tokens.ts'
import { release, version } from '../../src/runtime/version.ts'
import { findFreePort } from '../support/free-port.ts'
import { layDatabaseLine } from '../support/line.ts'
import { ask, openTestDatabase, startProcess, type TestDatabase } from '../support/processes.ts'
import { SECRET_KEY } from '../support/service.ts'
import { startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.db.$disconnect())

async function makeTarget() {
  const { id, key, apiKeyId } = await database.make.organization()
  const assessment = await database.make.assessment(id)
  return { organizationId: id, key, apiKeyId, assessmentId: assessment.id }
}

const hour = 3_600_000

it('counts requests, invites, mails, connections, and delays only on its metrics port', async () => {
  const port = await findFreePort()
  const service = await startProcess({ DATABASE_URL: database.url, METRICS_PORT: String(port) })
  const { key, assessmentId, organizationId } = await makeTarget()
  expect((await ask(service, key, '/invites', { assessmentId, recipientEmail: 'sam@example.com' })).status).toBe(201)
  await ask(service, key, '/tags')
  await ask(service, key, '/nowhere')
  const readMetrics = () => fetch(`http://127.0.0.1:${port}/metrics`)
  // The mail is counted after it is recorded, so wait for the counter.
  const captured = '\ninvite_email_attempts_total{outcome="captured"} 1\n'
  await waitUntil('the mail', async () => (await (await readMetrics()).text()).includes(captured) || undefined)
  // A mail without a job, which looks as if it had waited for an hour.
  const invite = await database.make.invite({ organizationId, id: assessmentId })
  const createdAt = new Date(Date.now() - hour)
  const email = {
    id: database.deps.newId(),
    organizationId,
    inviteId: invite.id,
    linkVersion: 1,
    createdAt,
    updatedAt: createdAt,
  }
  await database.db.inviteEmail.create({ data: email })

  const answer = await readMetrics()
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/plain; version=/)])
  const lines = (await answer.text()).split('\n')
  const valueIn = (series: string) =>
    Number(
      lines
        .find((line) => line.startsWith(`${series} `))
        ?.split(' ')
        .at(-1),
    )
  expect(valueIn('http_request_duration_seconds_count{method="POST",route="/api/v1/invites",status="201"}')).toBe(1)
  expect(valueIn('http_request_duration_seconds_count{method="GET",route="/api/v1/tags",status="200"}')).toBe(1)
  expect(valueIn('http_request_duration_seconds_bucket{le="10",method="GET",route="/api/v1/tags",status="200"}')).toBe(1)
  expect(valueIn('invites_created_total')).toBe(1)
  expect(valueIn('events_oldest_unnumbered_seconds')).toBeGreaterThanOrEqual(0)
  expect(valueIn('event_sequence_failures_total')).toBe(0)
  expect(valueIn('invite_email_queue_depth')).toBe(1)
  expect(valueIn('invite_email_oldest_waiting_seconds')).toBeGreaterThanOrEqual(hour / 1_000)
  expect(valueIn('database_pool_connections{state="idle"}')).toBeGreaterThan(0)
  for (const series of ['database_pool_connections{state="used"}', 'database_pool_connections{state="waiting"}'])
    expect(valueIn(series)).toBeGreaterThanOrEqual(0)
  expect(valueIn('nodejs_eventloop_lag_seconds')).toBeGreaterThanOrEqual(0)
  expect(valueIn(`build_info{version="${version}",commit="${release.commit ?? ''}"}`)).toBe(1)
  expect(lines.join('\n')).not.toMatch(/sam@example|ak_live_/)

  expect((await fetch(`${service.url}/metrics`)).status).toBe(404)
})

it('exposes every mail outcome from the start, at 0', async () => {
  const port = await findFreePort()
  await startProcess({ DATABASE_URL: database.url, ROLE: 'api', METRICS_PORT: String(port) })
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  for (const outcome of ['sent', 'captured', 'failed', 'retried'])
    expect(metrics).toContain(`\ninvite_email_attempts_total{outcome="${outcome}"} 0\n`)
})

it('exposes metrics during a database outage', async () => {
  const line = await layDatabaseLine(database.url)
  const port = await findFreePort()
  await startProcess({ DATABASE_URL: line.url, METRICS_PORT: String(port) })
  await line.cut()
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
  expect(answer.status).toBe(200)
  const text = await answer.text()
  for (const gauge of ['invite_email_queue_depth', 'member_email_queue_depth', 'events_oldest_unnumbered_seconds'])
    expect(text).toMatch(new RegExp(`^${gauge} Nan$`, 'm'))
})

it('opens few additional database connections for a hundred concurrent readiness checks', async () => {
  const service = await startProcess({ DATABASE_URL: database.url, ROLE: 'api' })
  const counts: number[] = []
  const count = async () => {
    const [row] = await database.db.$queryRaw<{ count: number }[]>`
      SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database()`
    counts.push(row!.count)
  }
  await count()
  const answers = Promise.all(Array.from({ length: 100 }, () => fetch(`${service.url}/readyz`)))
  for (let i = 0; i < 20; i++) await count()
  // 503 if the database takes more than two seconds to answer.
  for (const { status } of await answers) expect(status).toBeOneOf([200, 503])
  await waitUntil('readiness', async () => (await fetch(`${service.url}/readyz`)).status === 200 || undefined)
  expect(Math.max(...counts) - counts[0]!).toBeLessThan(10)
})

it('logs JSON with IDs of request, organization, and key, and never a key, token, or address', async () => {
  const smtp = await startSmtpListener({
    onRcptTo({ address }, _session, callback) {
      if (address.startsWith('refused')) callback(Object.assign(new Error(`No such user ${address}`), { responseCode: 550 }))
      else if (address.startsWith('later')) callback(Object.assign(new Error(`Try ${address} later`), { responseCode: 450 }))
      else callback()
    },
  })
  onTestFinished(() => smtp.close())
  const line = await layDatabaseLine(database.url)
  const service = await startProcess({ DATABASE_URL: line.url, SMTP_URL: smtp.url })
  const { key, assessmentId, organizationId, apiKeyId } = await makeTarget()
  const invite = await database.make.invite({ organizationId, id: assessmentId })
  const token = signInvitation([SECRET_KEY], { inviteId: invite.id, linkVersion: 1 })
  const open = (path: string, init: RequestInit = {}) => fetch(service.url + path, init).catch(() => undefined)

  for (const recipientEmail of ['taken@example.com', 'refused@example.com', 'later@example.com', 'not an address@example'])
    await ask(service, key, '/invites', { assessmentId, recipientEmail, recipientName: 'Secret Name' })
  await ask(service, `${key}x`, '/tags')
  await ask(service, key, `/invites?search=taken@example.com&key=${key}`)
  await ask(service, key, '/taken@example.com')
  await open(`/i/${token}`)
  await open(`/i/${token}/accept`, { method: 'POST', body: new URLSearchParams({ proof: 'wrong' }) })
  await open(`/i/${token}x`)
  await open(`/api/v1/invites/${key}`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'x-request-id': key },
    body: 'taken@example.com',
  })
  await open(`/player/sessions/${token}/complete`, { method: 'POST' })
  for (const msg of ['an invitation was sent', 'an invitation was refused', 'an invitation could not be sent yet'])
    await service.waitForLog(msg)
  await line.cut()
  await ask(service, key, '/invites', { assessmentId, recipientEmail: 'lost@example.com' })
  await open(`/i/${token}`)
  await service.waitForLog('the database is unreachable: requests get a 503 until it is back')
  service.kill('SIGTERM')
  await service.exited

  expect(service.output().trim().split('\n')).toHaveLength(service.log().length)
  expect(new Set(service.log().map((line) => line.version))).toEqual(new Set([version]))
  for (const secret of [key, token, token.slice(-20), SECRET_KEY, 'example.com', 'Secret Name'])
    expect(service.output()).not.toContain(secret)
  const created = service.log().find(({ route, status }) => route === '/api/v1/invites' && status === 201)
  expect(created).toMatchObject({ level: 'info', msg: 'request', method: 'POST', organizationId, apiKeyId })
  expect(created).toHaveProperty('reqId', expect.stringMatching(/^[0-9a-f-]{36}$/))
})
