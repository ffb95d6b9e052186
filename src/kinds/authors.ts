import type { Fault } from '../domain/ports/question-kind.ts'
import type { Author, Offer } from './author.ts'
import { definedKinds, plainKinds } from './index.ts'

/** All that an author can ask: what scores itself, and what people grade. */
export const offers: { scored: readonly Offer[]; graded: readonly Offer[] } = {
  scored: definedKinds.flatMap(({ author }) => author.offers),
  graded: plainKinds.flatMap((kind) => kind.offers),
}

const kindOf = (word: string) => definedKinds.find(({ words }) => words.includes(word))

/** How questions of a response type are written; undefined: it is of no kind with a right answer. */
export const authorOf = (word: string): Author | undefined => kindOf(word)?.author

/** What a form of a kind says, and what is wrong with it, by the names of its fields. @throws Error for a word that has no form. */
export function readDefinition(
  word: string,
  values: URLSearchParams,
): { definition: { responseType: string; spec: unknown; key: unknown }; faults: Fault[] } {
  const kind = kindOf(word)
  if (!kind) throw new Error(`No form is of ${word}`)
  const { spec, key, faults, fieldOf } = kind.author.read(word, values)
  const ofKind = faults.length > 0 ? [] : kind.faults(word, spec, key)
  return {
    definition: { responseType: word, spec, key },
    faults: [...faults, ...ofKind.map(({ field, text }) => ({ field: fieldOf(field), text }))],
  }
}
