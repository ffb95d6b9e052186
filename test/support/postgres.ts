import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type EmbeddedDatabase, startEmbeddedDatabase } from '../../src/db/embedded.ts'
import { socketOf } from './line.ts'
import { serverPid } from './replica.ts'
import { waitUntil } from './wait-until.ts'

/** Starts a PostgreSQL for one test, which can stop it, unlike the shared one. */
export async function startPostgres() {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'assessments-faults-'))
  await chmod(dataDir, 0o755) // under root, another user runs the database server
  let database: EmbeddedDatabase = await startEmbeddedDatabase({ dataDir })
  return {
    url: database.url,
    /** The Unix socket on which it listens. */
    socket: socketOf(database.url),
    /** Stops it like `pg_ctl stop -m immediate`: backends abort without cleanup, and the next start recovers. */
    async stopAtOnce() {
      const pid = await serverPid(database)
      process.kill(pid, 'SIGQUIT')
      await waitUntil('the database to stop', () => (isRunning(pid) ? undefined : true))
    },
    async start() {
      database = await startEmbeddedDatabase({ dataDir })
    },
    async close() {
      await database.release()
      await rm(dataDir, { recursive: true, force: true })
      await rm(database.folder, { recursive: true, force: true })
    },
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
