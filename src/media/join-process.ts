import type { Remuxed } from '../domain/submissions/media/join-recording.ts'
import { runTask } from '../processes/run-task.ts'
import { type JoinMethod, joinSegments } from './join-segments.ts'

export type JoinTask = { segments: string[]; to: string; method: JoinMethod }
export type JoinOutcome =
  | { remuxed: Remuxed }
  /** @property isOfInput true if the recording is at fault; otherwise a retry may succeed. */
  | { problem: string; isOfInput: boolean }

/** System errors that only a damaged recording causes. */
const DAMAGE_ERRORS = ['EINVAL', 'EFBIG', 'EOVERFLOW', 'ERANGE']

// Program started by remuxInProcess for one recording.
runTask<JoinTask, JoinOutcome>(
  async ({ segments, to, method }) => ({ remuxed: await joinSegments(segments, to, method) }),
  describe,
)

function describe(error: unknown): JoinOutcome {
  const isOfSystem =
    error instanceof Error && 'syscall' in error && 'code' in error && !DAMAGE_ERRORS.includes(String(error.code))
  return { problem: error instanceof Error ? error.message : String(error), isOfInput: !isOfSystem }
}
