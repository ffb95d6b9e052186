import type { QuestionDefinition } from '../domain/assessments/define-question.ts'

// Intermediate form of questions in files. Each file format is read into it and written from it, and each kind converts from and to it.

/** @property share percent of the points. */
export type WeightedText = { text: string; share: number }
/** Decimals as in the file, with a decimal point. */
export type NumberRange =
  | { value: string; tolerance?: string | undefined; share: number }
  | { from: string; to: string; share: number }

/** Answer format and key. @property several true if candidates may tick several options. */
export type NeutralAnswer =
  | { as: 'options'; several: boolean; options: WeightedText[] }
  | { as: 'number'; ranges: NumberRange[]; unit?: string | undefined }
  | { as: 'words'; accepted: WeightedText[] }
  | { as: 'pairs'; pairs: [prompt: string, choice: string][] }
  /** A text or a recording, graded by people. */
  | { as: 'open'; responseType: string }

/** @property isFormatted true if the text is Markdown. */
export type NeutralQuestion = {
  name: string
  category: string
  text: string
  isFormatted: boolean
  points: number | null
  answer: NeutralAnswer
}

/** A question of a file, or the reason why it was refused. @property losses sentences about ignored content. */
export type ParsedQuestion = { line: number; losses: string[] } & (
  | { question: NeutralQuestion }
  | { refusal: string; name: string }
)

/** Conversions of a kind. They return undefined for another kind. */
export type KindFormat = {
  /** Converts an imported answer to a definition. @param newId returns eight random letters. */
  toDefinition: (answer: NeutralAnswer, newId: () => string) => { definition: QuestionDefinition; losses: string[] } | undefined
  /** Converts a definition for export. */
  toAnswer: (definition: QuestionDefinition) => { answer: NeutralAnswer; losses: string[] } | undefined
}

/** Warns of a question that no import accepts. */
export const losesText = (text: string): string[] => (text.trim() === '' ? ['It has no text, so it can’t be imported.'] : [])
