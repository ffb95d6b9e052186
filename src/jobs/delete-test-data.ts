import type { PgBoss } from 'pg-boss'
import type { ServiceContext } from '../domain/context.ts'
import { continueDeletion } from '../domain/test-data/delete-test-data.ts'
import { HEARTBEAT_REFRESH_SECONDS, TEST_DATA, type TestDataJob } from './queue.ts'
import { withinJob } from './within-job.ts'

const POLLING_SECONDS = 2

/** Starts the worker that deletes test data, those of one organization at a time. It ends with `boss.stop()`. */
export async function startDeletingTestData(boss: PgBoss, system: ServiceContext): Promise<void> {
  const polling = { pollingIntervalSeconds: POLLING_SECONDS, notifyPollingIntervalSeconds: POLLING_SECONDS }
  const options = { ...polling, heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS }
  await boss.work<TestDataJob>(TEST_DATA, options, async (jobs) => {
    for (const job of jobs) {
      const { organizationId, until } = job.data
      const work = () => continueDeletion(system, { organizationId, until: new Date(until) })
      await withinJob(TEST_DATA, job, work, { log: system.deps.log, message: 'test data could not be deleted yet' })
    }
  })
}
