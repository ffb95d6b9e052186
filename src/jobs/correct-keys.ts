import type { PgBoss } from 'pg-boss'
import type { ServiceContext } from '../domain/context.ts'
import { continueCorrection } from '../domain/submissions/corrections/continue-correction.ts'
import { type AnswerKeyCorrectionJob, HEARTBEAT_REFRESH_SECONDS, KEY_CORRECTIONS } from './queue.ts'
import { withinJob } from './within-job.ts'

const POLLING_SECONDS = 2

/** Starts the worker that scores by corrected keys, a part of one a job: so that two take turns. It ends with `boss.stop()`. */
export async function startCorrectingKeys(boss: PgBoss, system: ServiceContext): Promise<void> {
  const polling = { pollingIntervalSeconds: POLLING_SECONDS, notifyPollingIntervalSeconds: POLLING_SECONDS }
  const options = { ...polling, heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS }
  await boss.work<AnswerKeyCorrectionJob>(KEY_CORRECTIONS, options, async (jobs) => {
    for (const job of jobs) {
      const failing = { log: system.deps.log, message: 'a correction of a key could not be continued yet' } as const
      await withinJob(KEY_CORRECTIONS, job, () => continueCorrection(system, job.data), failing)
    }
  })
}
