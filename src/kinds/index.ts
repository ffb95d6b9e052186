import type { Answering, QuestionKind, QuestionKinds } from '../domain/ports/question-kind.ts'
import { choiceKind } from './choice/kind.ts'
import { fileKind } from './file/kind.ts'
import type { Kind, PlainKind } from './kind.ts'
import { matchingKind } from './matching/kind.ts'
import { numberKind } from './number/kind.ts'
import { orderingKind } from './ordering/kind.ts'
import { recordingKind } from './recording/kind.ts'
import { shortTextKind } from './short-text/kind.ts'
import { textKind } from './text/kind.ts'

/** Kinds with a definition. To add a kind, create its folder and add it here. */
export const definedKinds: readonly Kind[] = [choiceKind, numberKind, shortTextKind, matchingKind, orderingKind, fileKind]

/** Kinds without a definition. */
export const plainKinds: readonly PlainKind[] = [textKind, recordingKind]

const byWord = <K extends { words: readonly string[] }>(list: readonly K[]): Map<string, K> =>
  new Map(list.flatMap((kind) => kind.words.map((word) => [word, kind])))
const defined = byWord(definedKinds)
const plain = byWord(plainKinds)

const answeringOf = (responseType: string): Answering =>
  (defined.get(responseType) ?? plain.get(responseType) ?? textKind).answering(responseType)

export const kinds: QuestionKinds = Object.assign(new Map<string, QuestionKind>(defined), {
  answering: answeringOf,
  recorded: [...plain.keys()].filter((word) => answeringOf(word).savedBy.every((source) => source === 'recording')),
})

/** Kind of a question. Without a version it is a plain kind: a text if the response type is unknown. */
export const kindOf = ({ responseType, version }: { responseType: string; version: { responseType: string } | null }) =>
  (version ? defined.get(version.responseType) : plain.get(responseType)) ?? textKind

/** @returns undefined for an unknown or removed kind. */
export const definedKind = (responseType: string): Kind | undefined => defined.get(responseType)
