import type { PgBoss } from 'pg-boss'
import { buildArchive } from '../domain/archives/build-archive.ts'
import type { ServiceContext } from '../domain/context.ts'
import { erasePerson } from '../domain/erasure/erase-person.ts'
import { continueSuspension } from '../domain/erasure/suspension.ts'
import { continueBatch } from '../domain/invites/batches/continue-batch.ts'
import { continueBulkChange } from '../domain/invites/bulk/continue-bulk-change.ts'
import { continueImport } from '../domain/library/continue-import.ts'
import type { LogMessage } from '../domain/ports/log-events.ts'
import { continueCorrection } from '../domain/submissions/corrections/continue-correction.ts'
import { continueDeletion } from '../domain/test-data/delete-test-data.ts'
import {
  type AnswerKeyCorrectionJob,
  ARCHIVES,
  type ArchiveJob,
  BULK_CHANGES,
  type BulkChangeJob,
  HEARTBEAT_REFRESH_SECONDS,
  INVITE_BATCHES,
  type InviteBatchJob,
  KEY_CORRECTIONS,
  LIBRARY_IMPORTS,
  type LibraryImportJob,
  SUSPENSIONS,
  type SuspensionJob,
  TEST_DATA,
  type TestDataJob,
} from './queue.ts'
import { runJob } from './run-job.ts'

const POLLING_SECONDS = 2
const OPTIONS = {
  pollingIntervalSeconds: POLLING_SECONDS,
  notifyPollingIntervalSeconds: POLLING_SECONDS,
  heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS,
}

/**
 * Starts one worker for each queue that runs one job at a time. Long work is split into several jobs, so that organizations alternate and a
 * stopping process has little to finish. The workers end with `boss.stop()`.
 */
export async function startSerialWorkers(boss: PgBoss, system: ServiceContext): Promise<void> {
  const { log } = system.deps
  const start = <Job extends object>(queue: string, work: (job: Job) => Promise<void>, message: LogMessage) =>
    boss.work<Job>(queue, OPTIONS, async (jobs) => {
      for (const job of jobs) await runJob(queue, job, () => work(job.data), { log, message })
    })
  await start<InviteBatchJob>(
    INVITE_BATCHES,
    (job) => continueBatch(system, { ...job, id: job.batchId }),
    'a batch of invites could not be continued yet',
  )
  await start<BulkChangeJob>(
    BULK_CHANGES,
    (job) => continueBulkChange(system, { ...job, id: job.bulkChangeId }, erasePerson),
    'a bulk change could not be continued yet',
  )
  await start<LibraryImportJob>(
    LIBRARY_IMPORTS,
    (job) => continueImport(system, job),
    'an import of questions could not be continued yet',
  )
  await start<AnswerKeyCorrectionJob>(
    KEY_CORRECTIONS,
    (job) => continueCorrection(system, job),
    'a correction of a key could not be continued yet',
  )
  await start<TestDataJob>(
    TEST_DATA,
    ({ organizationId, until }) => continueDeletion(system, { organizationId, until: new Date(until) }),
    'test data could not be deleted yet',
  )
  await start<SuspensionJob>(
    SUSPENSIONS,
    (job) => continueSuspension(system, job.suspensionId),
    'the work for a suspended organization could not be continued yet',
  )
  await start<ArchiveJob>(ARCHIVES, (job) => buildArchive(system, job), 'an archive could not be made yet')
}
