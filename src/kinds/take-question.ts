import { randomInt } from 'node:crypto'
import { EMPTY_QUESTION } from '../domain/assessments/edit-questions.ts'
import { assetsNamedIn } from '../domain/assets/references.ts'
import type { LibraryContent } from '../domain/library/content.ts'
import { definedKinds, kinds } from './index.ts'
import type { NeutralAnswer, NeutralQuestion, ReadQuestion } from './neutral.ts'

const formats = definedKinds.map(({ format }) => format)

/** A question of a file as the library keeps it, or why it is refused. */
export type TakenQuestion = { line: number; name: string; category: string; losses: string[] } & (
  | { content: LibraryContent }
  | { refusal: string }
)

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const newId = (): string => Array.from({ length: 8 }, () => LETTERS[randomInt(LETTERS.length)]!).join('')

/** What each question of a file becomes. */
export function takeQuestion(read: ReadQuestion): TakenQuestion {
  const { line, losses } = read
  if ('refusal' in read) return { line, name: read.name, category: '', losses: [], refusal: read.refusal }
  const { name, category, text, isFormatted, points, answer } = read.question
  const head = { line, name, category }
  const input = { ...EMPTY_QUESTION, script: text, scriptFormat: isFormatted ? 'markdown' : 'plain', points: points ?? 1 }
  if (answer.as === 'open')
    return { ...head, losses, content: { input: { ...input, responseType: answer.responseType }, definition: null } }
  const taken = formats.map(({ take }) => take(answer, newId)).find((one) => one !== undefined)
  if (!taken) return { ...head, losses: [], refusal: `Questions of this kind (${wordAnswer(answer)}) are not taken.` }
  const { definition } = taken
  const [fault] = kinds.get(definition.responseType)!.faults(definition.responseType, definition.spec, definition.key)
  if (fault) return { ...head, losses: [], refusal: `${fault.text}` }
  const content = { input: { ...input, responseType: definition.responseType }, definition }
  return { ...head, losses: [...losses, ...taken.losses], content }
}

const wordAnswer = ({ as }: NeutralAnswer): string => (as === 'pairs' ? 'matching' : as)

/** A question of the library for a file. @property losses what the file does not say of it. */
export function giveQuestion(
  { input, definition }: LibraryContent,
  { name, category }: { name: string; category: string },
): { question: NeutralQuestion; losses: string[] } {
  const given = definition && formats.map(({ give }) => give(definition)).find((one) => one !== undefined)
  const answer: NeutralAnswer = given?.answer ?? { as: 'open', responseType: input.responseType }
  const { script, scriptFormat, audioUrl, videoUrl, points, timeLimit, sourceLanguage, targetLanguage } = input
  const losses = [
    ...(given?.losses ?? []),
    ...(definition && !given ? ['How it is answered is not written.'] : []),
    ...(audioUrl || videoUrl ? ['Its audio and video are not written.'] : []),
    ...(assetsNamedIn(script, JSON.stringify(definition?.spec ?? null)).length > 0 ? [PICTURES] : []),
    ...(timeLimit > 0 ? ['Its time limit is not written.'] : []),
    ...(sourceLanguage || targetLanguage ? ['Its languages are not written.'] : []),
  ]
  const isFormatted = scriptFormat === 'markdown'
  return { question: { name, category, text: script, isFormatted, points, answer }, losses }
}

const PICTURES = 'Its pictures are not written: their places name them, for this organization alone.'
