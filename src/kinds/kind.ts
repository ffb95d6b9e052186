import type { Answering, QuestionKind } from '../domain/ports/question-kind.ts'
import type { KindForm, QuestionType } from './author.ts'
import type { Control } from './control.ts'
import type { GradingView } from './grading-view.ts'
import type { KindFormat } from './neutral.ts'

/** Sample question for sandbox and practice. @property right an answer with all points. @property wrong an answer with fewer. */
export type KindExample = { responseType: string; script: string; spec: unknown; key: unknown; right: unknown; wrong: unknown }

type Answerable = {
  /** The candidate's fields. */
  control: Control
  answering: (responseType: string) => Answering
}

/** A kind with a right answer. @property examples one for each response type. */
export type Kind = QuestionKind &
  Answerable & { examples: readonly KindExample[]; gradingView: GradingView; author: KindForm; format: KindFormat }
/** A kind without a definition, graded by people. */
export type PlainKind = Answerable & { words: readonly string[]; offers: readonly QuestionType[] }

export const answeredByValue: Answering = { savedBy: ['value'], records: [], needs: [] }
