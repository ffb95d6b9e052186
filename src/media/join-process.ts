import type { Remuxed } from '../domain/submissions/media/join-recording.ts'
import { doOneWork } from '../processes/run-task.ts'
import { joinSegments, type Way } from './join-segments.ts'

export type Order = { segments: string[]; to: string; way: Way }
export type Outcome =
  | { remuxed: Remuxed }
  /** @property isOfInput true if the recording is at fault; otherwise a retry may succeed. */
  | { problem: string; isOfInput: boolean }

/** System errors that only a damaged recording causes. */
const ABSURD = ['EINVAL', 'EFBIG', 'EOVERFLOW', 'ERANGE']

// Program started by remuxInProcess for one recording.
doOneWork<Order, Outcome>(async ({ segments, to, way }) => ({ remuxed: await joinSegments(segments, to, way) }), describe)

function describe(error: unknown): Outcome {
  const isOfSystem = error instanceof Error && 'syscall' in error && 'code' in error && !ABSURD.includes(String(error.code))
  return { problem: error instanceof Error ? error.message : String(error), isOfInput: !isOfSystem }
}
