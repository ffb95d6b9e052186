import { fileURLToPath } from 'node:url'
import { createFairTurns } from '../domain/concurrency/turns.ts'
import type { TypesetReport } from '../domain/context.ts'
import { DomainError } from '../domain/errors.ts'
import type { PrintedReport } from '../domain/ports/printed-report.ts'
import { type Program, runLimited } from '../processes/run-limited.ts'
import type { Order, Outcome } from './order.ts'

/** Milliseconds that a report may take besides its processor's time: somebody waits for it. */
const PATIENCE_MS = 10_000
const PROGRAM: Program = {
  path: fileURLToPath(new URL('./typeset-process.ts', import.meta.url)),
  heap: ['--max-old-space-size=64', '--max-semi-space-size=1'],
  patience: PATIENCE_MS,
}
/** An ordinary report takes 40 MB beyond what Node does, and a seventh of a second. */
const LIMITS = { bytes: 400_000_000, cpuSeconds: 10 }
/** Reports that are made at the same time, and that wait for it. */
const AT_ONCE = 1
const WAITING = 16

/**
 * Makes PDFs of reports, one at a time and each in a process of its own: the library is native code, and holds up
 * whatever runs it. Organizations take turns; a full line refuses whoever has most in it.
 */
export function createTypesetting(clock: () => Date): TypesetReport {
  const refusal = () => new DomainError('too_many_reports')
  const inTurn = createFairTurns(AT_ONCE, { waiting: WAITING, refusal })
  return async (report, { whose, onGone }) => {
    let isWaitedFor = true
    const stay = onGone?.(() => {
      isWaitedFor = false
    })
    try {
      return await inTurn(whose, async () => {
        if (!isWaitedFor) throw refusal()
        return typeset(report, clock())
      })
    } finally {
      stay?.()
    }
  }
}

/** @throws Error where it can't be made within the limits. */
export async function typeset(report: PrintedReport, at: Date): Promise<Uint8Array> {
  const order: Order = { report, madeAt: Math.floor(at.getTime() / 1_000) }
  const outcome = await runLimited<Outcome>(PROGRAM, LIMITS, order)
  if ('problem' in outcome) throw new Error(`A report could not be set: ${outcome.problem}`)
  return outcome.pdf
}
