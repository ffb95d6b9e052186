import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client } from 'pg'
import { expect, inject, it, onTestFinished } from 'vitest'
import { BASELINE } from '../../src/db/migrations.ts'
import { version } from '../../src/runtime/version.ts'
import { copyDatabase } from '../support/copy-database.ts'
import { makeDataDir, runsServer } from '../support/data-dir.ts'
import { createEmptyDatabase } from '../support/empty-database.ts'
import { ask, launchService, openTestDatabase, startProcess } from '../support/processes.ts'
import { LONG } from '../support/scale.ts'
import { SECRET_KEY } from '../support/service.ts'
import { itSlow } from '../support/slow.ts'
import { startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

itSlow('reads its secrets from files', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-secrets-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const smtp = await startSmtpListener()
  onTestFinished(() => smtp.close())
  const secrets = { DATABASE_URL: await copyDatabase(), SECRET_KEY, SMTP_URL: smtp.url }
  const env: Record<string, string> = { SECRET_KEY: '' }
  for (const [name, secret] of Object.entries(secrets)) {
    env[`${name}_FILE`] = path.join(folder, name)
    await writeFile(env[`${name}_FILE`]!, `${secret}\n`)
  }
  const service = await startProcess({
    ...env,
    MAIL: '',
    MAIL_FROM: 'Assessments <assessments@example.com>',
    INIT_ORG_NAME: 'Acme',
    INIT_API_KEY_NAME: 'First',
    INIT_ADMIN_EMAIL: 'admin@example.com',
  })
  const [key] = service.output().match(/ak_live_\w+/)!
  const client = await connect(secrets.DATABASE_URL)
  const { rows } = await client.query(
    `INSERT INTO assessments (id, organization_id, name, name_key, name_search, created_at, updated_at)
     SELECT gen_random_uuid(), id, 'Typing', 'typing', 'typing', now(), now() FROM organizations RETURNING id`,
  )
  const body = { assessmentId: rows[0].id, recipientEmail: 'sam@example.com' }
  expect((await ask(service, key, '/invites', body)).status).toBe(201)
  const recipients = (await smtp.waitFor(2)).flatMap(({ envelope }) => envelope.to)
  expect(recipients.sort()).toEqual(['admin@example.com', 'sam@example.com'])
  // The output says how to print the link, and doesn't contain it.
  expect(service.output()).toContain("npm run cli -- member invite 'Acme' admin@example.com")
  expect(service.output()).not.toContain('/portal/join/')
})

it('exits with 78 for an invalid configuration, naming all errors without a stack trace or a secret', async () => {
  const service = launchService({
    PORT: 'x',
    DATABASE_URL: 'mysql://user:hunter2@db',
    SECRET_KEY: 'too short',
    SMTP_URL_FILE: '/nowhere/smtp',
    LOG_LEVEL: 'loud',
  })
  expect(await service.exited).toEqual({ code: 78, signal: null })
  // The output consists of log lines only.
  expect(service.output().trim().split('\n')).toHaveLength(service.log().length)
  const complaints = service.log().map(({ level, msg }) => `${level} ${msg.split(':')[0]}`)
  expect(complaints.sort()).toEqual(
    ['DATABASE_URL', 'LOG_LEVEL', 'PORT', 'SECRET_KEY', 'SMTP_URL_FILE'].map((name) => `fatal ${name}`),
  )
  expect(service.output()).not.toMatch(/ {4}at |node:internal|hunter2|too short/)
})

itSlow("logs one line about why it can't start, and leaves no database server running", async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void taken.close())
  await once(taken, 'listening')
  const port = String((taken.address() as AddressInfo).port)
  const dataDir = await makeDataDir()
  const failures: [env: Record<string, string>, reason: RegExp][] = [
    [{ DATA_DIR: dataDir, PORT: port }, new RegExp(`address already in use 127.0.0.1:${port}`)],
    [{ DATA_DIR: dataDir, METRICS_PORT: port }, new RegExp(`address already in use 127.0.0.1:${port}`)],
    [{ DATA_DIR: dataDir, HOST: '192.0.2.1' }, /EADDRNOTAVAIL/],
    [
      { DATABASE_URL: inject('templateUrl').replace('/assessments?', '/none_of_that_name?') },
      /database "none_of_that_name" does not exist/,
    ],
  ]
  for (const [env, reason] of failures) {
    const service = launchService(env)
    expect(await service.exited).toEqual({ code: 1, signal: null })
    expect(service.output().trim().split('\n')).toHaveLength(service.log().length)
    const complaints = service.log().filter(({ level }) => level !== 'info')
    expect(complaints).toEqual([
      { level: 'fatal', time: expect.any(String), version, msg: expect.stringMatching(/^The service can not start: /) },
    ])
    expect(complaints[0]!.msg).toMatch(reason)
    expect(await runsServer(dataDir)).toBe(false)
  }
})

it.runIf(LONG)('sends links with its actual port if PORT is 0, even in mails that waited for a worker', async () => {
  const smtp = await startSmtpListener()
  onTestFinished(() => smtp.close())
  const { url, db, make } = await openTestDatabase()
  onTestFinished(() => db.$disconnect())
  const { id, key } = await make.organization()
  const { id: assessmentId } = await make.assessment(id)
  const env = { DATABASE_URL: url, SMTP_URL: smtp.url, PORT: '0' }
  const api = await startProcess({ ...env, ROLE: 'api' })
  expect((await ask(api, key, '/invites', { assessmentId, recipientEmail: 'sam@example.com' })).status).toBe(201)
  for (const [role, count] of [
    ['worker', 1],
    ['all', 2],
  ] as const) {
    const service = await startProcess({ ...env, ROLE: role })
    const port = new URL(service.url).port
    if (role === 'all') await ask(service, key, '/invites', { assessmentId, recipientEmail: 'alex@example.com' })
    const mail = (await smtp.waitFor(count)).at(-1)!
    expect(mail.parsed.text).toContain(`http://localhost:${port}/i/`)
    service.kill('SIGTERM')
    await service.exited
  }
})

it.skipIf(!LONG || process.getuid?.() !== 0)(
  'keeps the database and the secret in one reported place if started by root below a closed folder',
  async () => {
    const closed = path.join(await makeDataDir(), 'closed')
    const dataDir = path.join(closed, 'data')
    await mkdir(dataDir, { recursive: true })
    await chmod(closed, 0o700)
    const folders: unknown[] = []
    const secrets: string[] = []
    for (const mode of [0o700, 0o755]) {
      await chmod(closed, mode)
      const service = await startProcess({ DATA_DIR: dataDir, SECRET_KEY: '' })
      const { folder } = await service.waitForLog('using the embedded database and its secret')
      folders.push(folder)
      onTestFinished(() => rm(String(folder), { recursive: true, force: true }))
      expect(await readdir(String(folder))).toEqual(['postgres', 'secret-key'])
      secrets.push(await readFile(path.join(String(folder), 'secret-key'), 'utf8'))
      service.kill('SIGTERM')
      await service.exited // even if a busy machine takes longer than the limit for stopping
      await waitUntil('the database server to end', async () => !(await runsServer(String(folder))) || undefined)
    }
    expect(folders[0]).not.toBe(dataDir)
    expect(folders[1]).toBe(folders[0])
    expect(secrets[1]).toBe(secrets[0])
  },
)

it.runIf(LONG)('is compiled ahead of time without running', async () => {
  const cache = await mkdtemp(path.join(tmpdir(), 'assessments-compiled-'))
  onTestFinished(() => rm(cache, { recursive: true }))
  const compiling = launchService({ NODE_COMPILE_CACHE: cache, PORT: 'none' }, ['src/compile.ts'])
  expect(await compiling.exited).toEqual({ code: 0, signal: null })
  expect(compiling.output()).toBe('')
  expect((await readdir(cache, { recursive: true })).length).toBeGreaterThan(500)
})

itSlow('refuses to start on a database from before 1.0, and leaves it unchanged', async () => {
  const url = await copyDatabase()
  const client = await connect(url)
  await client.query(`DELETE FROM _prisma_migrations WHERE migration_name <> '00000000000000_baseline'`)
  await client.query(`UPDATE _prisma_migrations SET migration_name = '20261121090000_foundation'`)
  const service = launchService({ DATABASE_URL: url })
  expect((await service.exited).code).toBe(1)
  expect(service.log().at(-1)!.msg).toContain('Made before 1.0: start on an empty database.')
  const { rows } = await client.query('SELECT migration_name FROM _prisma_migrations')
  expect(rows).toEqual([{ migration_name: '20261121090000_foundation' }])
})

itSlow("refuses to start on a database that it can't migrate, leaves it unchanged, and starts after the fix", async () => {
  const url = await createEmptyDatabase()
  const client = await connect(url)
  await client.query('CREATE TABLE idempotency_records (id int)')
  const readTables = async () =>
    (await client.query(`SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`)).rows
  const failing = launchService({ DATABASE_URL: url })
  expect((await failing.exited).code).toBe(1)
  expect(failing.log().at(-1)!.msg).toContain(
    `The migration ${BASELINE} failed and was rolled back: relation "idempotency_records" already exists`,
  )
  expect(await readTables()).toEqual([{ relname: 'idempotency_records' }, { relname: '_prisma_migrations' }])

  await client.query('DROP TABLE idempotency_records')
  const service = await startProcess({ DATABASE_URL: url })
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
})
