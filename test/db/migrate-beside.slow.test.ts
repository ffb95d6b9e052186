import { Client } from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { copyDatabase } from '../support/copy-database.ts'
import { copyMigrations } from '../support/migrations-folder.ts'
import { readSchema } from '../support/schema.ts'
import { waitUntil } from '../support/wait-until.ts'

const LATER = '29990101000000_later'
const ADD_COLUMN = 'ALTER TABLE "invites" ADD COLUMN "note" TEXT;'
const ADD_INDEX = `-- no-transaction\nCREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_later_idx" ON "invites" ("created_at");\n`

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {}) // pending queries reject with the same error
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** Creates a database, a migration that is not applied yet, and two clients. */
async function prepare(sql: string) {
  const url = await copyDatabase()
  const folder = await copyMigrations({ [LATER]: sql })
  const [holder, client] = [await connect(url), await connect(url)]
  const logged: string[] = []
  const note = (_fields: object, message: string) => void logged.push(message)
  return { url, folder, holder, client, logged, log: { info: note, warn: note } }
}

/** Begins a transaction whose lock blocks changes of the table and new indexes. */
const lockInvites = (holder: Client) => holder.query('BEGIN; LOCK TABLE invites IN ROW EXCLUSIVE MODE')

const readHistory = async (client: Client) =>
  (await client.query('SELECT migration_name FROM _prisma_migrations WHERE migration_name = $1', [LATER])).rows.length

const isValid = async (client: Client) =>
  (await client.query(`SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('invites_later_idx')`)).rows[0]?.indisvalid

/** Waits until the index is being created and waits for the earlier transaction. Returns the pid of its server process. */
const findWaitingBuild = (client: Client): Promise<number> =>
  waitUntil('the index to be under way', async () => {
    const { rows } = await client.query(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'`,
    )
    return rows[0]?.pid
  })

it('gives up after 2 s without its lock, says so, and changes nothing', async () => {
  const { url, folder, holder, client, log, logged } = await prepare(ADD_COLUMN)
  const before = await readSchema(client)
  await lockInvites(holder)
  const migrating = migrate(url, { folder, log, lockAttempts: 2 }).then(String, (error: Error) => error.message)
  let ended = false
  const ending = migrating.then(() => (ended = true))
  await client.query(`SET lock_timeout = '3s'`) // the service's limit: a longer wait would make it answer 503
  const waits: number[] = []
  while (!ended) {
    const begin = performance.now()
    await client.query('SELECT count(*) FROM invites')
    waits.push(performance.now() - begin)
    await Promise.race([ending, new Promise((resolve) => setTimeout(resolve, 20))])
  }
  expect(Math.max(...waits)).toBeGreaterThan(1_000) // queries waited behind the migration's lock
  expect(await migrating).toBe(
    `The migration ${LATER} failed and was rolled back: canceling statement due to lock timeout, 2 times. A transaction that goes on for long holds it up, see pg_stat_activity.`,
  )
  expect(logged).toEqual(['a migration could not get its locks: retrying'])
  expect(await readSchema(client)).toEqual(before)
  expect(await readHistory(client)).toBe(0)
})

it('is applied once it gets its lock', async () => {
  const { url, folder, holder, client, log, logged } = await prepare(ADD_COLUMN)
  await lockInvites(holder)
  const migrating = migrate(url, { folder, log })
  await waitUntil('the first attempt to fail', () => logged[0])
  await holder.query('ROLLBACK')
  expect(await migrating).toEqual([LATER])
  expect(logged).toEqual(['a migration could not get its locks: retrying', 'migrated'])
  expect(await readHistory(client)).toBe(1)
})

it('blocks no writes while it creates an index outside of a transaction', async () => {
  const { url, folder, holder, client, log } = await prepare(ADD_INDEX)
  await lockInvites(holder)
  const migrating = migrate(url, { folder, log })
  await findWaitingBuild(client)
  await client.query('BEGIN; LOCK TABLE invites IN ROW EXCLUSIVE MODE; COMMIT')
  await holder.query('COMMIT')
  expect(await migrating).toEqual([LATER])
  expect([await isValid(client), await readHistory(client)]).toEqual([true, 1])
})

it('can be run again after being killed while creating an index', async () => {
  const { url, folder, holder, client } = await prepare(ADD_INDEX)
  await lockInvites(holder)
  const killed = expect(migrate(url, { folder })).rejects.toThrow()
  const pid = await findWaitingBuild(client)
  await client.query('SELECT pg_terminate_backend($1)', [pid])
  await killed
  expect([await isValid(client), await readHistory(client)]).toEqual([false, 0])
  await holder.query('COMMIT')
  expect(await migrate(url, { folder })).toEqual([LATER])
  expect([await isValid(client), await readHistory(client)]).toEqual([true, 1])
})

it("leaves no index behind if the rows don't allow it", async () => {
  const { url, folder, client } = await prepare(
    `-- no-transaction\nCREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "organizations_tier_key" ON "organizations" ("tier");\n`,
  )
  await client.query(
    `INSERT INTO organizations (id, name, name_key, created_at, updated_at)
     SELECT gen_random_uuid(), 'Of one tier ' || n, 'of one tier ' || n, now(), now() FROM generate_series(1, 2) AS n`,
  )
  const before = await readSchema(client)
  await expect(migrate(url, { folder })).rejects.toThrow(
    `The migration ${LATER} failed and was rolled back: could not create unique index "organizations_tier_key"`,
  )
  expect(await readSchema(client)).toEqual(before)
})

it.each([
  ['two statements', `${ADD_INDEX}SELECT 1;`],
  ["a statement that can't be run again", ADD_INDEX.replace('IF NOT EXISTS ', '')],
  ['another statement', `-- no-transaction\n${ADD_COLUMN}`],
])('rejects %s outside of a transaction, before anything is applied', async (_what, sql) => {
  const { url, folder, client } = await prepare(sql)
  await expect(migrate(url, { folder })).rejects.toThrow(`The migration ${LATER} must be one statement`)
  expect(await readHistory(client)).toBe(0)
})

it('is applied once by several processes that create indexes', async () => {
  const { url, folder, client } = await prepare(ADD_INDEX)
  const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(url, { folder })))
  expect(applied.flat()).toEqual([LATER])
  expect(await isValid(client)).toBe(true)
})
