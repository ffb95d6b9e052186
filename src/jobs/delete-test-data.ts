import type { PgBoss } from 'pg-boss'
import type { ServiceContext } from '../domain/context.ts'
import { continueDeletion } from '../domain/test-data/delete-test-data.ts'
import { HEARTBEAT_REFRESH_SECONDS, TEST_DATA, type TestDataJob } from './queue.ts'

const POLLING_SECONDS = 2

/** Starts the worker that deletes test data, those of one organization at a time. It ends with `boss.stop()`. */
export async function startDeletingTestData(boss: PgBoss, system: ServiceContext): Promise<void> {
  const polling = { pollingIntervalSeconds: POLLING_SECONDS, notifyPollingIntervalSeconds: POLLING_SECONDS }
  const options = { ...polling, heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS }
  await boss.work<TestDataJob>(TEST_DATA, options, async (jobs) => {
    for (const { data } of jobs) {
      await continueDeletion(system, { ...data, until: new Date(data.until) }).catch((err) => {
        system.deps.log.error({ err, ...data }, 'test data could not be deleted yet')
        throw err
      })
    }
  })
}
