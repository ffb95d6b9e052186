import { stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type Remux, type Remuxed, UnreadableRecording } from '../domain/submissions/media/join-recording.ts'
import type { Limits } from '../processes/limit-process.ts'
import { ProcessEnded, type Program, runLimited } from '../processes/run-limited.ts'
import { hasFfmpeg } from './ffmpeg.ts'
import type { JoinOutcome, JoinTask } from './join-process.ts'
import type { JoinMethod } from './join-segments.ts'

/** Heap sizes in megabytes. Data is streamed. */
const PROGRAM: Program = {
  path: fileURLToPath(new URL('./join-process.ts', import.meta.url)),
  heap: ['--max-old-space-size=64', '--max-semi-space-size=1', '--optimize-for-size'],
  timeoutMs: 600_000,
}
/** Memory beyond the process's initial usage, buffers included. Track indexes grow with the recording. */
const LIMIT_BYTES = 128_000_000
/** CPU seconds, fixed and per megabyte. Typical use is a small part. */
const LIMIT_SECONDS = 5
const LIMIT_SECONDS_A_MB = 0.1

/**
 * Remuxes in a child process at low priority, with limits on memory and CPU time by the recording's size, so that a harmful recording only ends
 * that process. A recording that the library can't read is retried through ffmpeg, if installed.
 *
 * @throws UnreadableRecording if the recording is at fault; Error if a retry may succeed.
 */
export const remuxInProcess: Remux = async (segments, to) => {
  const sizes = await Promise.all(segments.map((segment) => stat(segment)))
  const megabytes = sizes.reduce((sum, { size }) => sum + size, 0) / 1e6
  const limits = { bytes: LIMIT_BYTES, cpuSeconds: LIMIT_SECONDS + megabytes * LIMIT_SECONDS_A_MB }
  try {
    return await remuxWithin(limits, segments, to)
  } catch (error) {
    if (!(error instanceof UnreadableRecording) || !(await hasFfmpeg())) throw error
    return remuxWithin(limits, segments, to, 'ffmpeg')
  }
}

/** Like {@link remuxInProcess}, with explicit limits. */
export async function remuxWithin(
  limits: Limits,
  segments: string[],
  to: string,
  method: JoinMethod = 'repaired',
): Promise<Remuxed> {
  const task: JoinTask = { segments, to, method }
  try {
    const outcome = await runLimited<JoinOutcome>(PROGRAM, limits, task)
    if ('remuxed' in outcome) return outcome.remuxed
    throw outcome.isOfInput ? new UnreadableRecording(outcome.problem) : new Error(outcome.problem)
  } catch (error) {
    if (!(error instanceof ProcessEnded)) throw error
    if (error.isInputFault) throw new UnreadableRecording(`The process that was to join it: ${error.message}`)
    throw new Error(`The process that joins a recording: ${error.message}`)
  }
}
