import { setImmediate } from 'node:timers/promises'
import type { Context } from '../../../domain/context.ts'
import { MAX_IMPORTED, type QuestionToImport, type ReadQuestionFile } from '../../../domain/library/imports.ts'
import { importQuestion } from '../../../kinds/library-questions.ts'
import type { ParsedQuestion } from '../../../kinds/neutral.ts'
import { readUpload } from '../../../uploads/read-upload.ts'

/** Questions converted before the event loop is yielded to other requests. */
const CONVERTED_AT_ONCE = 25

/** Reads the questions of a file in batches. @throws DomainError as readUpload. */
export function questionReader({ organization }: Context, bytes: Uint8Array): ReadQuestionFile {
  const read = readUpload(organization.id, { content: 'questions', bytes, maxRows: MAX_IMPORTED })
  return (take) =>
    read(async (part) => {
      const questions: QuestionToImport[] = []
      for (const [i, question] of part.entries()) {
        if (i % CONVERTED_AT_ONCE === 0) await setImmediate()
        questions.push(toImportedQuestion(question))
      }
      await take(questions)
    })
}

function toImportedQuestion(read: ParsedQuestion): QuestionToImport {
  const taken = importQuestion(read)
  const { line, name, category } = taken
  if ('refusal' in taken) return { line, name, category, notes: [taken.refusal], content: null }
  return { line, name, category, notes: taken.losses, content: taken.content }
}
