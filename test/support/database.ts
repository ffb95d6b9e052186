import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import type { TestProject } from 'vitest/node'
import { startEmbeddedDatabase } from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { startQueue } from '../../src/jobs/queue.ts'
import { partitionByOrganization } from './partitions.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Connection string of the database that every test file's own is a copy of. */
    templateUrl: string
  }
}

/** Starts one real PostgreSQL for the whole run, with one migrated database to copy from. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'assessments-test-'))
  await chmod(dataDir, 0o755) // under root the server is another user's
  const database = await startEmbeddedDatabase({ dataDir, durable: false })
  await migrate(database.url)
  if (project.config.env?.TEST_PARTITIONS) await partitionByOrganization(database.url)
  const boss = await startQueue(database.url, pino({ level: 'silent' }), { works: false })
  await boss.stop()
  project.provide('templateUrl', database.url)
  return async () => {
    await database.release()
    await rm(database.folder, { recursive: true, force: true })
    await rm(dataDir, { recursive: true, force: true })
  }
}
