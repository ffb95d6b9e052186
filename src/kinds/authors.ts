import type { DefinitionFault } from '../domain/ports/question-kind.ts'
import type { KindForm, QuestionType } from './author.ts'
import { definedKinds, plainKinds } from './index.ts'

/** Question types for authors: automatically scored, and graded by people. */
export const questionTypes: { scored: readonly QuestionType[]; graded: readonly QuestionType[] } = {
  scored: definedKinds.filter(({ files }) => !files).flatMap(({ author }) => author.offers),
  graded: [
    ...plainKinds.flatMap((kind) => kind.offers),
    ...definedKinds.filter(({ files }) => files).flatMap(({ author }) => author.offers),
  ],
}

const kindOf = (word: string) => definedKinds.find(({ words }) => words.includes(word))

/** @returns undefined for a response type without a right answer. */
export const authorOf = (word: string): KindForm | undefined => kindOf(word)?.author

/** Parses an author's form. @returns faults by field name. @throws Error for a response type without a form. */
export function readDefinition(
  word: string,
  values: URLSearchParams,
): { definition: { responseType: string; spec: unknown; key: unknown }; faults: DefinitionFault[] } {
  const kind = kindOf(word)
  if (!kind) throw new Error(`The response type ${word} has no form`)
  const { spec, key, faults, fieldOf } = kind.author.read(word, values)
  const ofKind = faults.length > 0 ? [] : kind.faults(word, spec, key)
  return {
    definition: { responseType: word, spec, key },
    faults: [...faults, ...ofKind.map(({ field, text }) => ({ field: fieldOf(field), text }))],
  }
}
