import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { startEmbeddedDatabase } from '../../src/db/embedded.ts'

/** A DATA_DIR for a process that starts its own database; what is left of it ends with the test. */
export async function makeDataDir(): Promise<string> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'assessments-data-'))
  await chmod(dataDir, 0o755) // under root the server is another user's
  onTestFinished(async () => {
    if (await runsServer(dataDir)) await startEmbeddedDatabase({ dataDir }).then(({ release }) => release())
    await rm(dataDir, { recursive: true, force: true })
  })
  return dataDir
}

/** True if a database server still runs there: a stopped one has removed its pid file. */
export const runsServer = (dataDir: string): Promise<boolean> =>
  readFile(path.join(dataDir, 'postgres/postmaster.pid')).then(
    () => true,
    () => false,
  )
