import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'pg'
import { pino } from 'pino'
import { startEmbeddedDatabase } from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { startQueue } from '../../src/jobs/queue.ts'
import { atTheEnd } from './endings.ts'

/** The run's own PostgreSQL: durable, as in production. */
export type BenchDatabase = {
  /** Connection string. */
  url: string
  /** The server's files. */
  folder: string
  /** The run's own connections, to fill it and to look into it. */
  pool: Pool
  /** The services' DATA_DIR. */
  dataDir: string
}

/** How long the database may go on with what was asked of it before, in milliseconds. */
const QUIET_WITHIN_MS = 20_000

/** Starts an empty, migrated PostgreSQL in a folder of its own, with the job queue's tables. */
export async function startDatabase(): Promise<BenchDatabase> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'assessments-bench-'))
  atTheEnd('the database folder', () => rm(dataDir, { recursive: true, force: true }))
  await chmod(dataDir, 0o755) // under root the server is another user's
  const { url, folder, release } = await startEmbeddedDatabase({ dataDir })
  const pool = new Pool({ connectionString: url, max: 2 })
  // A connection that breaks: the query that was under way on it, or the next one, says so.
  pool.on('connect', (client) => client.on('error', () => {}))
  pool.on('error', () => {})
  atTheEnd('the database', async () => {
    // It stops only when nobody else is connected any more.
    await pool.query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`)
    await pool.end()
    await release()
    await rm(folder, { recursive: true, force: true })
  })
  await migrate(url)
  const boss = await startQueue(url, pino({ level: 'silent' }), { works: false })
  await boss.stop()
  return { url, folder, pool, dataDir }
}

/** Waits until no query is under way, so that what one rival left behind does not burden the next. */
export async function waitUntilQuiet({ pool }: BenchDatabase): Promise<void> {
  const deadline = Date.now() + QUIET_WITHIN_MS
  for (;;) {
    const { rows } = await pool.query({
      name: 'busy',
      text: `SELECT count(*)::int AS busy FROM pg_stat_activity
        WHERE backend_type = 'client backend' AND state <> 'idle' AND pid <> pg_backend_pid()`,
    })
    if (rows[0].busy === 0) return
    if (Date.now() > deadline) throw new Error(`The database is still busy after ${QUIET_WITHIN_MS / 1000} s`)
    await sleep(20)
  }
}
