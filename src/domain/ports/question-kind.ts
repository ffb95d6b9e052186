import type { AnswerAttemptKind } from '../../generated/prisma/client.ts'
import type { FileType } from '../files/type-of-content.ts'

// Interface of a kind of question. The kinds are in src/kinds; the domain gets them as a dependency and never names one.

/** A whole number from 0 to below the given one, each as likely as the others. */
export type Random = (below: number) => number

/** Verdict on a part of an answer, such as an option. `left`: rightly not chosen. */
export type PartVerdict = 'right' | 'wrong' | 'missed' | 'left'
export type AnswerPart = { id: string; verdict: PartVerdict }

/**
 * Score of an answer: a fraction of the question's points, from 0 to 1, with a verdict on each part; or `people` if a person has to grade
 * it.
 */
export type AnswerScoring = { state: 'scored'; got: number; of: number; parts: AnswerPart[] } | { state: 'people' }

/** Fault in a definition, for its author. `field` is a path in it, such as `key.right`. */
export type DefinitionFault = { field: string; text: string }

/** @throws Error for an invalid key or answer. */
export type AcceptedAnswers = {
  /** Key under which equal answers are grouped. */
  group: (key: unknown, answer: unknown) => string
  /** The key that takes it, too, for a share in whole percent; null: no key can take it alone. */
  add: (key: unknown, answer: unknown, share: number) => unknown
}

/**
 * A kind of question. All its inputs are unvalidated JSON, stored values included, which it checks itself.
 *
 * `spec` is visible to candidates, `key` is the right answer, `answer` is the candidate's. The three never mix.
 */
export type QuestionKind = {
  /** Response types of this kind. */
  words: readonly string[]
  /** True if wrong answers may cost points, because they can be guessed. */
  penalizes: boolean
  /** Faults of a definition. */
  faults: (word: string, spec: unknown, key: unknown) => DefinitionFault[]
  /** Ids of the spec that each candidate sees in a random order; null: none. */
  arrange: (spec: unknown, random: Random) => string[] | null
  /** True for a valid answer. */
  isAnswer: (word: string, spec: unknown, answer: unknown) => boolean
  /** True if nothing was answered. */
  isEmpty: (answer: unknown) => boolean
  /** The answer in words, as sheets and exports have it. */
  describe: (spec: unknown, answer: unknown) => string
  /** Converts words to an answer; undefined if they are none. */
  understand: (spec: unknown, words: string) => unknown
  /** Converts the form fields named `answer` to an answer, which may be invalid, and back. */
  fromForm: (values: string[]) => unknown
  toForm: (answer: unknown) => string[]
  /** An answer that somebody could give, right or wrong. */
  makeUp: (spec: unknown) => unknown
  /** Accepts an answer that the key does not contain. Omitted by kinds with choices. */
  accepts?: AcceptedAnswers
  /** @throws Error for an invalid argument. */
  score: (spec: unknown, key: unknown, answer: unknown) => AnswerScoring
  /** Files that a question takes. Omitted by other kinds. People grade them, so their key is empty. */
  files?: (spec: unknown) => FileLimits
}

/** @property most number of files. */
export type FileLimits = { maxFiles: number; types: readonly FileType[] }

export const RECORDED_KINDS = ['audio', 'video'] as const satisfies AnswerAttemptKind[]
export type RecordedKind = (typeof RECORDED_KINDS)[number]

/** Form in which an answer is stored: typed text, a value of the kind, a recording, or files. */
export type SavedBy = 'text' | 'value' | 'recording' | 'file'

/** Ways to answer questions of a response type. */
export type Answering = {
  /** Several: as the candidate likes. */
  savedBy: readonly SavedBy[]
  records: readonly RecordedKind[]
  /** Devices needed before the start. */
  needs: readonly ('microphone' | 'camera')[]
}

/** Kinds that have a right answer, by response type, and the controls of all response types. */
export type QuestionKinds = ReadonlyMap<string, QuestionKind> & {
  /** The word is an organization's own: any that no kind has is answered by a text. */
  answering: (responseType: string) => Answering
  /** Response types that only a recording can answer. */
  recorded: readonly string[]
}
