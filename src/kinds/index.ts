import type { QuestionKinds } from '../domain/values/question-kind.ts'
import { choice } from './choice/rules.ts'
import { number } from './number/rules.ts'
import { shortText } from './short-text/rules.ts'

/** The kinds of questions that have a right answer, by their response types: a further kind is a folder, and a line here. */
export const kinds: QuestionKinds = new Map([choice, number, shortText].flatMap((kind) => kind.words.map((word) => [word, kind])))
