import type { PgBoss } from 'pg-boss'
import type { ServiceContext } from '../domain/context.ts'
import { continueBatch } from '../domain/invites/batches/continue-batch.ts'
import { HEARTBEAT_REFRESH_SECONDS, INVITE_BATCHES, type InviteBatchJob } from './queue.ts'

const POLLING_SECONDS = 2

/**
 * Starts the worker that invites who is in a batch, a part of it a job: so that two batches take turns, and a process that is told to stop
 * has little to finish. It ends with `boss.stop()`.
 */
export async function startInvitingBatches(boss: PgBoss, system: ServiceContext): Promise<void> {
  const polling = { pollingIntervalSeconds: POLLING_SECONDS, notifyPollingIntervalSeconds: POLLING_SECONDS }
  const options = { ...polling, heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS }
  await boss.work<InviteBatchJob>(INVITE_BATCHES, options, async (jobs) => {
    for (const { data } of jobs) {
      await continueBatch(system, data.batchId).catch((err) => {
        system.deps.log.error({ err, ...data }, 'a batch of invites could not be continued yet')
        throw err
      })
    }
  })
}
