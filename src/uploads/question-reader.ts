import { setImmediate } from 'node:timers/promises'
import { createPictureStore } from '../domain/assets/question-pictures.ts'
import type { Context } from '../domain/context.ts'
import { MAX_IMPORTED, type QuestionToImport, type ReadQuestionFile } from '../domain/library/imports.ts'
import { importQuestion } from '../kinds/library-questions.ts'
import type { ParsedQuestion } from '../kinds/neutral.ts'
import type { ReadTask } from './read-process.ts'
import { readUpload } from './read-upload.ts'

/** Questions converted before the event loop is yielded to other requests. */
const CONVERTED_AT_ONCE = 25

/** Reads the questions of a file in batches, and stores their pictures. @throws DomainError as readUpload. */
export function questionReader(ctx: Context, bytes: Uint8Array, choices: ReadTask['choices'] = {}): ReadQuestionFile {
  const readParts = readUpload(ctx.organization.id, { content: 'questions', bytes, maxRows: MAX_IMPORTED, choices })
  const storePictures = createPictureStore(ctx)
  return (take) =>
    readParts(async (part) => {
      const questions: QuestionToImport[] = []
      for (const [i, question] of part.entries()) {
        if (i % CONVERTED_AT_ONCE === 0) await setImmediate()
        questions.push(await toImportedQuestion(question, storePictures))
      }
      await take(questions)
    })
}

async function toImportedQuestion(
  parsed: ParsedQuestion,
  storePictures: ReturnType<typeof createPictureStore>,
): Promise<QuestionToImport> {
  const imported = importQuestion(parsed)
  const { line, name, category } = imported
  if ('refusal' in imported) return { line, name, category, notes: [imported.refusal], content: null }
  const { content, losses } = await storePictures(imported.content, imported.files)
  return { line, name, category, notes: [...imported.losses, ...losses], content }
}
