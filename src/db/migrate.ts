import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { Client } from 'pg'

const MIGRATIONS_FOLDER = path.join(import.meta.dirname, '../../prisma/migrations')
/** Prisma Migrate's own advisory lock, so that its `migrate deploy` and ours wait for each other too. */
const LOCK = 72_707_369

type Migration = { name: string; sql: string; checksum: string }
type Applied = { migration_name: string; checksum: string; finished_at: Date | null }

/**
 * Applies the migrations that the database lacks, in order, a transaction each, and records them as Prisma Migrate does, so that
 * `prisma migrate deploy` agrees with the history. Processes that start at once wait for each other.
 *
 * @returns the names of the migrations applied now.
 * @throws Error when a recorded migration is missing here, has been changed since, or was left unfinished; when one fails.
 */
export async function migrate(url: string): Promise<string[]> {
  return withClient(url, async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK])
    await client.query(`CREATE TABLE IF NOT EXISTS _prisma_migrations (
      id varchar(36) PRIMARY KEY, checksum varchar(64) NOT NULL, finished_at timestamptz, migration_name varchar(255) NOT NULL,
      logs text, rolled_back_at timestamptz, started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0)`)
    const pending = compareHistory(await readMigrations(), await readHistory(client))
    for (const migration of pending) await apply(client, migration)
    return pending.map((migration) => migration.name)
  })
}

/**
 * The names of the migrations that the database lacks; it changes nothing.
 *
 * @throws Error as `migrate` does when the recorded history and the files disagree.
 */
export async function findPendingMigrations(url: string): Promise<string[]> {
  return withClient(url, async (client) => {
    const { rows } = await client.query(`SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists`)
    const history = rows[0].exists ? await readHistory(client) : []
    return compareHistory(await readMigrations(), history).map((migration) => migration.name)
  })
}

async function readMigrations(): Promise<Migration[]> {
  const entries = await readdir(MIGRATIONS_FOLDER, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(path.join(MIGRATIONS_FOLDER, name, 'migration.sql'), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

async function readHistory(client: Client): Promise<Applied[]> {
  const { rows } = await client.query<Applied>(
    'SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY started_at',
  )
  return rows
}

function compareHistory(migrations: Migration[], history: Applied[]): Migration[] {
  for (const { migration_name, checksum, finished_at } of history) {
    const migration = migrations.find(({ name }) => name === migration_name)
    if (!migration)
      throw new Error(
        `The database has the migration ${migration_name}, which this version does not know: run the version that made it, or a newer one.`,
      )
    if (!finished_at)
      throw new Error(
        `The migration ${migration_name} was left unfinished: repair the database, then mark it with "prisma migrate resolve".`,
      )
    if (migration.checksum !== checksum)
      throw new Error(`The migration ${migration_name} was changed after it had been applied: restore its file.`)
  }
  const applied = new Set(history.map(({ migration_name }) => migration_name))
  return migrations.filter(({ name }) => !applied.has(name))
}

async function apply(client: Client, { name, sql, checksum }: Migration): Promise<void> {
  try {
    await client.query('BEGIN')
    await client.query(sql)
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
      [randomUUID(), checksum, name],
    )
    await client.query('COMMIT')
  } catch (cause) {
    await client.query('ROLLBACK')
    throw new Error(`The migration ${name} failed and was rolled back: ${(cause as Error).message}`, { cause })
  }
}

async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  client.on('error', () => {}) // the query in flight rejects with it
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end() // ends the session, and with it the lock
  }
}
