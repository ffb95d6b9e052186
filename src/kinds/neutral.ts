import type { Definition } from '../domain/assessments/define-question.ts'

// What the formats of files have in common. Each format is read into this form, and written from it; which kind of question it becomes, the kinds
// themselves say.

/** A part of what is right, in percent of the points. */
export type Weighed = { text: string; share: number }
/** As it stood in the file: decimals with a point. */
export type NumberRange =
  | { value: string; tolerance?: string | undefined; share: number }
  | { from: string; to: string; share: number }

/** How a question is answered. @property of options, whether several may be ticked. */
export type NeutralAnswer =
  | { as: 'options'; several: boolean; options: Weighed[] }
  | { as: 'number'; ranges: NumberRange[]; unit?: string | undefined }
  | { as: 'words'; accepted: Weighed[] }
  | { as: 'pairs'; pairs: [prompt: string, choice: string][] }
  /** By a text or a recording, in the word of its response type; people grade it. */
  | { as: 'open'; responseType: string }

/** @property isFormatted its text is Markdown. */
export type NeutralQuestion = {
  name: string
  category: string
  text: string
  isFormatted: boolean
  points: number | null
  answer: NeutralAnswer
}

/** A question of a file: of one that is refused, why. @property losses what of it is not taken, in sentences. */
export type ReadQuestion = { line: number; losses: string[] } & (
  | { question: NeutralQuestion }
  | { refusal: string; name: string }
)

/** What a kind has to do with files. */
export type Format = {
  /** The definition of what is answered so; undefined: it is of another kind. @param newId eight random letters. */
  take: (answer: NeutralAnswer, newId: () => string) => { definition: Definition; losses: string[] } | undefined
  /** The way back; undefined: it is of another kind. @property losses what the neutral form can't say. */
  give: (definition: Definition) => { answer: NeutralAnswer; losses: string[] } | undefined
}
