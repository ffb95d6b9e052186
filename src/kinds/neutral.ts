import type { QuestionDefinition } from '../domain/assessments/define-question.ts'
import type { QuestionPicture } from '../domain/assets/question-pictures.ts'
import { assetIdsIn } from '../domain/assets/references.ts'

// Intermediate form of questions in files. Each file format is read into it and written from it, and each kind converts from and to it.

/** Options, accepted texts, or pairs of one question. */
export const MAX_ANSWERS = 200

/** @property share percent of the points. */
export type WeightedText = { text: string; share: number }
/** Decimals as in the file, with a decimal point. */
export type NumberRange =
  | { value: string; tolerance?: string | undefined; share: number }
  | { from: string; to: string; share: number }

/** @property fixed true if the option keeps its place when the others are shuffled. */
export type NeutralOption = WeightedText & { fixed?: true }

/**
 * Answer format and key. Options and pairs are shuffled unless `shuffle` is false.
 *
 * @property several true if candidates may tick several options. @property exact true if only the right options together get points.
 * @property least, most number of options to tick.
 */
export type NeutralAnswer =
  | { as: 'options'; several: boolean; exact?: true; least?: number; most?: number; shuffle?: false; options: NeutralOption[] }
  | { as: 'number'; ranges: NumberRange[]; unit?: string | undefined }
  | { as: 'words'; accepted: WeightedText[]; caseSensitive?: true }
  | { as: 'pairs'; pairs: [prompt: string, choice: string][]; shuffle?: false }
  /** Items in the right order. */
  | { as: 'order'; items: string[] }
  /** A text or a recording, graded by people. */
  | { as: 'open'; responseType: string }

/** @property isFormatted true if the text is Markdown. @property files pictures of the texts, with empty contents if they are missing. */
export type NeutralQuestion = {
  name: string
  category: string
  text: string
  isFormatted: boolean
  points: number | null
  answer: NeutralAnswer
  files?: QuestionPicture[]
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

/** Losses of a format that has no settings of answers. */
export function lossesOfSettings(answer: NeutralAnswer): string[] {
  switch (answer.as) {
    case 'options':
      return [
        ...lossesOfOptions(answer),
        ...(answer.shuffle === false ? ['The setting not to shuffle options is not exported.'] : []),
      ]
    case 'words':
      return answer.caseSensitive ? ['The setting that capital letters count is not exported.'] : []
    case 'pairs':
      return answer.shuffle === false ? ['The setting not to shuffle is not exported.'] : []
    case 'number':
      return answer.unit ? ['The unit is not exported.'] : []
    case 'order':
      return ['The answer format is not exported.']
    case 'open':
      return []
  }
}

/** Losses of the settings of options that none of the formats has. */
export const lossesOfOptions = ({ several, exact, least, most, options }: NeutralAnswer & { as: 'options' }): string[] => [
  ...(least !== undefined || most !== undefined ? ['The number of options to choose is not exported.'] : []),
  ...(options.some(({ fixed }) => fixed) ? ['The setting that options keep their place is not exported.'] : []),
  ...(several && exact ? ['All-or-nothing scoring is not exported: wrong options take from right ones.'] : []),
]

/** Moodle takes the first accepted answer that matches, this service the one with the most points. */
export const byShare = <Answer extends { share: number }>(answers: Answer[]): Answer[] =>
  answers.toSorted((one, other) => other.share - one.share)
export const losesBackslashes = (answer: NeutralAnswer): string[] =>
  answer.as === 'words' && answer.accepted.some(({ text }) => text.includes('\\*'))
    ? ['“\\*” in an accepted text means an asterisk in Moodle.']
    : []

/** Prompts and choices are separated by `->` in some formats. */
export const hideArrows = (prompt: string): string => prompt.replaceAll('->', '→')
export const losesArrows = (answer: NeutralAnswer): string[] =>
  answer.as === 'pairs' && answer.pairs.some(([prompt]) => prompt.includes('->')) ? ['“->” in a prompt is exported as “→”.'] : []

/** Pictures that only this organization can show. */
export const losesPictures = (question: NeutralQuestion): string[] =>
  assetIdsIn(JSON.stringify(question)).length > 0 ? [PICTURES_LOST] : []

const PICTURES_LOST = 'Pictures are not exported. The file refers to them by ids that only this organization can use.'

/** Warns of a question that no import accepts. */
export const losesText = (text: string): string[] => (text.trim() === '' ? ['It has no text, so it can’t be imported.'] : [])
