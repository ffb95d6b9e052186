import type { PgBoss } from 'pg-boss'
import type { ServiceContext } from '../domain/context.ts'
import { erasePerson } from '../domain/erasure/erase-person.ts'
import { continueBatch } from '../domain/invites/batches/continue-batch.ts'
import { continueBulkChange } from '../domain/invites/bulk/continue-bulk-change.ts'
import { continueImport } from '../domain/library/continue-import.ts'
import {
  BULK_CHANGES,
  type BulkChangeJob,
  HEARTBEAT_REFRESH_SECONDS,
  INVITE_BATCHES,
  type InviteBatchJob,
  LIBRARY_IMPORTS,
  type LibraryImportJob,
} from './queue.ts'
import { withinJob } from './within-job.ts'

const POLLING_SECONDS = 2

/**
 * Starts the workers that invite who is in a list, change invites in bulk and take files of questions, a part of it a job: so that two lists take turns, and a
 * process that is told to stop has little to finish. They end with `boss.stop()`.
 */
export async function startWorkingOnInvites(boss: PgBoss, system: ServiceContext): Promise<void> {
  const polling = { pollingIntervalSeconds: POLLING_SECONDS, notifyPollingIntervalSeconds: POLLING_SECONDS }
  const options = { ...polling, heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS }
  const start = <Job extends object>(
    queue: string,
    what: 'a batch of invites' | 'a bulk change' | 'an import of questions',
    work: (job: Job) => Promise<void>,
  ) =>
    boss.work<Job>(queue, options, async (jobs) => {
      for (const job of jobs) {
        const failing = { log: system.deps.log, message: `${what} could not be continued yet` } as const
        await withinJob(queue, job, () => work(job.data), failing)
      }
    })
  await start<InviteBatchJob>(INVITE_BATCHES, 'a batch of invites', (job) => continueBatch(system, { ...job, id: job.batchId }))
  await start<BulkChangeJob>(BULK_CHANGES, 'a bulk change', (job) =>
    continueBulkChange(system, { ...job, id: job.bulkChangeId }, erasePerson),
  )
  await start<LibraryImportJob>(LIBRARY_IMPORTS, 'an import of questions', (job) => continueImport(system, job))
}
