import type { Answering, QuestionKind, QuestionKinds } from '../domain/ports/question-kind.ts'
import { choiceKind } from './choice/kind.ts'
import type { Kind, PlainKind } from './kind.ts'
import { matchingKind } from './matching/kind.ts'
import { numberKind } from './number/kind.ts'
import { recording } from './recording/kind.ts'
import { shortTextKind } from './short-text/kind.ts'
import { text } from './text/kind.ts'

/** The kinds that have a right answer: a further kind is a folder, and a line here. What it lacks does not compile. */
export const definedKinds: readonly Kind[] = [choiceKind, numberKind, shortTextKind, matchingKind]

/** Those that need no definition. */
export const plainKinds: readonly PlainKind[] = [text, recording]

const byWord = <K extends { words: readonly string[] }>(list: readonly K[]): Map<string, K> =>
  new Map(list.flatMap((kind) => kind.words.map((word) => [word, kind])))
const defined = byWord(definedKinds)
const plain = byWord(plainKinds)

const answeringOf = (responseType: string): Answering =>
  (defined.get(responseType) ?? plain.get(responseType) ?? text).answering(responseType)

export const kinds: QuestionKinds = Object.assign(new Map<string, QuestionKind>(defined), {
  answering: answeringOf,
  recorded: [...plain.keys()].filter((word) => answeringOf(word).savedBy.every((by) => by === 'recording')),
})

/** A question that has a version is of that one's kind; one without, whatever its word, is of no kind that has to be defined. */
export const kindOf = ({ responseType, version }: { responseType: string; version: { responseType: string } | null }) =>
  (version ? defined.get(version.responseType) : plain.get(responseType)) ?? text

/** The kind of a question that has a version. @returns undefined: there is no such kind (any more). */
export const definedKind = (responseType: string): Kind | undefined => defined.get(responseType)
