import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import manifest from '../../package.json' with { type: 'json' }
import type { Connection } from './client.ts'
import { BASELINE, type Migration, readMigrations } from './migrations.ts'
import { giveRoleSettings, UNBOUNDED_OPTIONS } from './session-settings.ts'

/** Prisma Migrate's own advisory lock, so that its `migrate deploy` and ours wait for each other too. */
const LOCK = 72_707_369
const TURN_TRIED_EVERY_MS = 200

/**
 * A migration keeps its locks until its transaction ends, and other statements wait behind the lock it waits for. So it gives up well
 * before their timeout (see client.ts), and retries later: after a second at least, when PostgreSQL cancels a blocking autovacuum.
 */
const LOCK_TIMEOUT = '2s'
const LOCK_ATTEMPTS = 10
const LOCK_PAUSE_MS = 4_000
/** Nothing waits for an index that is created concurrently. Creating it waits for all transactions that began earlier. */
const CONCURRENT_LOCK_TIMEOUT = '10min'

type Log = Record<'info' | 'warn', (fields: object, message: string) => void>
const silent: Log = { info() {}, warn() {} }

/** Row of Prisma Migrate's table. `logs` has the release that applied it. */
type Applied = { migration_name: string; checksum: string; finished_at: Date | null; logs: string | null }

type Options = {
  log?: Log
  /** Folder of the migrations. */
  folder?: string
  /** Attempts to get a migration's locks: ten take a minute. */
  lockAttempts?: number
  /** True if the service's role gets its session settings in the database, because a pooler accepts none from the service. */
  isShared?: boolean
}

/**
 * Applies the missing migrations in order, and records them as Prisma Migrate does, so that `prisma migrate deploy` agrees with the
 * history. Each migration is a transaction, except the ones that can't be (see migrations.ts). Processes that start at the same time take
 * turns.
 *
 * @returns the names of the migrations applied now.
 * @throws Error if the database was created before 1.0; if it has a migration that is missing here, unless the next release applied it; if
 *   a migration was changed since, or left unfinished; if one fails, which leaves the database as it was before that migration.
 */
export async function migrate(
  url: string,
  { log = silent, folder, lockAttempts = LOCK_ATTEMPTS, isShared = false }: Options = {},
): Promise<string[]> {
  const migrations = await readMigrations(folder)
  return withClient(url, async (client) => {
    await takeTurn(client, log)
    await client.query(`CREATE TABLE IF NOT EXISTS _prisma_migrations (
      id varchar(36) PRIMARY KEY, checksum varchar(64) NOT NULL, finished_at timestamptz, migration_name varchar(255) NOT NULL,
      logs text, rolled_back_at timestamptz, started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0)`)
    const history = await readHistory(client)
    const pending = compareHistory(migrations, history, log)
    // In an empty database all migrations take a moment, and nobody needs a log line for each.
    const isNew = history.length === 0
    for (const migration of pending) {
      const logFields = { migration: migration.name }
      if (migration.isAlone && !isNew) log.info(logFields, 'migrating without blocking writes: this may take a while')
      await applyPatiently(client, migration, log, lockAttempts)
      if (!isNew) log.info(logFields, 'migrated')
    }
    if (isNew) log.info({ migrations: pending.length }, 'migrated')
    if (isShared) await giveRoleSettings(client)
    return pending.map(({ name }) => name)
  })
}

/**
 * The names of the migrations that the database lacks; it changes nothing.
 *
 * @throws Error as `migrate` does when the recorded history and the files disagree.
 */
export async function findPendingMigrations(url: string): Promise<string[]> {
  const migrations = await readMigrations()
  return withClient(url, async (client) => {
    const { rows } = await client.query(`SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists`)
    const history = rows[0].exists ? await readHistory(client) : []
    return compareHistory(migrations, history).map(({ name }) => name)
  })
}

/** True if the database has these migrations; newer ones don't matter to a running service. */
export async function hasMigrations(db: Connection, names: string[]): Promise<boolean> {
  const [row] = await db.$queryRaw<{ count: number }[]>`
    SELECT count(DISTINCT migration_name)::int AS count FROM _prisma_migrations
    WHERE migration_name = ANY(${names}) AND finished_at IS NOT NULL AND rolled_back_at IS NULL`
  return row?.count === names.length
}

/** Polls for the lock, because CREATE INDEX CONCURRENTLY of another process would wait for a statement that waits for the lock. */
async function takeTurn(client: Client, log: Log): Promise<void> {
  for (let isLogged = false; ; isLogged = true) {
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS ours', [LOCK])
    if (rows[0].ours) return
    if (!isLogged) log.info({}, 'waiting for another process to migrate the database')
    await sleep(TURN_TRIED_EVERY_MS)
  }
}

async function readHistory(client: Client): Promise<Applied[]> {
  const { rows } = await client.query<Applied>(
    'SELECT migration_name, checksum, finished_at, logs FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY started_at',
  )
  return rows
}

function compareHistory(migrations: Migration[], history: Applied[], log = silent): Migration[] {
  const baseline = history.find(({ migration_name }) => migration_name === BASELINE)
  if (history.length > 0 && baseline?.checksum !== migrations.find(({ name }) => name === BASELINE)?.checksum)
    throw new Error('Made before 1.0: start on an empty database.')
  for (const { migration_name, checksum, finished_at, logs: appliedBy } of history) {
    const migration = migrations.find(({ name }) => name === migration_name)
    if (!migration && !isNextRelease(appliedBy))
      throw new Error(
        `The database has the migration ${migration_name}, which this version does not know: run the version that made it, or a newer one.`,
      )
    if (!finished_at)
      throw new Error(
        `The migration ${migration_name} was left unfinished: repair the database, then mark it with "prisma migrate resolve".`,
      )
    if (!migration) log.warn({ migration: migration_name, appliedBy }, 'a newer release has migrated: running beside it')
    else if (migration.checksum !== checksum)
      throw new Error(`The migration ${migration_name} was changed after it had been applied: restore its file.`)
  }
  const applied = new Set(history.map(({ migration_name }) => migration_name))
  return migrations.filter(({ name }) => !applied.has(name))
}

/** True for a later patch of this minor version, and for the next minor version: this release can run on their schema (docs/versions.md). */
function isNextRelease(appliedBy: string | null): boolean {
  const [major, minor, patch] = manifest.version.split('.').map(Number) as [number, number, number]
  const [itsMajor, itsMinor, itsPatch] = (appliedBy ?? '').split('.').map(Number)
  if (itsMajor !== major) return false
  return itsMinor === minor + 1 || (itsMinor === minor && itsPatch !== undefined && itsPatch > patch)
}

/** Another transaction has the lock (55P03), or this one was chosen to resolve a deadlock (40P01). */
const isLocked = (error: unknown): boolean => ['55P03', '40P01'].includes((error as { code?: string }).code ?? '')

async function applyPatiently(client: Client, migration: Migration, log: Log, attempts: number): Promise<void> {
  const { name, isAlone } = migration
  for (let attempt = 1; ; attempt++) {
    try {
      return isAlone ? await applyAlone(client, migration, log) : await apply(client, migration)
    } catch (cause) {
      const reason = (cause as Error).message
      if (!isLocked(cause)) throw new Error(`The migration ${name} failed and was rolled back: ${reason}`, { cause })
      if (attempt === attempts)
        throw new Error(
          `The migration ${name} failed and was rolled back: ${reason}, ${attempts} times. A transaction that goes on for long holds it up, see pg_stat_activity.`,
          { cause },
        )
      log.warn({ migration: name, attempt, reason }, 'a migration could not get its locks: retrying')
      await sleep(LOCK_PAUSE_MS)
    }
  }
}

async function apply(client: Client, migration: Migration): Promise<void> {
  try {
    await client.query(`BEGIN; SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`)
    await client.query(migration.sql)
    await record(client, migration)
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  }
}

async function applyAlone(client: Client, migration: Migration, log: Log): Promise<void> {
  const { index } = migration
  await client.query(`SET lock_timeout = '${index === undefined ? LOCK_TIMEOUT : CONCURRENT_LOCK_TIMEOUT}'`)
  await (index === undefined ? client.query(migration.sql) : indexConcurrently(client, migration.sql, index, log))
  await record(client, migration)
}

/** Removes the invalid index of an interrupted run first. */
async function indexConcurrently(client: Client, sql: string, index: string, log: Log): Promise<void> {
  await dropInvalid(client, index)
  try {
    await client.query(sql)
  } catch (error) {
    await client.query(`SET lock_timeout = '${LOCK_TIMEOUT}'`)
    await dropInvalid(client, index).catch((dropError) =>
      log.warn({ index, reason: dropError.message }, 'a migration left an invalid index: the next run drops it'),
    )
    throw error
  }
}

async function dropInvalid(client: Client, index: string): Promise<void> {
  const { rows } = await client.query('SELECT FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid', [
    `"${index}"`,
  ])
  if (rows.length > 0) await client.query(`DROP INDEX CONCURRENTLY "${index}"`)
}

async function record(client: Client, { name, checksum }: Migration): Promise<void> {
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, logs, started_at, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, $4, now(), clock_timestamp(), 1)`,
    [randomUUID(), checksum, name, manifest.version],
  )
}

async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000, options: UNBOUNDED_OPTIONS })
  client.on('error', () => {}) // the query in flight rejects with it
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end() // ends the session, and with it the lock
  }
}
