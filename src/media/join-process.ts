import type { Remuxed } from '../domain/submissions/media/join-recording.ts'
import { runTask } from '../processes/run-task.ts'
import { isDamage } from './damage.ts'
import { type JoinMethod, joinSegments } from './join-segments.ts'

export type JoinTask = { segments: string[]; to: string; method: JoinMethod }
export type JoinOutcome =
  | { remuxed: Remuxed }
  /** @property isOfInput true if the recording is at fault; otherwise a retry may succeed. */
  | { problem: string; isOfInput: boolean }

// Program started by remuxInProcess for one recording.
runTask<JoinTask, JoinOutcome>(
  async ({ segments, to, method }) => ({ remuxed: await joinSegments(segments, to, method) }),
  (error) => ({ problem: error instanceof Error ? error.message : String(error), isOfInput: isDamage(error) }),
)
