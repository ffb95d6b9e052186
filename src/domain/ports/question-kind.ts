import type { AnswerAttemptKind } from '../../generated/prisma/client.ts'

// What a kind of question has to say for itself. The kinds that there are stand in src/kinds; the domain gets them by its dependencies, and
// asks none of them by name.

/** A whole number from 0 to below the given one, each as likely as the others. */
export type Random = (below: number) => number

/** What became of a part of an answer, such as an option: left is one that is rightly not in the answer. */
export type Verdict = 'right' | 'wrong' | 'missed' | 'left'
export type Part = { id: string; verdict: Verdict }

/**
 * What an answer is worth: a share of the question's points as a fraction of whole numbers, from 0 to 1, with what became of its parts; or
 * that a person has to say.
 */
export type Score = { state: 'scored'; got: number; of: number; parts: Part[] } | { state: 'people' }

/** What is wrong with a definition, in a sentence for its author: `field` is a path in it, such as `key.right`. */
export type Fault = { field: string; text: string }

/** @throws Error where key or answer is of another form. */
export type Accepts = {
  /** What answers that are compared as one have in common. */
  group: (key: unknown, answer: unknown) => string
  /** The key that takes it, too, for a share in whole percent; null: no key can take it alone. */
  add: (key: unknown, answer: unknown, share: number) => unknown
}

/**
 * A kind. Whatever it is given is JSON, whose form it checks itself: what was stored is read as carefully as what was sent.
 *
 * Spec is what candidates may see, key what is right, answer what was answered: three values that never mix.
 */
export type QuestionKind = {
  /** The response types that are of this kind. */
  words: readonly string[]
  /** Whether a wrong answer may cost points: it is one of a few that could be guessed. */
  penalizes: boolean
  /** What is wrong with a definition; nothing where nothing is. */
  faults: (word: string, spec: unknown, key: unknown) => Fault[]
  /** What of the spec each candidate sees in an order of their own; null: nothing is. */
  arrange: (spec: unknown, random: Random) => string[] | null
  /** Whether it is an answer to such a question. */
  isAnswer: (word: string, spec: unknown, answer: unknown) => boolean
  /** Whether anything was answered. */
  isEmpty: (answer: unknown) => boolean
  /** The answer in words, as sheets and exports have it. */
  describe: (spec: unknown, answer: unknown) => string
  /** The answer that such words are; undefined: they are none. */
  understand: (spec: unknown, words: string) => unknown
  /** What a form has in its fields named `answer`, as an answer, which it may not be; and the other way round. */
  fromForm: (values: string[]) => unknown
  toForm: (answer: unknown) => string[]
  /** An answer that somebody could give, right or wrong. */
  makeUp: (spec: unknown) => unknown
  /** How an answer that the key does not take is accepted; left out where answers are chosen. */
  accepts?: Accepts
  /** @throws Error where one of them is of another form. */
  score: (spec: unknown, key: unknown, answer: unknown) => Score
}

/** How an answer is recorded. */
export const RECORDED_KINDS = ['audio', 'video'] as const satisfies AnswerAttemptKind[]
export type RecordedKind = (typeof RECORDED_KINDS)[number]

/** What an answer is kept as: words as they are typed, what the fields of a kind say, or a recording. */
export type SavedBy = 'text' | 'value' | 'recording'

/** How questions of a response type are answered. */
export type Answering = {
  /** Several: as the candidate likes. */
  savedBy: readonly SavedBy[]
  /** What can be recorded. */
  records: readonly RecordedKind[]
  /** What has to be there before the start. */
  needs: readonly ('microphone' | 'camera')[]
}

/** The kinds that have a right answer by their response types, and how questions of whatever response type are answered. */
export type QuestionKinds = ReadonlyMap<string, QuestionKind> & {
  /** The word is an organization's own: any that no kind has is answered by a text. */
  answering: (responseType: string) => Answering
  /** The response types that are answered by nothing but a recording. */
  recorded: readonly string[]
}
