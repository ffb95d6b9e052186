import type { QuestionDefinition } from '../../../domain/assessments/define-question.ts'
import type { QuestionInput } from '../../../domain/assessments/question-input.ts'
import { readDefinitionToWrite } from '../../../domain/assessments/write-question.ts'
import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { pointsFor } from '../../../domain/submissions/points.ts'
import { authorOf, readDefinition } from '../../../kinds/authors.ts'

/** Definition of a question from the editor's form. @property isWhole true if it has no errors. */
export type TypedDefinition = { definition: QuestionDefinition; isWhole: boolean }

/** A question from the editor's form. */
export type TypedQuestion = QuestionInput & { defined: TypedDefinition | null }

/** @returns null if the kind has no right answer. */
export function readTypedDefinition(values: URLSearchParams): TypedDefinition | null {
  const word = values.get('responseType') ?? ''
  if (!authorOf(word)) return null
  const { definition, faults } = readDefinition(word, values)
  return { definition, isWhole: faults.length === 0 }
}

/** The question to try. @property typed its unsaved edit; null for the stored question. */
type TriedQuestion = { assessmentId: string; questionId: string | undefined; typed: TypedDefinition | null; points: number }

/**
 * Result of a tried answer in a preview, as a sentence. It reveals the right answer, so only authors may call it.
 *
 * @returns also the answer, to show it again; null if there is nothing to score.
 */
export async function tryAnswer(
  ctx: Context,
  { assessmentId, questionId, typed, points }: TriedQuestion,
  typedAnswer: string[],
): Promise<{ value: unknown; verdict: string } | null> {
  if (!may(ctx, 'write_assessments')) return null
  const stored = typed || !questionId ? null : await readDefinitionToWrite(ctx, { assessmentId, questionId })
  const definition = typed?.definition ?? stored
  const kind = definition && ctx.deps.kinds.get(definition.responseType)
  if (!kind) return null
  if (typed && !typed.isWhole) return { value: null, verdict: 'What it gets is said here once nothing is missing in its form.' }
  const { responseType, spec, key } = definition
  const value = kind.fromForm(typedAnswer)
  if (!kind.isAnswer(responseType, spec, value)) return { value: null, verdict: 'The question does not take this answer.' }
  if (kind.isEmpty(value)) return { value, verdict: `No answer gets 0 of ${points} points.` }
  const score = kind.score(spec, key, value)
  const verdict =
    score.state === 'people'
      ? 'A grader decides on this answer.'
      : `This answer gets ${pointsFor(score, points)} of ${points} points.`
  return { value, verdict }
}
