import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { readMigrations } from '../../src/db/migrations.ts'
import { createEmptyDatabase } from '../support/empty-database.ts'
import { layDatabaseLine } from '../support/line.ts'
import { ask, launchService, openTestDatabase, startProcess, type TestDatabase } from '../support/processes.ts'
import { startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.db.$disconnect())

async function makeTarget() {
  const { id, key } = await database.make.organization()
  const assessment = await database.make.assessment(id)
  return { organizationId: id, key, assessmentId: assessment.id }
}

it('leaves mail to workers in the api role, and sends each once; workers serve only health checks', async () => {
  const smtp = await startSmtpListener()
  onTestFinished(() => smtp.close())
  const env = { DATABASE_URL: database.url, SMTP_URL: smtp.url, RATE_LIMIT_STANDARD: '1000000' }
  const api = await startProcess({ ...env, ROLE: 'api' })
  const { key, assessmentId, organizationId } = await makeTarget()
  const emails = Array.from({ length: 60 }, (_, i) => `candidate-${String(i).padStart(2, '0')}@example.com`)
  /** Invites with four concurrent clients. The test is about many mails, not about many requests. */
  const inviteAll = async (left: string[]) => {
    const inviteOneByOne = async () => {
      for (let recipientEmail = left.pop(); recipientEmail !== undefined; recipientEmail = left.pop())
        expect((await ask(api, key, '/invites', { assessmentId, recipientEmail })).status).toBe(201)
    }
    await Promise.all(Array.from({ length: 4 }, inviteOneByOne))
  }
  await inviteAll(emails.slice(0, 30))
  expect(smtp.mails).toEqual([])

  const workers = await Promise.all([1, 2].map(() => startProcess({ ...env, ROLE: 'worker' })))
  await inviteAll(emails.slice(30))
  await waitUntil('all mails to be sent', async () => {
    const sent = await database.db.inviteEmail.count({ where: { organizationId, state: 'sent' } })
    return sent === emails.length || undefined
  })
  expect(smtp.mails.map(({ envelope }) => envelope.to[0]).sort()).toEqual(emails)
  const sentBy = () => workers.map((worker) => worker.log().filter(({ msg }) => msg === 'an invitation was sent').length)
  const sum = () => sentBy().reduce((total, count) => total + count)
  await waitUntil('all of them to be logged', () => sum() === emails.length || undefined)
  expect(sentBy().filter((count) => count > 0).length).toBeGreaterThan(1)

  const paths = ['/healthz', '/readyz', '/api/v1/tags', '/api/alternate/tags', '/docs', '/i/x', '/dev/mailbox', '/metrics']
  const statuses = await Promise.all(paths.map(async (path) => (await fetch(workers[0]!.url + path)).status))
  expect(statuses).toEqual([200, 200, 404, 404, 404, 404, 404, 404])
})

it('migrates an empty database, and creates and prints the first key, once among three concurrent starts', async () => {
  const url = await createEmptyDatabase()
  const env = { DATABASE_URL: url, INIT_ORG_NAME: 'Acme', INIT_API_KEY_NAME: 'First' }
  const services = await Promise.all([1, 2, 3].map(() => startProcess(env)))
  const migrated = services.flatMap((service) => service.log().filter(({ msg }) => msg === 'migrated'))
  expect(migrated.map(({ migrations }) => migrations)).toEqual([(await readMigrations()).length])

  const findKeys = () => services.flatMap((service) => service.output().match(/ak_live_\w+/g) ?? [])
  const [key, ...others] = findKeys()
  expect(others).toEqual([])
  for (const service of services) expect((await ask(service, key!, '/tags')).status).toBe(200)

  const again = await startProcess(env)
  expect(again.output()).not.toContain('ak_live_')
  expect((await ask(again, key!, '/tags')).status).toBe(200)
})

it('waits for a database that starts later', async () => {
  const line = await layDatabaseLine(database.url, { mended: false })
  const service = launchService({ DATABASE_URL: line.url })
  await service.waitForLog('waiting for the database')
  await line.mend()
  await waitUntil('the service to listen', () => service.url || undefined)
  await waitUntil('readiness', async () => (await fetch(`${service.url}/readyz`)).status === 200 || undefined)
})

it('is alive but not ready during a database outage, and ready again afterwards', async () => {
  const line = await layDatabaseLine(database.url)
  const service = await startProcess({ DATABASE_URL: line.url })
  const readiness = async () => {
    const answer = await fetch(`${service.url}/readyz`)
    return [answer.status, await answer.json()]
  }
  const { key } = await makeTarget()
  expect(await readiness()).toEqual([200, { status: 'ready', problems: [] }])
  await line.cut()
  expect(await readiness()).toEqual([503, { status: 'not ready', problems: ['database', 'migrations', 'queue'] }])
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
  expect((await ask(service, key, '/tags')).status).toBe(503)
  await line.mend()
  await waitUntil('readiness', async () => (await readiness())[0] === 200 || undefined)
  expect((await ask(service, key, '/tags')).status).toBe(200)
  service.kill('SIGTERM')
  expect((await service.exited).code).toBe(0)
})
