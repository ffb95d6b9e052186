import type { PgBoss } from 'pg-boss'
import { inSpan } from '../domain/concurrency/tracing.ts'
import type { ServiceContext } from '../domain/context.ts'
import { giveUpRecording, type JoinTools, joinRecording } from '../domain/submissions/media/join-recording.ts'
import { DEAD_RECORDINGS, HEARTBEAT_REFRESH_SECONDS, RECORDINGS, type RecordingJob } from './queue.ts'
import { runJob } from './run-job.ts'

const POLLING_SECONDS = 2

/**
 * Starts the workers that join each recording's parts into one file. They end with `boss.stop()`.
 *
 * @param joiners recordings joined at a time. With more than one, an organization can occupy all but one.
 */
export async function startRecordingWorkers(
  boss: PgBoss,
  system: ServiceContext,
  { joiners, ...tools }: JoinTools & { joiners: number },
): Promise<void> {
  const polling = { pollingIntervalSeconds: POLLING_SECONDS, notifyPollingIntervalSeconds: POLLING_SECONDS }
  const options = { ...polling, heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS }
  const sharing = joiners > 1 ? { localConcurrency: joiners, localGroupConcurrency: joiners - 1 } : {}
  await boss.work<RecordingJob>(RECORDINGS, { ...options, ...sharing }, async (jobs) => {
    for (const job of jobs) {
      const join = () => inSpan({ name: 'recording', kind: 'internal' }, () => joinRecording(system, job.data, tools))
      await runJob(RECORDINGS, job, join, { log: system.deps.log, message: 'a recording could not be joined yet' })
    }
  })
  await boss.work<RecordingJob>(DEAD_RECORDINGS, options, async (jobs) => {
    for (const job of jobs) await runJob(DEAD_RECORDINGS, job, () => giveUpRecording(system, job.data))
  })
}
