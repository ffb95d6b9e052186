import { DomainError } from '../errors.ts'
import { MAX_FILE_TEXT_BYTES } from '../limits.ts'
import type { LibraryProblem, UploadedListProblem } from '../ports/problems.ts'

/** A file that is not taken. @param limit number that the problem's sentence names: a line, rows, bytes. */
export const createFileError = (
  field: 'file' | 'list',
  problem: UploadedListProblem | LibraryProblem,
  limit?: number,
): DomainError =>
  new DomainError('invalid', { issues: [{ field, rule: 'account', problem, ...(limit !== undefined && { limit }) }] })

/**
 * Counts the text that is read from a file of questions, in bytes of UTF-8. Text that a file has once and refers to often counts each time.
 *
 * @returns counts some. @throws DomainError invalid, at `file`: `tooMuchText`.
 */
export function createTextBudget(): (...texts: string[]) => void {
  let bytes = 0
  return (...texts) => {
    for (const text of texts) bytes += Buffer.byteLength(text)
    if (bytes > MAX_FILE_TEXT_BYTES) throw createFileError('file', 'tooMuchText', MAX_FILE_TEXT_BYTES)
  }
}

/** The beginning of a text, as PostgreSQL takes it: without NUL, and without half of a character that is two (UTF-16). */
export const truncateText = (text: string, length: number): string => text.replaceAll('\0', '').slice(0, length).toWellFormed()

/** Reads a file part by part: `take` gets each part, and the next is read when it resolves. @returns facts about the whole file. */
export type ReadParts<Item, Facts> = (take: (part: Item[]) => Promise<void>) => Promise<Facts>
