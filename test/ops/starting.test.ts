import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client } from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { copyDatabase } from '../support/copy-database.ts'
import { createEmptyDatabase } from '../support/empty-database.ts'
import { ask, launchService, startProcess } from '../support/processes.ts'
import { SECRET_KEY } from '../support/service.ts'
import { startSmtpListener } from '../support/smtp.ts'

const MIGRATIONS = path.join(import.meta.dirname, '../../prisma/migrations')

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

it('takes its secrets from files', async () => {
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
  const service = await startProcess({ ...env, INIT_ORG_NAME: 'Acme', INIT_API_KEY_NAME: 'First' })
  const [key] = service.output().match(/ak_live_\w+/)!
  const client = await connect(secrets.DATABASE_URL)
  const { rows } = await client.query(
    `INSERT INTO assessments (id, organization_id, name, created_at, updated_at)
     SELECT gen_random_uuid(), id, 'Typing', now(), now() FROM organizations RETURNING id`,
  )
  const body = { assessmentId: rows[0].id, recipientEmail: 'sam@example.com' }
  expect((await ask(service, key, '/invites', body)).status).toBe(201)
  expect((await smtp.waitFor(1))[0]!.envelope.to).toEqual(['sam@example.com'])
})

it('exits with 78 for a configuration that is not usable, naming all that is wrong with it, without a stack trace or a secret', async () => {
  const service = launchService({
    PORT: 'x',
    DATABASE_URL: 'mysql://user:hunter2@db',
    SECRET_KEY: 'too short',
    SMTP_URL_FILE: '/nowhere/smtp',
    LOG_LEVEL: 'loud',
  })
  expect(await service.exited).toEqual({ code: 78, signal: null })
  for (const name of ['PORT', 'DATABASE_URL', 'SECRET_KEY', 'SMTP_URL_FILE', 'LOG_LEVEL'])
    expect(service.output()).toMatch(new RegExp(`^  ${name}: `, 'm'))
  expect(service.output()).not.toMatch(/^\s+at |node:internal|hunter2|too short/m)
})

/** A database as the first release left it, with an organization, its key, an assessment and an accepted invite. */
async function createFirstReleasesDatabase(key: string): Promise<{ url: string; client: Client; migrations: string[] }> {
  const migrations = (await readdir(MIGRATIONS)).filter((name) => /^\d{14}_/.test(name)).sort()
  const sql = await readFile(path.join(MIGRATIONS, migrations[0]!, 'migration.sql'), 'utf8')
  const url = await createEmptyDatabase()
  const client = await connect(url)
  await client.query(sql)
  await client.query(`CREATE TABLE _prisma_migrations (
    id varchar(36) PRIMARY KEY, checksum varchar(64) NOT NULL, finished_at timestamptz, migration_name varchar(255) NOT NULL,
    logs text, rolled_back_at timestamptz, started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0)`)
  const checksum = createHash('sha256').update(sql).digest('hex')
  await client.query(`INSERT INTO _prisma_migrations VALUES ('1', $1, now(), $2, NULL, NULL, now(), 1)`, [
    checksum,
    migrations[0],
  ])
  await client.query(`INSERT INTO organizations VALUES (gen_random_uuid(), 'Acme', 'standard', now(), now())`)
  await client.query(
    `INSERT INTO api_keys (id, organization_id, name, mode, hash, last_four, created_at)
     SELECT gen_random_uuid(), id, 'First', 'live', $1, $2, now() FROM organizations`,
    [createHash('sha256').update(key).digest(), key.slice(-4)],
  )
  await client.query(
    `INSERT INTO assessments (id, organization_id, name, created_at, updated_at)
     SELECT gen_random_uuid(), id, 'Typing', now(), now() FROM organizations`,
  )
  await client.query(
    `INSERT INTO invites (id, organization_id, assessment_id, recipient_email, status, question_replay_limit, answer_record_limit,
       screen_recording, webcam_monitoring, require_id_capture, face_photo_required, sent_at, accepted_at, expires_at, created_at, updated_at)
     SELECT gen_random_uuid(), organization_id, id, 'sam@example.com', 'accepted', 1, 1,
       true, true, true, true, now(), now(), now() + interval '30 days', now(), now() FROM assessments`,
  )
  return { url, client, migrations }
}

const readHistory = async (client: Client) => {
  const { rows } = await client.query(
    'SELECT migration_name AS name, rolled_back_at, finished_at FROM _prisma_migrations ORDER BY 1',
  )
  expect(rows.filter(({ rolled_back_at, finished_at }) => rolled_back_at || !finished_at)).toEqual([])
  return rows.map(({ name }) => name as string)
}

const KEY = `ak_live_${'k'.repeat(32)}`

it("brings a previous release's database up to date when it starts, with all that is in it", async () => {
  const { url, client, migrations } = await createFirstReleasesDatabase(KEY)
  const service = await startProcess({ DATABASE_URL: url })
  const { invites } = (await (await ask(service, KEY, '/invites')).json()) as { invites: unknown[] }
  expect(invites).toMatchObject([{ recipientEmail: 'sam@example.com', status: 'accepted' }])
  expect(await readHistory(client)).toEqual(migrations)
})

it('does not start on a database that it can not bring up to date, leaves that as it was, and starts once the cause is gone', async () => {
  const { url, client, migrations } = await createFirstReleasesDatabase(KEY)
  // In the way of the second migration.
  await client.query('CREATE TABLE idempotency_records (id int)')
  const readTables = async () => (await client.query(`SELECT relname FROM pg_class WHERE relkind IN ('r', 'i') ORDER BY 1`)).rows
  const before = await readTables()
  const failing = launchService({ DATABASE_URL: url })
  expect((await failing.exited).code).toBe(1)
  expect(failing.output()).toContain(`The migration ${migrations[1]} failed and was rolled back: relation "idempotency_records"`)
  expect(await readHistory(client)).toEqual(migrations.slice(0, 1))
  expect(await readTables()).toEqual(before)

  await client.query('DROP TABLE idempotency_records')
  const service = await startProcess({ DATABASE_URL: url })
  expect((await ask(service, KEY, '/invites')).status).toBe(200)
  expect(await readHistory(client)).toEqual(migrations)
})
