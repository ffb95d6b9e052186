import type { NeutralAnswer, NeutralQuestion, NumberRange, ParsedQuestion, WeightedText } from '../neutral.ts'
import { plainDecimal } from './decimals.ts'
import { acceptNumbers, acceptTexts } from './moodle-answers.ts'
import { type MoodleCategory, readCategory } from './moodle-category.ts'
import { collectPictures, filesOf } from './question-files.ts'
import {
  addLoss,
  FEEDBACK_LOST,
  GENERAL_FEEDBACK_LOST,
  MOODLE_IDS_LOST,
  type ReadState,
  readAnswerText,
  readScript,
} from './rich-text.ts'
import { readTruth } from './right-answers.ts'

// GIFT, the text format of Moodle: blocks separated by empty lines. Each is a question with its answers in braces.

/** Private-use characters that replace escaped signs while parsing. */
const ESCAPES: Record<string, string> = {
  '~': '\u{e000}',
  '=': '\u{e001}',
  '#': '\u{e002}',
  '{': '\u{e003}',
  '}': '\u{e004}',
  ':': '\u{e005}',
}
const MARKS = new Map(Object.entries(ESCAPES).map(([sign, mark]) => [mark, sign]))
const hide = (text: string): string => text.replace(/\\([~=#{}:\\])/g, (_, sign: string) => ESCAPES[sign] ?? '\u{e006}')
const show = (text: string): string =>
  text
    .replace(/\\n/g, '\n')
    .replace(/[\u{e000}-\u{e005}]/gu, (mark) => MARKS.get(mark)!)
    .replaceAll('\u{e006}', '\\')
    .trim()

/** True if the text has titles, categories, or answers in braces. */
export const looksLikeGift = (text: string): boolean =>
  /^[^\S\r\n\u2028\u2029]*(?:::|\$CATEGORY:)/m.test(text) ||
  /(?<!\\)\{[^{}]*(?<!\\)\}/.test(text) ||
  /(?<!\\)\{\s*[=~#]/.test(text)

export function readGift(text: string): ParsedQuestion[] {
  const found: ParsedQuestion[] = []
  let category: MoodleCategory = { path: '', losses: [] }
  let hasTagsOfMoodle = false
  let block: string[] = []
  let firstLine = 1
  const lines = text
    .replace(/^\u{feff}/u, '')
    .replaceAll(/[\u{e000}-\u{e006}]/gu, '')
    .split(/\r\n|\r|\n/)
  const end = () => {
    const body = block.join('\n').trim()
    if (body !== '') {
      const question = readBlock(body, firstLine, category)
      if (hasTagsOfMoodle && 'question' in question) question.losses.push(MOODLE_IDS_LOST)
      found.push(question)
      hasTagsOfMoodle = false
    }
    block = []
  }
  for (const [i, line] of [...lines, ''].entries()) {
    const [, named] = /^\s*\$CATEGORY:\s*(.*)$/i.exec(line) ?? []
    if (named !== undefined) {
      end()
      category = readCategory(named)
    } else if (line.trim() === '') end()
    else if (/^\s*\/\//.test(line)) hasTagsOfMoodle ||= /\[(id|tag):/.test(line)
    else {
      if (block.length === 0) firstLine = i + 1
      block.push(line)
    }
  }
  return found
}

function readBlock(body: string, line: number, category: MoodleCategory): ParsedQuestion {
  const pictures = collectPictures()
  const reading: ReadState = { losses: [...category.losses], findPicture: pictures.find }
  let remaining = hide(body)
  let name = ''
  const titled = /^::([\s\S]*?)::/.exec(remaining)
  if (titled) {
    name = show(titled[1]!)
    remaining = remaining.slice(titled[0].length).trim()
  }
  const openIndex = remaining.indexOf('{')
  const closeIndex = remaining.indexOf('}', openIndex)
  const [, format = ''] = FORMAT.exec(remaining) ?? []
  const before = show((openIndex < 0 ? remaining : remaining.slice(0, openIndex)).replace(FORMAT, ''))
  const refuse = (refusal: string): ParsedQuestion => ({ line, losses: [], name: name || before.slice(0, 120), refusal })
  if (openIndex >= 0 && closeIndex < 0) return refuse('The answers have no closing brace.')
  if (openIndex < 0 && remaining.includes('}')) return refuse('It has a closing brace, but no opening one.')
  if (openIndex < 0) return refuse('It is a description without an answer.')
  const after = show(remaining.slice(closeIndex + 1))
  if (after.includes('{')) addLoss(reading, 'Only the first of several answer fields is imported.')
  const { text, isFormatted } = readScript({ text: after === '' ? before : `${before} _____ ${after}`, format }, reading)
  if (text.trim() === '') return refuse('It has no text.')
  const answer = readAnswers(remaining.slice(openIndex + 1, closeIndex).trim(), format, reading)
  if (typeof answer === 'string') return refuse(answer)
  const question: NeutralQuestion = {
    name,
    category: category.path,
    text,
    isFormatted,
    points: null,
    answer,
    ...filesOf(pictures),
  }
  return { line, losses: reading.losses, question }
}

/** Format of a text, an answer, or its feedback. */
const FORMAT = /^\s*\[(html|moodle|plain|markdown)\]/i

/** @param ofQuestion format of answers without one. */
function showAnswer(source: string, ofQuestion: string, reading: ReadState): string {
  const [, format = ofQuestion] = FORMAT.exec(source) ?? []
  return readAnswerText({ text: show(source.replace(FORMAT, '')), format }, reading)
}

/** @param format of the question. @returns the reason, in a sentence, if the answers are invalid. */
function readAnswers(source: string, format: string, reading: ReadState): NeutralAnswer | string {
  const [inner, general] = source.split(/####/)
  if (general !== undefined) addLoss(reading, GENERAL_FEEDBACK_LOST)
  const answers = inner!.trim()
  if (answers === '') return { as: 'open', responseType: 'text' }
  if (answers.startsWith('#')) return readNumbers(answers.slice(1).trim(), reading)
  const truth = /^(T|TRUE|F|FALSE)(\s*#[\s\S]*)?$/.exec(answers)
  if (truth?.[2]) addLoss(reading, FEEDBACK_LOST)
  if (truth) return readTruth(truth[1]!)
  return readParts(answers, format, reading)
}

function readParts(answers: string, format: string, reading: ReadState): NeutralAnswer | string {
  const parts = splitAnswers(answers, reading)
  if (parts.length === 0) return 'The answers must begin with = or ~.'
  if (parts.some(({ weight }) => Number.isNaN(weight))) return 'A share is not a number.'
  if (parts.every(({ sign, text, weight }) => sign === '=' && weight === null && /->/.test(text))) {
    return { as: 'pairs', pairs: parts.map(({ text }) => splitPair(text)) }
  }
  if (parts.every(({ sign }) => sign === '=')) {
    const accepted = parts.map(({ text, weight }) => ({ text: showAnswer(text, format, reading), share: weight ?? 100 }))
    return acceptTexts(accepted, false, reading)
  }
  const several = !parts.some(({ sign }) => sign === '=')
  const options = parts.map(
    ({ sign, text, weight }): WeightedText => ({
      text: showAnswer(text, format, reading),
      share: weight ?? (sign === '=' ? 100 : 0),
    }),
  )
  if (options.some(({ text }) => text === '')) return 'An option has no text.'
  return { as: 'options', several, options }
}

/** @property weight percent; null if not written, NaN if invalid. */
type GiftAnswer = { sign: '=' | '~'; text: string; weight: number | null }

function splitAnswers(answers: string, reading: ReadState): GiftAnswer[] {
  const found: GiftAnswer[] = []
  for (const [, sign, body] of answers.matchAll(/([=~])([^=~]*)/g)) {
    const [, weight, content] = /^\s*%(-?[^%]*)%([\s\S]*)$/.exec(body!) ?? [null, undefined, body!]
    const [text, feedback] = content!.split('#')
    if (feedback !== undefined) addLoss(reading, FEEDBACK_LOST)
    found.push({
      sign: sign as '=' | '~',
      text: text!,
      weight: weight === undefined ? null : weight.trim() === '' ? Number.NaN : Number(weight),
    })
  }
  return /^[=~]/.test(answers) ? found : []
}

function splitPair(text: string): [string, string] {
  const index = text.indexOf('->')
  return [show(text.slice(0, index).replace(FORMAT, '')), show(text.slice(index + 2))]
}

function readNumbers(source: string, reading: ReadState): NeutralAnswer | string {
  const isList = source.startsWith('=') || source.startsWith('~')
  const parts = isList ? splitAnswers(source, reading) : [{ weight: null, text: source.split('#')[0]! }]
  if (source.includes('#') && !isList) addLoss(reading, FEEDBACK_LOST)
  const ranges = parts.map(({ text, weight }) => readNumber(text, weight ?? 100))
  const refusal = ranges.find((range) => typeof range === 'string')
  if (refusal !== undefined) return refusal
  return acceptNumbers(
    ranges.filter((range) => typeof range !== 'string'),
    reading,
  )
}

/** @returns the reason, in a sentence, if it is invalid. */
function readNumber(text: string, share: number): NumberRange | string {
  if (Number.isNaN(share) || share < 0) return 'A share is not a number from 0 on.'
  return readRange(text.trim(), Math.round(share)) ?? `“${show(text)}” is not a number.`
}

function readRange(text: string, share: number): NumberRange | undefined {
  if (text.includes('..')) {
    const [from, to, ...more] = text.split('..').map((part) => plainDecimal(part.trim()))
    return more.length === 0 && from !== undefined && to !== undefined ? { from, to, share } : undefined
  }
  const [value, tolerance, ...more] = text.split(':').map((part) => plainDecimal(part.trim()))
  if (value === undefined || more.length > 0 || (text.includes(':') && tolerance === undefined)) return undefined
  return { value, tolerance, share }
}
