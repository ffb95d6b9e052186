import { setTimeout as sleep } from 'node:timers/promises'
import type { PgBoss } from 'pg-boss'
import type { ServiceContext } from '../domain/context.ts'
import { TranscriptionError } from '../domain/ports/transcriber.ts'
import { type ExtractSound, transcribeRecording } from '../domain/submissions/transcripts/transcribe-recording.ts'
import { HEARTBEAT_REFRESH_SECONDS, TRANSCRIPTS, type TranscriptJob } from './queue.ts'
import { runJob } from './run-job.ts'

const POLLING_SECONDS = 2
/** Pauses while the service is unavailable, in milliseconds. They double. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000
/** Pauses after which another recording is tried, because this one may be the reason why the service doesn't answer. */
const MAX_PAUSES = 8

/**
 * Starts the workers that send recorded answers to the speech recognition service. While it is unavailable, each worker keeps its recording
 * and asks again after a pause; the others stay in the queue. The workers end with `boss.stop()`.
 *
 * @param transcribers recordings sent at a time. With more than one, an organization can occupy all but one.
 */
export async function startTranscriptionWorkers(
  boss: PgBoss,
  system: ServiceContext,
  extractSound: ExtractSound,
  transcribers: number,
): Promise<void> {
  if (!system.deps.transcriber) return
  const polling = { pollingIntervalSeconds: POLLING_SECONDS, notifyPollingIntervalSeconds: POLLING_SECONDS }
  const options = { ...polling, heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS }
  const sharing = transcribers > 1 ? { localConcurrency: transcribers, localGroupConcurrency: transcribers - 1 } : {}
  const outage = createOutage(system)
  let isStopped = false
  boss.once('stopped', () => {
    isStopped = true
  })
  const transcribe = async ({ mediaId: id, organizationId, isPrompt }: TranscriptJob) => {
    for (let pauses = 0; ; pauses++) {
      await outage.pause()
      try {
        await transcribeRecording(system, { id, organizationId, isPrompt }, extractSound)
        return outage.end()
      } catch (error) {
        const isUnavailable = error instanceof TranscriptionError && error.failure === 'unavailable'
        if (isUnavailable) outage.extend(error)
        if (!isUnavailable || pauses === MAX_PAUSES || isStopped) throw error
      }
    }
  }
  const workers = await boss.work<TranscriptJob>(TRANSCRIPTS, { ...options, ...sharing }, async (jobs) => {
    boss.notifyWorker(workers) // takes the next one without a pause
    const failing = { log: system.deps.log, message: 'a recording could not be transcribed yet' } as const
    for (const job of jobs) await runJob(TRANSCRIPTS, job, () => transcribe(job.data), failing)
  })
}

/** Outage of the service as far as this process knows it. */
function createOutage({ deps }: ServiceContext) {
  let failures = 0
  let until = 0
  return {
    /** Waits until the service may be asked again. */
    async pause(): Promise<void> {
      for (let remaining = until - performance.now(); remaining > 0; remaining = until - performance.now())
        await sleep(remaining, undefined, { ref: false })
    },
    extend(err: TranscriptionError): void {
      if (failures === 0) deps.log.error({ err }, 'the speech recognition service is unavailable: recordings wait')
      const ms = err.retryAfterMs ?? Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS)
      failures++
      until = performance.now() + ms
      deps.metrics.recordingTranscribed('unavailable')
    },
    end(): void {
      if (failures > 0) deps.log.info({}, 'the speech recognition service is available again')
      failures = 0
      until = 0
    },
  }
}
