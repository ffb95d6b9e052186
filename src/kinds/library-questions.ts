import { randomInt } from 'node:crypto'
import { EMPTY_QUESTION } from '../domain/assessments/question-input.ts'
import type { QuestionPicture } from '../domain/assets/question-pictures.ts'
import type { LibraryContent } from '../domain/library/content.ts'
import { definedKinds, kinds } from './index.ts'
import type { NeutralAnswer, NeutralQuestion, ParsedQuestion } from './neutral.ts'

const formats = definedKinds.map(({ format }) => format)

/** A question of a file for the library, or the reason why it was refused. */
export type ImportedQuestion = { line: number; name: string; category: string; losses: string[] } & (
  | { content: LibraryContent; files: QuestionPicture[] }
  | { refusal: string }
)

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const newId = (): string => Array.from({ length: 8 }, () => LETTERS[randomInt(LETTERS.length)]!).join('')

/** Converts a question of a file for the library. */
export function importQuestion(parsed: ParsedQuestion): ImportedQuestion {
  const { line, losses } = parsed
  if ('refusal' in parsed) return { line, name: parsed.name, category: '', losses: [], refusal: parsed.refusal }
  const { name, category, text, isFormatted, points, answer, files = [] } = parsed.question
  const head = { line, name, category }
  const input = { ...EMPTY_QUESTION, script: text, scriptFormat: isFormatted ? 'markdown' : 'plain', points: points ?? 1 }
  if (answer.as === 'open')
    return { ...head, losses, files, content: { input: { ...input, responseType: answer.responseType }, definition: null } }
  const converted = formats.map(({ toDefinition }) => toDefinition(answer, newId)).find((result) => result !== undefined)
  if (!converted) return { ...head, losses: [], refusal: `Questions of this kind (${labelAnswer(answer)}) can’t be imported.` }
  const { definition } = converted
  const [fault] = kinds.get(definition.responseType)!.faults(definition.responseType, definition.spec, definition.key)
  if (fault) return { ...head, losses: [], refusal: `${fault.text}` }
  const content = { input: { ...input, responseType: definition.responseType }, definition }
  return { ...head, losses: [...losses, ...converted.losses], files, content }
}

const labelAnswer = ({ as }: NeutralAnswer): string => (as === 'pairs' ? 'matching' : as)

/** Converts a question of the library for export. @returns losses sentences about content that no file format holds. */
export function exportQuestion(
  { input, definition }: LibraryContent,
  { name, category }: { name: string; category: string },
): { question: NeutralQuestion; losses: string[] } {
  const converted = definition && formats.map(({ toAnswer }) => toAnswer(definition)).find((result) => result !== undefined)
  const answer: NeutralAnswer = converted?.answer ?? { as: 'open', responseType: input.responseType }
  const { script, scriptFormat, audioUrl, videoUrl, points, timeLimit, preparationTime, simultaneous } = input
  const { sourceLanguage, targetLanguage, rubric } = input
  const losses = [
    ...(converted?.losses ?? []),
    ...(definition && !converted ? ['The answer format is not exported.'] : []),
    ...(audioUrl || videoUrl ? ['Audio and video are not exported.'] : []),
    ...(timeLimit > 0 ? ['The time limit is not exported.'] : []),
    ...(preparationTime > 0 ? ['The preparation time is not exported.'] : []),
    ...(rubric ? ['The rubric is not exported.'] : []),
    ...(simultaneous ? ['Recording while the prompt plays is not exported.'] : []),
    ...(sourceLanguage || targetLanguage ? ['The languages are not exported.'] : []),
  ]
  const isFormatted = scriptFormat === 'markdown'
  return { question: { name, category, text: script, isFormatted, points, answer }, losses }
}
