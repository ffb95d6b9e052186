import type { PgBoss } from 'pg-boss'
import type { ServiceContext } from '../domain/context.ts'
import { giveUpRecording, joinRecording, type Remux } from '../domain/submissions/join.ts'
import { DEAD_RECORDINGS, HEARTBEAT_REFRESH_SECONDS, RECORDINGS, type RecordingJob } from './queue.ts'

const POLLING_SECONDS = 2

/** Starts the worker that makes recordings one file each, one at a time. It ends with `boss.stop()`. */
export async function startJoiningRecordings(boss: PgBoss, system: ServiceContext, remux: Remux): Promise<void> {
  const polling = { pollingIntervalSeconds: POLLING_SECONDS, notifyPollingIntervalSeconds: POLLING_SECONDS }
  const options = { ...polling, heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS }
  await boss.work<RecordingJob>(RECORDINGS, options, async (jobs) => {
    for (const { data } of jobs) {
      await joinRecording(system, data.mediaId, remux).catch((err) => {
        system.deps.log.error({ err, ...data }, 'a recording could not be joined yet')
        throw err
      })
    }
  })
  await boss.work<RecordingJob>(DEAD_RECORDINGS, options, async (jobs) => {
    for (const { data } of jobs) await giveUpRecording(system, data.mediaId)
  })
}
