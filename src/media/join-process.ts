import type { Remuxed } from '../domain/submissions/media/join-recording.ts'
import { joinSegments, type Way } from './join-segments.ts'

/** What the process is given to do. */
export type Order = { segments: string[]; to: string; way: Way }
/** What it says: that it can be given its limits, and the recording then; and how that ended. */
export type Report =
  | { ready: true }
  | { remuxed: Remuxed }
  /** @property isOfInput whether the recording is at fault; otherwise another try may succeed. */
  | { problem: string; isOfInput: boolean }

/** Calls to the system that fail so were asked for what only a damaged recording asks for. */
const ABSURD = ['EINVAL', 'EFBIG', 'EOVERFLOW', 'ERANGE']

// The program that remuxInProcess starts: one recording, then it ends. It has no settings, no secrets and no connection to anything.
if (!process.send) throw new Error('This program is started by the service')
process.once('disconnect', () => process.exit())
process.once('uncaughtException', (error) => end(describe(error)))
process.once('message', ({ segments, to, way }: Order) => {
  joinSegments(segments, to, way).then(
    (remuxed) => end({ remuxed }),
    (error) => end(describe(error)),
  )
})
process.send({ ready: true } satisfies Report)

function end(report: Report): void {
  process.send?.(report, () => process.exit())
}

function describe(error: unknown): Report {
  const isOfSystem = error instanceof Error && 'syscall' in error && 'code' in error && !ABSURD.includes(String(error.code))
  return { problem: error instanceof Error ? error.message : String(error), isOfInput: !isOfSystem }
}
