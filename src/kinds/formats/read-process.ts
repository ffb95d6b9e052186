import { doOneWork } from '../../processes/do-one-work.ts'
import type { ReadQuestion } from '../neutral.ts'
import { type FileFormat, type FileProblem, readFile, UnreadableFile } from './read-file.ts'

/** A file to read. */
export type Order = { bytes: Uint8Array; mostQuestions: number }

/** @property parts JSON of lists of questions, so that who gets them need not take them all in at once. @property bug what else went wrong. */
export type Outcome =
  | { format: FileFormat; parts: Uint8Array[] }
  | { problem: FileProblem; limit: number | undefined }
  | { bug: string }

/** Characters of a part: a few milliseconds to read. */
const PART_LENGTH = 100_000

// The program that read-limited.ts starts: one file, then it ends.
doOneWork<Order, Outcome>(
  async ({ bytes, mostQuestions }) => {
    const { format, read } = readFile(bytes, mostQuestions)
    return { format, parts: inParts(read) }
  },
  (error) => {
    if (error instanceof UnreadableFile) return { problem: error.problem, limit: error.limit }
    return { bug: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  },
)

function inParts(read: ReadQuestion[]): Uint8Array[] {
  const parts: Uint8Array[] = []
  let part: string[] = []
  let length = 0
  const end = () => {
    if (part.length > 0) parts.push(Buffer.from(`[${part.join()}]`))
    part = []
    length = 0
  }
  for (const question of read) {
    const json = JSON.stringify(question)
    part.push(json)
    length += json.length
    if (length > PART_LENGTH) end()
  }
  end()
  return parts
}
