import { setImmediate } from 'node:timers/promises'
import type { Context } from '../../../domain/context.ts'
import { type GivenQuestion, MAX_IMPORTED } from '../../../domain/library/imports.ts'
import { readLimited } from '../../../kinds/formats/read-limited.ts'
import type { ReadQuestion } from '../../../kinds/neutral.ts'
import { takeQuestion } from '../../../kinds/take-question.ts'

/** Questions that are looked at before others' requests get their turn. */
const TAKEN_AT_ONCE = 25

/**
 * The questions of a file.
 *
 * @throws DomainError too_many_imports; invalid, at `file`, for what can't be read.
 */
export async function readQuestionFile(
  { organization }: Context,
  bytes: Uint8Array,
): Promise<{ format: string; questions: GivenQuestion[] }> {
  const { format, parts } = await readLimited(organization.id, { bytes, mostQuestions: MAX_IMPORTED })
  const questions: GivenQuestion[] = []
  for (const part of parts) {
    for (const read of JSON.parse(Buffer.from(part).toString()) as ReadQuestion[]) {
      if (questions.length % TAKEN_AT_ONCE === 0) await setImmediate()
      questions.push(toGiven(read))
    }
  }
  return { format, questions }
}

function toGiven(read: ReadQuestion): GivenQuestion {
  const taken = takeQuestion(read)
  const { line, name, category } = taken
  if ('refusal' in taken) return { line, name, category, notes: [taken.refusal], content: null }
  return { line, name, category, notes: taken.losses, content: taken.content }
}
