import { access, chmod, constants, mkdtemp, rm, statfs } from 'node:fs/promises'
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
    /** Connection string of the template database. Every test file gets a copy. */
    templateUrl: string
  }
}

/** Linux's memory file system, and the free space it must have: in containers, it usually has only 64 MB. */
const IN_MEMORY = '/dev/shm'
const WANTED_BYTES = 4 * 2 ** 30

/** Chooses memory if there is enough, because no data has to outlive the run. */
async function chooseFolder(): Promise<string> {
  const free = await access(IN_MEMORY, constants.W_OK)
    .then(() => statfs(IN_MEMORY))
    .then(
      ({ bavail, bsize }) => bavail * bsize,
      () => 0,
    )
  return free > WANTED_BYTES ? IN_MEMORY : tmpdir()
}

/** Starts one real PostgreSQL for the whole run, with one migrated template database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(path.join(await chooseFolder(), 'assessments-test-'))
  await chmod(dataDir, 0o755) // under root, another user runs the database server
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
