import { fileURLToPath } from 'node:url'
import { createFairQueue } from '../domain/concurrency/work-queues.ts'
import { DomainError } from '../domain/errors.ts'
import type { ReadParts } from '../domain/validation/uploaded-files.ts'
import { createFileError } from '../domain/validation/uploaded-files.ts'
import { ProcessEnded, type Program, runLimited } from '../processes/run-limited.ts'
import type { ReadOutcome, ReadTask, UploadContents, UploadKind } from './read-process.ts'

export const PROGRAM: Program = {
  path: fileURLToPath(new URL('./read-process.ts', import.meta.url)),
  heap: ['--max-old-space-size=256', '--max-semi-space-size=4'],
  timeoutMs: 10_000, // somebody waits for it
}
/** The largest accepted workbook needs a third of each. */
const LIMITS = { bytes: 400_000_000, cpuSeconds: 5 }

/** One file is read at a time, and eight wait. */
const inTurn = createFairQueue(1, { waiting: 8, refusal: () => new DomainError('too_many_imports') })

/**
 * Reads an uploaded file in a child process, so that harmful files only end that process and delay no other request. Organizations take turns. Rows
 * arrive in batches of about 100 kB, the next one after the last was written, so that the service never holds the whole file.
 *
 * @throws DomainError too_many_imports; invalid for an unreadable file.
 */
export const readUpload =
  <C extends UploadKind>(
    organizationId: string,
    order: ReadTask & { content: C },
  ): ReadParts<UploadContents[C]['row'], UploadContents[C]['facts']> =>
  async (take) => {
    const outcome = await inTurn(organizationId, () =>
      runLimited<ReadOutcome, UploadContents[C]['row'][]>(PROGRAM, LIMITS, order, take),
    ).catch((error: unknown) => {
      if (!(error instanceof ProcessEnded && error.isInputFault)) throw error
      throw createFileError(order.content === 'questions' || order.content === 'inspectQuestions' ? 'file' : 'list', 'tooHeavy')
    })
    if ('bug' in outcome) throw new Error(`An uploaded file could not be read: ${outcome.bug}`)
    if ('issues' in outcome) throw new DomainError('invalid', { issues: outcome.issues })
    return outcome.facts
  }
