import type { Answering, QuestionKind, QuestionKinds } from '../domain/values/question-kind.ts'
import { choiceAuthor } from './choice/author.ts'
import { choiceControl } from './choice/candidate.ts'
import { examples as choiceExamples } from './choice/example.ts'
import { choiceSheet } from './choice/grader.ts'
import { choice } from './choice/rules.ts'
import { answeredByValue, type Kind, type PlainKind } from './kind.ts'
import { numberAuthor } from './number/author.ts'
import { numberControl } from './number/candidate.ts'
import { examples as numberExamples } from './number/example.ts'
import { numberSheet } from './number/grader.ts'
import { number } from './number/rules.ts'
import { recording } from './recording/kind.ts'
import { shortTextAuthor } from './short-text/author.ts'
import { shortTextControl } from './short-text/candidate.ts'
import { examples as shortTextExamples } from './short-text/example.ts'
import { shortTextSheet } from './short-text/grader.ts'
import { shortText } from './short-text/rules.ts'
import { text } from './text/kind.ts'

const answering = () => answeredByValue

/** The kinds that have a right answer: a further kind is a folder, and a line here. What it lacks does not compile. */
export const definedKinds: readonly Kind[] = [
  { ...choice, answering, control: choiceControl, sheet: choiceSheet, examples: choiceExamples, author: choiceAuthor },
  { ...number, answering, control: numberControl, sheet: numberSheet, examples: numberExamples, author: numberAuthor },
  {
    ...shortText,
    answering,
    control: shortTextControl,
    sheet: shortTextSheet,
    examples: shortTextExamples,
    author: shortTextAuthor,
  },
]

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
