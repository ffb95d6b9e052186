import type { Remuxed } from '../domain/submissions/media/join-recording.ts'
import { doOneWork } from '../processes/do-one-work.ts'
import { joinSegments, type Way } from './join-segments.ts'

/** What the process is given to do. */
export type Order = { segments: string[]; to: string; way: Way }
/** How it ends. */
export type Outcome =
  | { remuxed: Remuxed }
  /** @property isOfInput whether the recording is at fault; otherwise another try may succeed. */
  | { problem: string; isOfInput: boolean }

/** Calls to the system that fail so were asked for what only a damaged recording asks for. */
const ABSURD = ['EINVAL', 'EFBIG', 'EOVERFLOW', 'ERANGE']

// The program that remuxInProcess starts: one recording, then it ends.
doOneWork<Order, Outcome>(async ({ segments, to, way }) => ({ remuxed: await joinSegments(segments, to, way) }), describe)

function describe(error: unknown): Outcome {
  const isOfSystem = error instanceof Error && 'syscall' in error && 'code' in error && !ABSURD.includes(String(error.code))
  return { problem: error instanceof Error ? error.message : String(error), isOfInput: !isOfSystem }
}
