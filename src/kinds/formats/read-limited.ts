import { fileURLToPath } from 'node:url'
import { DomainError } from '../../domain/errors.ts'
import { createFairTurns } from '../../domain/work/turns.ts'
import { ProcessEnded, type Program, runLimited } from '../../processes/run-limited.ts'
import type { Order, Outcome } from './read-process.ts'

const PROGRAM: Program = {
  path: fileURLToPath(new URL('./read-process.ts', import.meta.url)),
  heap: ['--max-old-space-size=256', '--max-semi-space-size=4'],
  patience: 10_000, // somebody waits for it
}
/** The largest workbook that is taken needs a third of each. */
const LIMITS = { bytes: 400_000_000, cpuSeconds: 5 }

/** Files that are read at the same time, and that wait for it. */
const inTurn = createFairTurns(1, { waiting: 8, refusal: () => new DomainError('too_many_imports') })

/**
 * Reads a file of questions in a process of its own: what somebody has made of a sheet, that process dies of alone, and nobody else's request waits
 * for it. Organizations take turns.
 *
 * @param whose the organization.
 * @returns JSON of its questions, in parts: each a list of ReadQuestion.
 * @throws DomainError too_many_imports; invalid, at `file`, for what can't be read.
 */
export async function readLimited(whose: string, order: Order): Promise<{ format: string; parts: Uint8Array[] }> {
  const outcome = await inTurn(whose, () => runLimited<Outcome>(PROGRAM, LIMITS, order)).catch((error: unknown) => {
    if (error instanceof ProcessEnded && error.isOfInput) throw refusal('tooHeavy')
    throw error
  })
  if ('bug' in outcome) throw new Error(`A file of questions could not be read: ${outcome.bug}`)
  if ('problem' in outcome) throw refusal(outcome.problem, outcome.limit)
  return outcome
}

type Problem = Extract<Outcome, { problem: string }>['problem'] | 'tooHeavy'

const refusal = (problem: Problem, limit?: number): DomainError =>
  new DomainError('invalid', { issues: [{ field: 'file', rule: 'account', problem, ...(limit !== undefined && { limit }) }] })
