import type { TableRow } from '../../tables/table.ts'
import type { NeutralAnswer, NumberRange, ParsedQuestion } from '../neutral.ts'
import { type ColumnPlan, headingWord, MAX_OPTIONS, optionMeaning, planColumns } from './columns.ts'
import { hasDecimalComma, readDecimal, roundPoints } from './decimals.ts'
import {
  evidenceOf,
  isAmbiguous,
  type KeyRules,
  type Option,
  readRight,
  readShare,
  readTruth,
  readTruthWord,
} from './right-answers.ts'

// Questions as rows of a spreadsheet.

/** Columns of the options. */
export const LETTERS = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M', 'N', 'O', 'P', 'Q', 'R', 'S', 'T']

/** Kinds by their accepted names, in lower case, letters only. */
export const KINDS: Record<string, string> = {
  single: 'single',
  singlechoice: 'single',
  singleselect: 'single',
  onechoice: 'single',
  einfachauswahl: 'single',
  choixunique: 'single',
  multiplechoice: 'choice',
  choice: 'choice',
  mcq: 'choice',
  quiz: 'choice',
  mehrfachauswahl: 'several',
  choixmultiple: 'choice',
  multiple: 'several',
  severalchoices: 'several',
  multipleresponse: 'several',
  multipleselect: 'several',
  multiselect: 'several',
  multipleanswer: 'several',
  multipleanswers: 'several',
  checkbox: 'several',
  checkboxes: 'several',
  truefalse: 'truth',
  trueorfalse: 'truth',
  wahrfalsch: 'truth',
  vraifaux: 'truth',
  verdaderofalso: 'truth',
  verdadeirofalso: 'truth',
  yesno: 'truth',
  boolean: 'truth',
  number: 'number',
  numeric: 'number',
  numerical: 'number',
  zahl: 'number',
  shorttext: 'words',
  shortanswer: 'words',
  short: 'words',
  fillintheblank: 'words',
  fillin: 'words',
  kurzantwort: 'words',
  text: 'text',
  essay: 'text',
  openquestion: 'text',
  openended: 'text',
  open: 'text',
  longanswer: 'text',
  paragraph: 'text',
  freetext: 'text',
  freitext: 'text',
  audio: 'audio',
  video: 'video',
  mixed: 'mixed',
  matching: 'pairs',
  match: 'pairs',
  zuordnung: 'pairs',
}

export const normalizeWord = (text: string): string => text.toLowerCase().replace(/[^\p{L}]/gu, '')

/** Limits of the list of unused columns. */
const MAX_UNUSED = 50
const MAX_HEADING_LENGTH = 100

/** @property columns column indexes by meaning. @property hasCommas true if numbers have decimal commas. @property hasKeys true if rows have options or right answers. */
type Layout = { columns: Map<string, number[]>; rules: KeyRules; hasCommas: boolean; hasKeys: boolean }

/** @property unusedColumns headings of the columns that were ignored. @property ambiguous rows whose right answer is text and number of different options. */
export type QuestionTable = { rows: ParsedQuestion[]; unusedColumns: string[]; plan: ColumnPlan; ambiguous: number }

/**
 * Reads questions from a sheet.
 *
 * @param plan meanings of the columns that a person confirmed. Without it they are recognized by the headings.
 * @returns null without a column for the text.
 */
export function readTable(allRows: TableRow[], plan: ColumnPlan = planColumns(allRows)): QuestionTable | null {
  const headings = plan.head < 0 ? [] : (allRows[plan.head]?.cells ?? [])
  const rows = allRows.slice(plan.head + 1).filter(({ cells, faults }) => faults || cells.some((text) => text.trim() !== ''))
  const layout = layOut(headings, rows, plan.meanings)
  if (!layout) return null
  const last = rows.at(-1)
  const parsedRows = rows.map((row) => readRow(row, layout, row === last))
  const ambiguous = rows.filter((row) => {
    const { text, decimal } = keyOf(layout, row)
    return isAmbiguous(text, decimal, optionsOf(layout, row), layout.rules)
  }).length
  return { rows: parsedRows, unusedColumns: findUnused(headings, rows, plan.meanings), plan, ambiguous }
}

function layOut(headings: string[], rows: TableRow[], meanings: string[]): Layout | null {
  const columns = new Map<string, number[]>()
  for (const [i, meaning] of meanings.entries()) {
    const wanted = meaning === 'rightByLabel' || meaning === 'rightByText' ? 'right' : meaning
    if (wanted !== '') columns.set(wanted, [...(columns.get(wanted) ?? []), i])
  }
  if (!columns.has('text')) return null
  const words = headings.map(headingWord)
  const areNumbered = [...columns].some(([meaning, [i]]) => meaning.startsWith('option:') && /\d/.test(words[i!] ?? ''))
  const rules: KeyRules = {
    lettersWin: !areNumbered && words[columns.get('right')?.[0] ?? -1] === 'right',
    numbers: areNumbered ? 'always' : 'besideTexts',
    reading: meanings.includes('rightByLabel') ? 'label' : meanings.includes('rightByText') ? 'text' : 'both',
    hasTextKeys: false,
  }
  const layout: Layout = { columns, rules, hasCommas: false, hasKeys: false }
  const keys = rows.map((row) => ({ ...keyOf(layout, row), options: optionsOf(layout, row) }))
  if (keys.some(({ text, options }) => text === '0' && options.length > 0 && !options.some((option) => option.text === '0')))
    rules.numbers = 'never'
  rules.hasTextKeys = keys.some(({ text, decimal, options }) => evidenceOf(text, decimal, options, rules) === 'text')
  layout.hasCommas = rows.some(
    (row) => hasDecimalComma(keyOf(layout, row).text) || hasDecimalComma(cellOf(layout, row, 'points')),
  )
  layout.hasKeys = keys.some(({ text, options }) => text !== '' || options.length > 0)
  return layout
}

/** Headings of unused columns, or their numbers if they have content but no heading. */
function findUnused(headings: string[], rows: TableRow[], meanings: string[]): string[] {
  const width = Math.max(headings.length, ...rows.slice(0, 1_000).map(({ cells }) => cells.length), 0)
  const unused = Array.from({ length: width }, (_, i) => i).filter((i) => (meanings[i] ?? '') === '')
  const named = unused.map((i) => (headings[i] ?? '').trim().slice(0, MAX_HEADING_LENGTH).toWellFormed() || labelUnnamed(i, rows))
  return named.filter((name) => name !== '').slice(0, MAX_UNUSED)
}

const labelUnnamed = (i: number, rows: TableRow[]): string =>
  rows.some(({ cells }) => (cells[i] ?? '').trim() !== '') ? `column ${i + 1}` : ''

const columnOf = ({ columns }: Layout, meaning: string): number => columns.get(meaning)?.[0] ?? -1
const cellOf = (layout: Layout, { cells }: TableRow, meaning: string): string => (cells[columnOf(layout, meaning)] ?? '').trim()

/** Right answer as text, and as a decimal if it is a number. */
function keyOf(layout: Layout, { cells, numbers }: TableRow): { text: string; decimal: string | undefined } {
  const columns = layout.columns.get('right') ?? []
  const filled = columns.filter((i) => (cells[i] ?? '').trim() !== '')
  const text = filled.map((i) => unescapeFormula(cells[i]!)).join('; ')
  return { text, decimal: filled.length === 1 ? (numbers?.[filled[0]!] ?? readDecimal(text)) : undefined }
}

function optionsOf(layout: Layout, row: TableRow): Option[] {
  const wrong = layout.columns.get('wrong') ?? []
  const single = cellOf(layout, row, 'options')
  const cells: { number: number; text: string; decimal?: string | undefined }[] = [
    ...Array.from({ length: MAX_OPTIONS }, (_, i) => {
      const column = columnOf(layout, optionMeaning(i + 1))
      return { number: i + 1, text: row.cells[column] ?? '', decimal: row.numbers?.[column] }
    }),
    ...single.split(/\r?\n|[;|]/).map((text, i) => ({ number: i + 1, text })),
    ...(wrong.length > 0
      ? [keyOf(layout, row).text, ...wrong.map((i) => row.cells[i] ?? '')].map((text, i) => ({ number: i + 1, text }))
      : []),
  ]
  return cells.flatMap(({ number, text, decimal }) => {
    const shown = unescapeFormula(text)
    return shown === '' ? [] : [{ number, text: shown, decimal: decimal ?? readDecimal(shown) }]
  })
}

/** Words for a row with sums below the questions. */
const TOTAL = /^(grand\s*)?(total|totals|sum|summe|gesamt(punkte|summe)?|somme|suma|soma|totale)( (points|marks|punkte))?\s*:?$/i

function readRow(row: TableRow, layout: Layout, isLast: boolean): ParsedQuestion {
  const { line } = row
  const cell = (meaning: string) => cellOf(layout, row, meaning)
  const [name, text] = [unescapeFormula(cell('name')), unescapeFormula(cell('text'))]
  const losses: string[] = []
  const refuse = (refusal: string): ParsedQuestion => ({ line, losses: [], name: name || text.slice(0, 120), refusal })
  const fault = row.faults?.find(({ column }) => column === null || [...layout.columns.values()].flat().includes(column))
  if (fault) return refuse(fault.text)
  if (text === '') return refuse('It has no text.')
  if (row.merged?.includes(columnOf(layout, 'text'))) return refuse('Its text is merged with that of the row above.')
  const points = readPoints(row.numbers?.[columnOf(layout, 'points')] ?? cell('points'), layout, losses)
  if (points === undefined) return refuse(`The points “${cell('points')}” are not a number.`)
  const options = optionsOf(layout, row)
  const right = keyOf(layout, row)
  if (isLast && TOTAL.test(text) && options.length === 0 && right.text === '') return refuse('It looks like a row of totals.')
  const kind = cell('kind') === '' ? guessKind(options, right.text, layout) : kindOf(cell('kind'))
  if (kind === null) return refuse(NO_ANSWER)
  if (kind === undefined) return refuse(`There is no kind “${cell('kind')}”.`)
  const answer = readAnswer(kind, right, { options, layout })
  if (typeof answer === 'string') return refuse(answer)
  const category = unescapeFormula(cell('category'))
    .split(/[/>]/)
    .map((part) => part.trim())
    .filter(Boolean)
    .join(' / ')
  const isFormatted = normalizeWord(cell('format')) === 'markdown'
  return { line, losses, question: { name, category, text, isFormatted, points, answer } }
}

/** @returns null for an empty cell, undefined for an invalid one. */
function readPoints(typed: string, { hasCommas }: Layout, losses: string[]): number | null | undefined {
  if (typed === '') return null
  const decimal = readDecimal(typed, hasCommas)
  if (decimal === undefined || decimal.startsWith('-')) return undefined
  return roundPoints(decimal, losses)
}

const kindOf = (cell: string): string | undefined => {
  const word = normalizeWord(cell)
  return Object.hasOwn(KINDS, word) ? KINDS[word] : undefined
}

const NO_ANSWER =
  'It has no options or no right answer, unlike other rows. If that is right, add a column “kind”, and write “text” or “short text” there.'

/** @returns null if the row lacks what others have. */
function guessKind(options: Option[], right: string, layout: Layout): string | null {
  if (options.length > 0) return 'choice'
  const isTruth = readTruthWord(right) !== undefined && normalizeWord(right).length > 1
  if (isTruth) return 'truth'
  const haveOptions = [...layout.columns.keys()].some((meaning) => meaning.startsWith('option') || meaning === 'wrong')
  if (right === '') return layout.hasKeys ? null : 'text'
  return haveOptions ? null : 'words'
}

type Choice = { options: Option[]; layout: Layout }
type Key = { text: string; decimal: string | undefined }

/** @returns the reason, in a sentence, if the answer is invalid. */
function readAnswer(kind: string, right: Key, choice: Choice): NeutralAnswer | string {
  const { options } = choice
  const several = right.text
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
      return readNumbers(right.decimal === undefined ? several : [right.decimal], choice.layout.hasCommas)
    case 'words': {
      // Some tools write accepted texts where other questions have their options.
      const accepted = several.length > 0 ? several : options.map(({ text }) => text)
      if (accepted.length === 0) return 'It has no right answer.'
      if (several.length > 0 && options.length > 0) return 'It is a short text, and has options. Choose one of both.'
      return { as: 'words', accepted: accepted.map((part) => readShare(part)) }
    }
    case 'pairs':
      return { as: 'pairs', pairs: options.map(({ text }) => splitPair(text)) }
    case 'truth':
      return options.length > 0 ? readOptions('single', right, choice) : readTruth(right.text)
    default:
      return readOptions(kind, right, choice)
  }
}

function readOptions(kind: string, { text, decimal }: Key, { options, layout }: Choice): NeutralAnswer | string {
  if (options.length < 2) return 'It has fewer than two options.'
  const rightOptions = layout.columns.has('wrong')
    ? { shares: new Map([[1, 100]]), isWeighed: false }
    : readRight(text, decimal, options, layout.rules)
  if (typeof rightOptions === 'string') return rightOptions
  const { shares, isWeighed } = rightOptions
  if (shares.size === 0 || text === '') return 'It has no right answer.'
  // Files of this service may have several options that are right alone.
  if (kind === 'single' && !isWeighed && shares.size > 1 && !layout.rules.lettersWin)
    return 'It is a single choice, and has several right answers.'
  const isSeveral = kind === 'several' || (kind === 'choice' && shares.size > 1)
  const [rightCount, wrongCount] = [shares.size, options.length - shares.size]
  const shareOf = (option: number): number => {
    if (isWeighed || !isSeveral) return shares.get(option) ?? 0
    return shares.has(option) ? 100 / rightCount : -100 / wrongCount
  }
  return {
    as: 'options',
    several: isSeveral,
    options: options.map((option) => ({ text: option.text, share: shareOf(option.number) })),
  }
}

function readNumbers(parts: string[], hasCommas: boolean): NeutralAnswer | string {
  if (parts.length === 0) return 'It has no right answer.'
  const ranges: NumberRange[] = []
  for (const part of parts) {
    const range = readRange(part, hasCommas)
    const reason = /^[\d.,]+$/.test(part) ? 'can be read in two ways' : 'is not a number'
    if (!range) return `The right answer “${part}” ${reason}. Write 3.14, 3.14 ± 0.01, or 3..4.`
    ranges.push(range)
  }
  return { as: 'number', ranges }
}

function readRange(part: string, hasCommas: boolean): NumberRange | undefined {
  const { text, share } = readShare(part)
  const decimal = (number: string) => readDecimal(number, hasCommas)
  if (text.includes('..')) {
    const [from, to, ...more] = text.split('..').map(decimal)
    return from !== undefined && to !== undefined && more.length === 0 ? { from, to, share } : undefined
  }
  const [value, tolerance, ...more] = text.split(/±|\+-|:/).map(decimal)
  const isWhole = !/±|\+-|:/.test(text) || tolerance !== undefined
  return value !== undefined && isWhole && more.length === 0 ? { value, tolerance, share } : undefined
}

function splitPair(text: string): [string, string] {
  const index = text.indexOf('->')
  return index < 0 ? [text, ''] : [text.slice(0, index).trim(), text.slice(index + 2).trim()]
}

/** Cells that a spreadsheet would take for formulas are escaped by an apostrophe. */
const FORMULA = /^(["'\s\u200b\ufeff]*[=+\-@＝＋－＠]|[\t\r\n'])/
export const escapeFormula = (text: string): string => (FORMULA.test(text) ? `'${text}` : text)
const unescapeFormula = (text: string): string =>
  (text.trim().startsWith("'") && FORMULA.test(text.trim().slice(1)) ? text.trim().slice(1) : text).trim()
