import type { Answering, QuestionKind } from '../domain/ports/question-kind.ts'
import type { Author, Offer } from './author.ts'
import type { Control } from './control.ts'
import type { Example } from './example.ts'
import type { Format } from './neutral.ts'
import type { Sheet } from './sheet.ts'

type Answerable = {
  /** The candidate's fields. */
  control: Control
  answering: (responseType: string) => Answering
}

/** A kind with a right answer. @property examples one for each response type. */
export type Kind = QuestionKind & Answerable & { examples: readonly Example[]; sheet: Sheet; author: Author; format: Format }
/** A kind without a definition, graded by people. */
export type PlainKind = Answerable & { words: readonly string[]; offers: readonly Offer[] }

export const answeredByValue: Answering = { savedBy: ['value'], records: [], needs: [] }
