import { fileURLToPath } from 'node:url'
import { createFairQueue } from '../domain/concurrency/work-queues.ts'
import { DomainError } from '../domain/errors.ts'
import type { PrintedReport, TypesetReport } from '../domain/ports/printed-report.ts'
import { type Program, runLimited } from '../processes/run-limited.ts'
import type { TypesetOutcome, TypesetTask } from './typeset-task.ts'

/** Milliseconds in addition to CPU time. A person waits for the report. */
const TIMEOUT_MS = 10_000
const PROGRAM: Program = {
  path: fileURLToPath(new URL('./typeset-process.ts', import.meta.url)),
  heap: ['--max-old-space-size=64', '--max-semi-space-size=1'],
  timeoutMs: TIMEOUT_MS,
}
/** Typical use is 40 MB beyond Node's own, and 0.15 s. */
const LIMITS = { bytes: 400_000_000, cpuSeconds: 10 }
/** Reports made concurrently, and reports that wait. */
const AT_ONCE = 1
const MAX_WAITING = 16

/**
 * Typesets PDF reports in child processes, one at a time, because the native library blocks its process. Organizations take turns. A full queue
 * refuses the organization with the most entries.
 */
export function createTypesetter(clock: () => Date): TypesetReport {
  const refusal = () => new DomainError('too_many_reports')
  const inTurn = createFairQueue(AT_ONCE, { waiting: MAX_WAITING, refusal })
  return (report, { queueKey, signal }) =>
    inTurn(queueKey, async () => {
      if (signal?.aborted) throw refusal()
      return typeset(report, clock())
    })
}

/** @throws Error if it can't be made within the limits. */
export async function typeset(report: PrintedReport, at: Date): Promise<Uint8Array> {
  const order: TypesetTask = { report, madeAt: Math.floor(at.getTime() / 1_000) }
  const outcome = await runLimited<TypesetOutcome>(PROGRAM, LIMITS, order)
  if ('problem' in outcome) throw new Error(`A report could not be set: ${outcome.problem}`)
  return outcome.pdf
}
