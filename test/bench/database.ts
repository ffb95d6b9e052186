import { hash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'pg'
import { pino } from 'pino'
import { startEmbeddedDatabase } from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { startQueue } from '../../src/jobs/queue.ts'
import { makeFolder, onRunEnd } from './endings.ts'

/** The benchmark's PostgreSQL, durable as in production. @property pool for filling and inspecting it. @property dataDir DATA_DIR of the services. */
export type BenchDatabase = { url: string; pool: Pool; dataDir: string }

/** Starts a PostgreSQL in a new folder, with the migrated schema, the job queue's tables, and no rows. */
export async function startDatabase(): Promise<BenchDatabase> {
  const dataDir = await makeFolder()
  const { url, folder, release } = await startEmbeddedDatabase({ dataDir })
  const pool = new Pool({ connectionString: url, max: 2 })
  // The current or next query reports a broken connection.
  pool.on('connect', (client) => client.on('error', () => {}))
  pool.on('error', () => {})
  onRunEnd(async () => {
    // PostgreSQL stops only after all other connections have closed.
    await pool.query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`)
    await pool.end()
    await release()
    await rm(folder, { recursive: true, force: true })
  })
  await migrate(url)
  const boss = await startQueue(url, pino({ level: 'silent' }), { works: false })
  await boss.stop()
  return { url, pool, dataDir }
}

/** Repeats the query `SELECT … AS rest` until `rest` is 0. @throws Error when it is not 0 within the seconds. */
export async function waitForRest(
  { pool }: BenchDatabase,
  text: string,
  values: unknown[],
  seconds: number,
  everyMs = 20,
): Promise<void> {
  const deadline = Date.now() + seconds * 1000
  for (;;) {
    const { rows } = await pool.query({ name: hash('md5', text), text, values })
    if (Number(rows[0].rest) === 0) return
    if (Date.now() > deadline) throw new Error(`${rows[0].rest} of it are left after ${seconds} s: ${text}`)
    await sleep(everyMs)
  }
}
