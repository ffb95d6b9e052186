import { stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { MeasureLevels } from '../domain/submissions/media/levels.ts'
import { type Program, runLimited } from '../processes/run-limited.ts'
import type { LevelsOutcome, LevelsTask } from './levels-process.ts'

/** Heap sizes in megabytes. Data is streamed. */
const PROGRAM: Program = {
  path: fileURLToPath(new URL('./levels-process.ts', import.meta.url)),
  heap: ['--max-old-space-size=64', '--max-semi-space-size=1', '--optimize-for-size'],
  timeoutMs: 60_000,
}
/** Memory beyond the process's initial usage, the decoder's included. */
const LIMIT_BYTES = 192_000_000
/** CPU seconds, fixed and per megabyte. A megabyte of Opus is four minutes, which take 0.6 s. */
const LIMIT_SECONDS = 5
const LIMIT_SECONDS_A_MB = 1

/** Measures levels in a child process at low priority, with limits by the file's size. @throws Error if it can't be decoded within them. */
export const measureLevelsInProcess: MeasureLevels = async (file) => {
  const { size } = await stat(file)
  const limits = { bytes: LIMIT_BYTES, cpuSeconds: LIMIT_SECONDS + (size / 1e6) * LIMIT_SECONDS_A_MB }
  const task: LevelsTask = { file }
  const outcome = await runLimited<LevelsOutcome>(PROGRAM, limits, task)
  if ('problem' in outcome) throw new Error(outcome.problem)
  return outcome.levels
}
