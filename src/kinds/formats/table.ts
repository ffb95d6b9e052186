import type { NeutralAnswer, NumberRange, ReadQuestion } from '../neutral.ts'

// Questions as rows of a sheet: what people have in spreadsheets.

/** The options' columns. */
export const LETTERS = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M', 'N', 'O', 'P', 'Q', 'R', 'S', 'T']

/** Headers by what they mean, in lower case and without anything but letters. */
const HEADERS: Record<string, string[]> = {
  kind: ['kind', 'type', 'questiontype'],
  name: ['name', 'title'],
  category: ['category', 'topic', 'tag'],
  text: ['text', 'question', 'questiontext', 'prompt'],
  format: ['format', 'markup'],
  points: ['points', 'point', 'score', 'marks', 'mark'],
  right: ['right', 'correct', 'answer', 'answers', 'rightanswer', 'correctanswer', 'correctanswers', 'solution', 'key'],
}

/** What a kind is called, without anything but letters. */
export const KINDS: Record<string, string> = {
  single: 'single',
  singlechoice: 'single',
  onechoice: 'single',
  multiplechoice: 'choice',
  choice: 'choice',
  mcq: 'choice',
  multiple: 'several',
  severalchoices: 'several',
  multipleresponse: 'several',
  multipleanswer: 'several',
  checkboxes: 'several',
  truefalse: 'truth',
  yesno: 'truth',
  number: 'number',
  numeric: 'number',
  numerical: 'number',
  shorttext: 'words',
  shortanswer: 'words',
  short: 'words',
  text: 'text',
  essay: 'text',
  openquestion: 'text',
  open: 'text',
  freetext: 'text',
  audio: 'audio',
  video: 'video',
  mixed: 'mixed',
  matching: 'pairs',
  match: 'pairs',
}

export const wordOf = (text: string): string => text.toLowerCase().replace(/[^\p{L}]/gu, '')

/** A row of a sheet: its line, and what stands in its cells. */
export type TableRow = { line: number; cells: string[] }

/**
 * The questions of a sheet, whose first row names the columns: text and, as far as it has them, kind, name, category, format, points, right and the
 * options A to T.
 *
 * @returns null where no column is the text.
 */
export function readTable([head, ...rows]: TableRow[]): ReadQuestion[] | null {
  const columns = new Map<string, number>()
  for (const [i, header] of (head?.cells ?? []).entries()) {
    const word = wordOf(header).replace(/^option|^choice(?=.)/, '')
    const meaning = Object.keys(HEADERS).find((known) => HEADERS[known]!.includes(wordOf(header))) ?? word.toUpperCase()
    if (!columns.has(meaning)) columns.set(meaning, i)
  }
  if (!columns.has('text')) return null
  const cell = ({ cells }: TableRow, column: string): string => (cells[columns.get(column) ?? -1] ?? '').trim()
  return rows
    .filter(({ cells }) => cells.some((text) => text.trim() !== ''))
    .map((row) => readRow(row, (column) => cell(row, column)))
}

function readRow({ line }: TableRow, cell: (column: string) => string): ReadQuestion {
  const [name, text] = [unguard(cell('name')), unguard(cell('text'))]
  const losses: string[] = []
  const refuse = (refusal: string): ReadQuestion => ({ line, losses: [], name: name || text.slice(0, 120), refusal })
  if (text === '') return refuse('It has no text.')
  const typed = cell('points').replace(',', '.')
  if (typed !== '' && !/^\d{1,9}(\.\d+)?$/.test(typed)) return refuse(`Its points “${cell('points')}” are no number.`)
  const points = typed === '' ? null : Math.round(Number(typed))
  if (points !== null && points !== Number(typed)) losses.push(`Points are whole: ${points} instead of ${typed}.`)
  const options = LETTERS.map((letter) => ({ letter, text: unguard(cell(letter)) })).filter((option) => option.text !== '')
  const kind = cell('kind') === '' ? guessKind(options.length, cell('right')) : KINDS[wordOf(cell('kind'))]
  if (kind === undefined) return refuse(`There is no kind “${cell('kind')}”.`)
  const answer = readAnswer(kind, unguard(cell('right')), options)
  if (typeof answer === 'string') return refuse(answer)
  const category = unguard(cell('category'))
    .split(/[/>]/)
    .map((part) => part.trim())
    .filter(Boolean)
    .join(' / ')
  const isFormatted = wordOf(cell('format')) === 'markdown'
  return { line, losses, question: { name, category, text, isFormatted, points, answer } }
}

const guessKind = (options: number, right: string): string => (options > 0 ? 'choice' : right === '' ? 'text' : 'words')

type Option = { letter: string; text: string }

/** @returns a sentence where it can't be read. */
function readAnswer(kind: string, right: string, options: Option[]): NeutralAnswer | string {
  const several = right
    .split(/[;|\n]/)
    .map((part) => part.trim())
    .filter(Boolean)
  switch (kind) {
    case 'text':
    case 'audio':
    case 'video':
    case 'mixed':
      return { as: 'open', responseType: kind }
    case 'number':
      return readNumbers(several)
    case 'words':
      if (several.length === 0) return 'It has no right answer.'
      return { as: 'words', accepted: several.map((part) => readShare(part)) }
    case 'pairs':
      return { as: 'pairs', pairs: options.map(({ text }) => splitPair(text)) }
    case 'truth':
      return readTruth(right)
    default:
      return readOptions(kind, right, options)
  }
}

function readOptions(kind: string, right: string, options: Option[]): NeutralAnswer | string {
  if (options.length < 2) return 'It has fewer than two options.'
  const named = right
    .split(/[;|,\n]/)
    .map((part) => part.trim())
    .filter(Boolean)
  const shares = new Map<string, number>()
  for (const part of named) {
    const { text, share } = readShare(part)
    const option = options.find(({ letter }) => letter === text.toUpperCase()) ?? options.find((one) => one.text === text)
    if (!option) return `Right is “${part}”, which is no option.`
    shares.set(option.letter, share)
  }
  if (shares.size === 0) return 'It has no right answer.'
  const isSeveral = kind === 'several' || (kind === 'choice' && shares.size > 1)
  const isWeighed = /%/.test(right)
  const [all, wrong] = [shares.size, options.length - shares.size]
  const shareOf = (letter: string): number => {
    if (isWeighed || !isSeveral) return shares.get(letter) ?? 0
    return shares.has(letter) ? 100 / all : -100 / wrong
  }
  return { as: 'options', several: isSeveral, options: options.map(({ letter, text }) => ({ text, share: shareOf(letter) })) }
}

function readTruth(right: string): NeutralAnswer | string {
  const word = wordOf(right)
  const isTrue = ['true', 't', 'yes', 'right', 'a'].includes(word)
  if (!isTrue && !['false', 'f', 'no', 'wrong', 'b'].includes(word))
    return `Right is “${right}”, which is neither true nor false.`
  return {
    as: 'options',
    several: false,
    options: [
      { text: 'True', share: isTrue ? 100 : 0 },
      { text: 'False', share: isTrue ? 0 : 100 },
    ],
  }
}

/** "Paris 50%". */
function readShare(text: string): { text: string; share: number } {
  const [, own, share] = /^(.*\S)\s+(-?\d{1,3})\s*%$/s.exec(text) ?? []
  return own === undefined ? { text, share: 100 } : { text: own, share: Number(share) }
}

const DECIMAL = /^-?\d+(\.\d+)?$/

function readNumbers(parts: string[]): NeutralAnswer | string {
  if (parts.length === 0) return 'It has no right answer.'
  const ranges: NumberRange[] = []
  for (const part of parts) {
    const { text, share } = readShare(part)
    const [from, to] = text.split('..').map((one) => one.trim())
    const [value, tolerance] = text.split(/±|\+-|:/).map((one) => one.trim())
    if (to !== undefined && DECIMAL.test(from!) && DECIMAL.test(to)) ranges.push({ from: from!, to, share })
    else if (DECIMAL.test(value!) && (tolerance === undefined || DECIMAL.test(tolerance)))
      ranges.push({ value: value!, tolerance, share })
    else return `Right is “${part}”, which is no number: write it as 3.14, 3.14 ± 0.01 or 3..4.`
  }
  return { as: 'number', ranges }
}

function splitPair(text: string): [string, string] {
  const at = text.indexOf('->')
  return at < 0 ? [text, ''] : [text.slice(0, at).trim(), text.slice(at + 2).trim()]
}

/** A cell that begins so would be a formula: it is written behind an apostrophe, and read without. */
const FORMULA = /^(["'\s\u200b\ufeff]*[=+\-@＝＋－＠]|[\t\r\n'])/
export const guard = (text: string): string => (FORMULA.test(text) ? `'${text}` : text)
const unguard = (text: string): string => (text.startsWith("'") && FORMULA.test(text.slice(1)) ? text.slice(1) : text).trim()
