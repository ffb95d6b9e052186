import type { NeutralAnswer, NumberRange, ParsedQuestion } from '../neutral.ts'

// Questions as rows of a spreadsheet.

/** Columns of the options. */
export const LETTERS = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M', 'N', 'O', 'P', 'Q', 'R', 'S', 'T']

/** Accepted headings by meaning, in lower case, letters only. */
const HEADINGS: Record<string, string[]> = {
  kind: ['kind', 'type', 'questiontype'],
  name: ['name', 'title'],
  category: ['category', 'topic', 'tag'],
  text: ['text', 'question', 'questiontext', 'prompt'],
  format: ['format', 'markup'],
  points: ['points', 'point', 'score', 'marks', 'mark'],
  right: [
    ...['right', 'rightanswer', 'rightoption', 'correct', 'correctanswer', 'correctanswers', 'correctoption', 'correctchoice'],
    ...['answer', 'answers', 'solution', 'key'],
  ],
}
/** Headings of options: `Option 1`, `Answer B`, `C`. */
const OPTION_HEADING = /^(?:(?:option|choice|answer)(?:([a-t])|0?(\d{1,2}))|([a-t]))$/

/** Kinds by their accepted names, in lower case, letters only. */
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

export const normalizeWord = (text: string): string => text.toLowerCase().replace(/[^\p{L}]/gu, '')

export type TableRow = { line: number; cells: string[] }

/** Further columns are ignored. */
export const MAX_COLUMNS = 200
/** Limits of the list of unused columns. */
const MAX_UNUSED = 50
const MAX_HEADING_LENGTH = 100

/**
 * @property columns column indexes by meaning, or by option number.
 * @property lettersWin true for files that this service wrote: a right answer `A` is option A even if an option's text is “A”.
 * @property hasNumbers true if right answers may name options by number, from 1.
 */
type Layout = { columns: Map<string | number, number>; lettersWin: boolean; hasNumbers: boolean }

/**
 * Reads questions from a sheet. The first row has the headings: text, and optionally kind, name, category, format, points, right, and options.
 *
 * @returns null without a column for the text.
 */
export function readTable([head, ...rows]: TableRow[]): { rows: ParsedQuestion[]; unusedColumns: string[] } | null {
  const headings = (head?.cells ?? []).slice(0, MAX_COLUMNS)
  const layout = layoutOf(headings)
  if (!layout) return null
  const filled = rows.filter(({ cells }) => cells.some((text) => text.trim() !== ''))
  const isFromZero = filled.some(
    (row) => cellOf(layout, row, 'right') === '0' && !optionsOf(layout, row).some(({ text }) => text === '0'),
  )
  const hasNumbers = layout.hasNumbers && !isFromZero
  return {
    rows: filled.map((row) => readRow(row, { ...layout, hasNumbers })),
    unusedColumns: findUnused(headings, filled, layout),
  }
}

export const areHeadings = (headings: string[]): boolean => layoutOf(headings) !== null

function layoutOf(headings: string[]): Layout | null {
  const words = headings.map(headingWord)
  const columns = new Map<string | number, number>()
  for (const [i, word] of words.entries()) {
    const meaning = meaningOf(word)
    if (meaning !== undefined && !columns.has(meaning)) columns.set(meaning, i)
  }
  readQAsText(words, columns)
  if (!columns.has('text')) return null
  const hasNumbers = [...columns].some(([meaning, i]) => typeof meaning === 'number' && /\d/.test(words[i]!))
  const lettersWin = !hasNumbers && words[columns.get('right') ?? -1] === 'right'
  return { columns, lettersWin, hasNumbers }
}

/** @returns the option number for the heading of an option. */
function meaningOf(word: string): string | number | undefined {
  const known = Object.keys(HEADINGS).find((meaning) => HEADINGS[meaning]!.includes(word))
  if (known !== undefined) return known
  const [, letter, number, letterAlone] = OPTION_HEADING.exec(word) ?? []
  const option = number === undefined ? LETTERS.indexOf((letter ?? letterAlone ?? '').toUpperCase()) + 1 : Number(number)
  return option >= 1 && option <= LETTERS.length ? option : undefined
}

/** `Q` is the heading of the text if there is no other, unless there is an option P. */
function readQAsText(words: string[], columns: Map<string | number, number>): void {
  const at = words.indexOf('q')
  if (at < 0 || columns.has('text') || columns.has(LETTERS.indexOf('P') + 1)) return
  columns.delete(LETTERS.indexOf('Q') + 1)
  columns.set('text', at)
}

/** Removes parentheses, as in `Marks (10)`. Digits stay, because `Answer 1` differs from `Answer`. */
const headingWord = (heading: string): string =>
  heading
    .slice(0, MAX_HEADING_LENGTH)
    .replace(/\([^()]*\)/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')

/** Headings of unused columns, or their numbers if they have content but no heading. */
function findUnused(headings: string[], rows: TableRow[], { columns }: Layout): string[] {
  const used = new Set(columns.values())
  const unused = Array.from({ length: MAX_COLUMNS }, (_, i) => i).filter((i) => !used.has(i))
  const named = unused.map((i) => (headings[i] ?? '').trim().slice(0, MAX_HEADING_LENGTH).toWellFormed() || labelUnnamed(i, rows))
  return named.filter((name) => name !== '').slice(0, MAX_UNUSED)
}

const labelUnnamed = (i: number, rows: TableRow[]): string =>
  rows.some(({ cells }) => (cells[i] ?? '').trim() !== '') ? `column ${i + 1}` : ''

type Option = { number: number; text: string }

const cellOf = ({ columns }: Layout, { cells }: TableRow, meaning: string | number): string =>
  (cells[columns.get(meaning) ?? -1] ?? '').trim()

const optionsOf = (layout: Layout, row: TableRow): Option[] =>
  LETTERS.map((_, i) => ({ number: i + 1, text: unescapeFormula(cellOf(layout, row, i + 1)) })).filter(({ text }) => text !== '')

function readRow(row: TableRow, layout: Layout): ParsedQuestion {
  const { line } = row
  const cell = (meaning: string) => cellOf(layout, row, meaning)
  const [name, text] = [unescapeFormula(cell('name')), unescapeFormula(cell('text'))]
  const losses: string[] = []
  const refuse = (refusal: string): ParsedQuestion => ({ line, losses: [], name: name || text.slice(0, 120), refusal })
  if (text === '') return refuse('It has no text.')
  const typed = cell('points').replace(',', '.')
  if (typed !== '' && !/^\d{1,9}(\.\d+)?$/.test(typed)) return refuse(`The points “${cell('points')}” are not a number.`)
  const points = typed === '' ? null : Math.round(Number(typed))
  if (points !== null && points !== Number(typed)) losses.push(`Points are rounded: ${points} instead of ${typed}.`)
  const options = optionsOf(layout, row)
  const kind = cell('kind') === '' ? guessKind(options.length, cell('right')) : KINDS[normalizeWord(cell('kind'))]
  if (kind === undefined) return refuse(`There is no kind “${cell('kind')}”.`)
  const answer = readAnswer(kind, unescapeFormula(cell('right')), { options, layout })
  if (typeof answer === 'string') return refuse(answer)
  const category = unescapeFormula(cell('category'))
    .split(/[/>]/)
    .map((part) => part.trim())
    .filter(Boolean)
    .join(' / ')
  const isFormatted = normalizeWord(cell('format')) === 'markdown'
  return { line, losses, question: { name, category, text, isFormatted, points, answer } }
}

const guessKind = (options: number, right: string): string => (options > 0 ? 'choice' : right === '' ? 'text' : 'words')

type Choice = { options: Option[]; layout: Layout }

/** @returns the reason, in a sentence, if the answer is invalid. */
function readAnswer(kind: string, right: string, choice: Choice): NeutralAnswer | string {
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
      return { as: 'pairs', pairs: choice.options.map(({ text }) => splitPair(text)) }
    case 'truth':
      return choice.options.length > 0 ? readOptions('single', right, choice) : readTruth(right)
    default:
      return readOptions(kind, right, choice)
  }
}

function readOptions(kind: string, right: string, choice: Choice): NeutralAnswer | string {
  const { options } = choice
  if (options.length < 2) return 'It has fewer than two options.'
  const read = readRight(right, choice)
  if (typeof read === 'string') return read
  const { shares, isWeighed } = read
  if (shares.size === 0) return 'It has no right answer.'
  const isSeveral = kind === 'several' || (kind === 'choice' && shares.size > 1)
  const [all, wrong] = [shares.size, options.length - shares.size]
  const shareOf = (option: number): number => {
    if (isWeighed || !isSeveral) return shares.get(option) ?? 0
    return shares.has(option) ? 100 / all : -100 / wrong
  }
  return { as: 'options', several: isSeveral, options: options.map(({ number, text }) => ({ text, share: shareOf(number) })) }
}

/** @property shares percent by option number, for right options. @property isWeighed true if the cell names at least one share. */
type CorrectAnswer = { shares: Map<number, number>; isWeighed: boolean }

/**
 * Reads the right options. An ambiguous cell is refused, because nobody would notice a wrong key.
 *
 * @returns the reason, in a sentence, if the cell is refused.
 */
function readRight(right: string, choice: Choice): CorrectAnswer | string {
  const parts = right
    .split(/[;|,\n]/)
    .map((part) => part.trim())
    .filter(Boolean)
  const read = parts.map((part) => ({ part, ...readPart(part, choice) }))
  const whole = parts.length > 1 ? findOptions(right, choice) : []
  const isWhole = whole.length > 0 && !(choice.layout.lettersWin && read.every(({ found }) => found.length === 1))
  if (isWhole && read.every(({ found }) => found.length > 0)) return createWarning(right)
  if (isWhole) return whole.length === 1 ? { shares: new Map([[whole[0]!.number, 100]]), isWeighed: false } : createWarning(right)
  const shares = new Map<number, number>()
  for (const { part, found, share } of read) {
    if (found.length === 0) return `The right answer “${part}” is not an option.`
    if (found.length > 1) return createWarning(part)
    shares.set(found[0]!.number, share)
  }
  return { shares, isWeighed: read.some((part) => part.isWeighed) }
}

const createWarning = (right: string): string =>
  `The right answer “${right}” fits more than one option. Write the letter of the right one.`

/** "B", "Paris" or "Paris 50%". */
function readPart(part: string, choice: Choice): { found: Option[]; share: number; isWeighed: boolean } {
  const { text, share } = readShare(part)
  const plain = { found: findOptions(part, choice), share: 100, isWeighed: false }
  if (text === part) return plain
  const weighed = { found: findOptions(text, choice), share, isWeighed: true }
  if (weighed.found.length === 0) return plain
  if (plain.found.length === 0 || choice.layout.lettersWin) return weighed
  return { ...weighed, found: [...plain.found, ...weighed.found] }
}

/** Options that match a letter, a number, or a text. */
function findOptions(text: string, { options, layout: { lettersWin, hasNumbers } }: Choice): Option[] {
  const label = text.replace(/^(option|choice|answer)\s*(?=\w{1,2}$)/i, '')
  const isLabel = ({ number }: Option) =>
    LETTERS[number - 1] === label.toUpperCase() || (hasNumbers && /^\d{1,2}$/.test(label) && Number(label) === number)
  const labeled = options.filter(isLabel)
  if (lettersWin && labeled.length > 0) return labeled
  const fold = (one: string) => one.normalize('NFC').toLowerCase().replace(/\s+/g, ' ')
  const same = options.filter((option) => option.text === text)
  const alike = same.length > 0 ? same : options.filter((option) => fold(option.text) === fold(text))
  return [...new Set([...labeled, ...alike])]
}

function readTruth(right: string): NeutralAnswer | string {
  const word = normalizeWord(right)
  const isTrue = ['true', 't', 'yes', 'right'].includes(word)
  if (!isTrue && !['false', 'f', 'no', 'wrong'].includes(word)) return `The right answer “${right}” is neither true nor false.`
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
  const [, answer, share] = /^(.*\S)\s+(-?\d{1,3})\s*%$/s.exec(text) ?? []
  return answer === undefined ? { text, share: 100 } : { text: answer, share: Number(share) }
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
    else return `The right answer “${part}” is not a number. Write 3.14, 3.14 ± 0.01, or 3..4.`
  }
  return { as: 'number', ranges }
}

function splitPair(text: string): [string, string] {
  const at = text.indexOf('->')
  return at < 0 ? [text, ''] : [text.slice(0, at).trim(), text.slice(at + 2).trim()]
}

/** Cells that a spreadsheet would take for formulas are escaped by an apostrophe. */
const FORMULA = /^(["'\s\u200b\ufeff]*[=+\-@＝＋－＠]|[\t\r\n'])/
export const escapeFormula = (text: string): string => (FORMULA.test(text) ? `'${text}` : text)
const unescapeFormula = (text: string): string =>
  (text.startsWith("'") && FORMULA.test(text.slice(1)) ? text.slice(1) : text).trim()
