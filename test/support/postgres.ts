import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type EmbeddedDatabase, startEmbeddedDatabase } from '../../src/db/embedded.ts'
import { socketOf } from './line.ts'
import { serverPid } from './replica.ts'
import { waitUntil } from './wait-until.ts'

/** A PostgreSQL of a test's own, to do to it what is not done to the one that all tests share. */
export async function startPostgres() {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'assessments-faults-'))
  await chmod(dataDir, 0o755) // under root the server is another user's
  let database: EmbeddedDatabase = await startEmbeddedDatabase({ dataDir })
  return {
    url: database.url,
    /** The unix socket it listens on. */
    socket: socketOf(database.url),
    /** As `pg_ctl stop -m immediate` does: no backend says goodbye, the next start recovers. */
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
