import { DomainError, type Issue } from '../domain/errors.ts'
import type { ListRow } from '../domain/invites/batches/check-rows.ts'
import type { QuestionChoices } from '../kinds/file-formats/read-file.ts'
import type { ParsedQuestion } from '../kinds/neutral.ts'
import { runTask } from '../processes/run-task.ts'
import { type CandidateChoices, parseCandidateList } from './candidate-list.ts'
import type { Inspection } from './inspect.ts'

/** Rows and file-level facts, by kind of file. */
export type UploadContents = {
  questions: { row: ParsedQuestion; facts: { format: string; unusedColumns: string[] } }
  candidates: { row: ListRow; facts: { unusedColumns: string[] } }
  inspectQuestions: { row: never; facts: Inspection }
  inspectCandidates: { row: never; facts: Inspection }
}
export type UploadKind = keyof UploadContents

/** @property choices how a person wants the file to be read. */
export type ReadTask = { content: UploadKind; bytes: Uint8Array; maxRows: number; choices?: QuestionChoices & CandidateChoices }
/** @property issues reasons why the file is refused. @property bug stack of an unexpected error. */
export type ReadOutcome = { facts: UploadContents[UploadKind]['facts'] } | { issues: Issue[] } | { bug: string }
export type RowBatch = UploadContents[UploadKind]['row'][]

/** Characters of a batch as JSON, which the service processes in a few milliseconds. */
const BATCH_LENGTH = 100_000

// Program started by read-upload.ts for one file. What only questions need is imported with them: loading it
// would take most of the time that a list of candidates takes.
runTask<ReadTask, ReadOutcome, RowBatch>(
  async ({ content, bytes, maxRows, choices = {} }, sendPart) => {
    if (content === 'inspectQuestions') {
      const { inspectQuestions } = await import('./inspect-questions.ts')
      return { facts: inspectQuestions(bytes, maxRows, choices) }
    }
    if (content === 'inspectCandidates') {
      const { inspectCandidates } = await import('./inspect-candidates.ts')
      return { facts: inspectCandidates(bytes, maxRows, choices) }
    }
    if (content === 'candidates') {
      const { rows, unusedColumns } = parseCandidateList(bytes, maxRows, choices)
      for (const part of batchRows(rows)) await sendPart(part)
      return { facts: { unusedColumns } }
    }
    const { readFile } = await import('../kinds/file-formats/read-file.ts')
    const { rows, format, unusedColumns } = readFile(bytes, maxRows, choices)
    for (const part of batchRows(rows)) await sendPart(part)
    return { facts: { format, unusedColumns } }
  },
  (error) => {
    if (error instanceof DomainError && error.kind === 'invalid') return { issues: error.issues }
    return { bug: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  },
)

function* batchRows(rows: RowBatch): Generator<RowBatch> {
  let part: RowBatch = []
  let length = 0
  for (const row of rows) {
    part.push(row)
    length += JSON.stringify(row).length
    if (length < BATCH_LENGTH) continue
    yield part
    part = []
    length = 0
  }
  if (part.length > 0) yield part
}
