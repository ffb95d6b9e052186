import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { startEmbeddedDatabase } from '../../src/db/embedded.ts'

/** Creates a DATA_DIR for a process that starts its own database. The folder, and a database that still runs in it, are removed with the test. */
export async function makeDataDir(): Promise<string> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'assessments-data-'))
  await chmod(dataDir, 0o755) // under root, another user runs the database server
  onTestFinished(async () => {
    if (await runsServer(dataDir)) await startEmbeddedDatabase({ dataDir }).then(({ release }) => release())
    await rm(dataDir, { recursive: true, force: true })
  })
  return dataDir
}

/** True if a database server still runs there: a server removes its pid file when it stops. */
export const runsServer = (dataDir: string): Promise<boolean> =>
  readFile(path.join(dataDir, 'postgres/postmaster.pid')).then(
    () => true,
    () => false,
  )
