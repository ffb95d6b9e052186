import type { Answering, QuestionKind } from '../domain/ports/question-kind.ts'
import type { Author, Offer } from './author.ts'
import type { Control } from './control.ts'
import type { Example } from './example.ts'
import type { Format } from './neutral.ts'
import type { Sheet } from './sheet.ts'

/** What stands in the list of kinds: who adds one has to give all of it. */
type Shown = {
  /** The fields by which candidates answer. */
  control: Control
  /** How the questions of each of its response types are answered. */
  answering: (responseType: string) => Answering
}

/**
 * A kind with a right answer, which has to be defined.
 *
 * @property examples one for each of its response types. @property format how files hold it.
 */
export type Kind = QuestionKind & Shown & { examples: readonly Example[]; sheet: Sheet; author: Author; format: Format }
/** A kind that needs no definition, and that people grade. */
export type PlainKind = Shown & { words: readonly string[]; offers: readonly Offer[] }

/** By the fields of the kind itself. */
export const answeredByValue: Answering = { savedBy: ['value'], records: [], needs: [] }
