import type { PgBoss } from 'pg-boss'
import type { ServiceContext } from '../domain/context.ts'
import { continueHold } from '../domain/erasure/hold.ts'
import { HEARTBEAT_REFRESH_SECONDS, HOLDS, type HoldJob } from './queue.ts'
import { withinJob } from './within-job.ts'

const POLLING_SECONDS = 2

/** Starts the worker that looks after organizations on hold: reminds owners, and erases, one at a time. It ends with `boss.stop()`. */
export async function startHolding(boss: PgBoss, system: ServiceContext): Promise<void> {
  const polling = { pollingIntervalSeconds: POLLING_SECONDS, notifyPollingIntervalSeconds: POLLING_SECONDS }
  const options = { ...polling, heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS }
  await boss.work<HoldJob>(HOLDS, options, async (jobs) => {
    for (const job of jobs) {
      const work = () => continueHold(system, job.data.holdId)
      const told = { log: system.deps.log, message: 'an organization on hold could not be looked after yet' } as const
      await withinJob(HOLDS, job, work, told)
    }
  })
}
