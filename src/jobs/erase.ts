import type { PgBoss } from 'pg-boss'
import type { ServiceContext } from '../domain/context.ts'
import { continueErasure } from '../domain/erasure/continue-erasure.ts'
import { ERASURES, type ErasureJob, HEARTBEAT_REFRESH_SECONDS } from './queue.ts'
import { withinJob } from './within-job.ts'

const POLLING_SECONDS = 2

/** Starts the worker that erases candidates, one at a time. It ends with `boss.stop()`. */
export async function startErasing(boss: PgBoss, system: ServiceContext): Promise<void> {
  const polling = { pollingIntervalSeconds: POLLING_SECONDS, notifyPollingIntervalSeconds: POLLING_SECONDS }
  const options = { ...polling, heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS }
  await boss.work<ErasureJob>(ERASURES, options, async (jobs) => {
    for (const job of jobs) {
      const work = () => continueErasure(system, job.data)
      await withinJob(ERASURES, job, work, { log: system.deps.log, message: 'an erasure could not be continued yet' })
    }
  })
}
