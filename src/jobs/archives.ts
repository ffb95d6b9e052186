import type { PgBoss } from 'pg-boss'
import { makeArchive } from '../domain/archives/make-archive.ts'
import type { ServiceContext } from '../domain/context.ts'
import { ARCHIVES, type ArchiveJob, HEARTBEAT_REFRESH_SECONDS } from './queue.ts'
import { withinJob } from './within-job.ts'

const POLLING_SECONDS = 2

/** Starts the worker that makes archives, one at a time. It ends with `boss.stop()`. */
export async function startArchiving(boss: PgBoss, system: ServiceContext): Promise<void> {
  const polling = { pollingIntervalSeconds: POLLING_SECONDS, notifyPollingIntervalSeconds: POLLING_SECONDS }
  const options = { ...polling, heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS }
  await boss.work<ArchiveJob>(ARCHIVES, options, async (jobs) => {
    for (const job of jobs) {
      const work = () => makeArchive(system, job.data)
      await withinJob(ARCHIVES, job, work, { log: system.deps.log, message: 'an archive could not be made yet' })
    }
  })
}
