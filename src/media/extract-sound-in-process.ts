import { stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { UnreadableRecording } from '../domain/submissions/media/join-recording.ts'
import type { ExtractSound } from '../domain/submissions/transcripts/transcribe-recording.ts'
import { ProcessEnded, type Program, runLimited } from '../processes/run-limited.ts'
import type { SoundOutcome, SoundTask } from './sound-process.ts'

/** Heap sizes in megabytes. Data is streamed. */
const PROGRAM: Program = {
  path: fileURLToPath(new URL('./sound-process.ts', import.meta.url)),
  heap: ['--max-old-space-size=64', '--max-semi-space-size=1', '--optimize-for-size'],
  timeoutMs: 600_000,
}
/** Memory beyond the process's initial usage, buffers included. */
const LIMIT_BYTES = 128_000_000
/** CPU seconds, fixed and per megabyte. */
const LIMIT_SECONDS = 5
const LIMIT_SECONDS_A_MB = 0.1

/** Copies the sound in a child process with limits, so that a harmful recording only ends that process. */
export const extractSoundInProcess: ExtractSound = async (from, to) => {
  const { size } = await stat(from)
  const limits = { bytes: LIMIT_BYTES, cpuSeconds: LIMIT_SECONDS + (size / 1e6) * LIMIT_SECONDS_A_MB }
  const task: SoundTask = { from, to }
  try {
    const outcome = await runLimited<SoundOutcome>(PROGRAM, limits, task)
    if ('contentType' in outcome) return outcome.contentType
    throw outcome.isOfInput ? new UnreadableRecording(outcome.problem) : new Error(outcome.problem)
  } catch (error) {
    if (!(error instanceof ProcessEnded)) throw error
    if (error.isInputFault) throw new UnreadableRecording(`The process that copies its sound: ${error.message}`)
    throw new Error(`The process that copies the sound of a recording: ${error.message}`)
  }
}
