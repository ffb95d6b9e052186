import type { PgBoss } from 'pg-boss'
import type { ServiceContext } from '../domain/context.ts'
import { continueSuspension } from '../domain/erasure/suspension.ts'
import { HEARTBEAT_REFRESH_SECONDS, SUSPENSIONS, type SuspensionJob } from './queue.ts'
import { withinJob } from './within-job.ts'

const POLLING_SECONDS = 2

/** Starts the worker that looks after organizations on hold: reminds owners, and erases, one at a time. It ends with `boss.stop()`. */
export async function startSuspensionWorker(boss: PgBoss, system: ServiceContext): Promise<void> {
  const polling = { pollingIntervalSeconds: POLLING_SECONDS, notifyPollingIntervalSeconds: POLLING_SECONDS }
  const options = { ...polling, heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS }
  await boss.work<SuspensionJob>(SUSPENSIONS, options, async (jobs) => {
    for (const job of jobs) {
      const work = () => continueSuspension(system, job.data.suspensionId)
      const told = { log: system.deps.log, message: 'an organization on hold could not be looked after yet' } as const
      await withinJob(SUSPENSIONS, job, work, told)
    }
  })
}
