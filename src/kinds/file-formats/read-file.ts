import { CsvError } from 'csv-parse'
import { parse } from 'csv-parse/sync'
import { createFileError, createTextBudget } from '../../domain/validation/uploaded-files.ts'
import { decodeText } from '../../http/requests/decode-text.ts'
import { unescapeInnerFormulas } from '../../http/sending/csv.ts'
import type { NeutralAnswer, ParsedQuestion } from '../neutral.ts'
import { readGift } from './gift.ts'
import { areHeadings, MAX_COLUMNS, readTable, type TableRow } from './table.ts'
import { readXlsx, UnreadableSheet } from './xlsx.ts'

export type FileFormat = 'xlsx' | 'csv' | 'gift'
/** @property unusedColumns headings of the columns that were ignored. */
type QuestionFile = { format: FileFormat; rows: ParsedQuestion[]; unusedColumns: string[] }

/** More than any question may have. Bounds the time of the later checks. */
const MAX_CHARACTERS = 200_000
const MAX_ANSWERS = 200
/** Characters of names, categories, and refusals. Their own, lower limits are applied later. */
const MAX_SHOWN = 2_000

/**
 * Reads questions from a file. The format is detected from the content: a ZIP archive is a spreadsheet, a text whose first line has a column
 * `text` is CSV, any other is GIFT. Runs in a process of its own, see uploads/read-upload.ts.
 *
 * @throws DomainError invalid, at `file`: `tooManyRows`, `tooMuchText`, `notSheet`, `noText`, `unreadable`.
 */
export function readFile(bytes: Uint8Array, maxQuestions: number): QuestionFile {
  const { rows, ...facts } = readFormat(bytes, maxQuestions)
  if (rows.length > maxQuestions) throw createFileError('file', 'tooManyRows', maxQuestions)
  const count = createTextBudget()
  return { ...facts, rows: rows.map((read) => countTexts(refuseBoundless(read), count)) }
}

function readFormat(bytes: Uint8Array, maxQuestions: number): QuestionFile {
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return { format: 'xlsx', ...readSheet(bytes) }
  const text = decodeText(bytes)
  const table = looksLikeTable(text) ? readTable(readCsv(text, maxQuestions)) : null
  return table ? { format: 'csv', ...table } : { format: 'gift', rows: readGift(text), unusedColumns: [] }
}

function readSheet(bytes: Uint8Array): Omit<QuestionFile, 'format'> {
  try {
    const read = readTable(readXlsx(bytes))
    if (read) return read
  } catch (error) {
    if (!(error instanceof UnreadableSheet)) throw error
    throw createFileError('file', 'notSheet')
  }
  throw createFileError('file', 'noText')
}

const firstLine = (text: string): string => text.replace(/^\u{feff}/u, '').split(/[\r\n]/, 1)[0] ?? ''

const DELIMITERS = [';', '\t', ',']
const delimiterOf = (line: string): string | undefined => DELIMITERS.find((sign) => line.includes(sign))

function looksLikeTable(text: string): boolean {
  const line = firstLine(text)
  const delimiter = delimiterOf(line)
  return delimiter !== undefined && !/[{}]|^::/.test(line) && areHeadings(line.split(delimiter, MAX_COLUMNS))
}

function readCsv(text: string, maxQuestions: number): TableRow[] {
  try {
    const found = parse(text.replaceAll('\0', ''), {
      bom: true,
      delimiter: delimiterOf(firstLine(text))!,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      to: maxQuestions + 2,
    }) as unknown as { record: string[]; info: { lines: number } }[]
    return found.map(({ record, info }) => ({ line: info.lines, cells: record.map(unescapeInnerFormulas) }))
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw createFileError('file', 'unreadable', typeof error.lines === 'number' ? error.lines : 0)
  }
}

/** Refuses a question that is far beyond the limits, before more expensive checks. */
function refuseBoundless(read: ParsedQuestion): ParsedQuestion {
  if ('refusal' in read) return { ...read, name: read.name.slice(0, MAX_SHOWN), refusal: read.refusal.slice(0, MAX_SHOWN) }
  const { line, losses, question } = read
  const name = question.name.slice(0, MAX_SHOWN)
  const texts = textsOf(question.answer)
  const length = texts.reduce((sum, text) => sum + text.length, question.text.length)
  const refuse = (refusal: string): ParsedQuestion => ({ line, losses: [], name: name || question.text.slice(0, 120), refusal })
  if (texts.length > MAX_ANSWERS) return refuse('It has too many answers.')
  if (length > MAX_CHARACTERS) return refuse('It is too long.')
  return { line, losses, question: { ...question, name, category: question.category.slice(0, MAX_SHOWN) } }
}

/** Categories count for each question, because a GIFT file can apply a long one to many questions. */
function countTexts(read: ParsedQuestion, count: (...texts: string[]) => void): ParsedQuestion {
  if ('refusal' in read) count(read.name, read.refusal)
  else count(read.question.name, read.question.category, read.question.text, ...textsOf(read.question.answer))
  return read
}

function textsOf(answer: NeutralAnswer): string[] {
  switch (answer.as) {
    case 'options':
      return answer.options.map(({ text }) => text)
    case 'words':
      return answer.accepted.map(({ text }) => text)
    case 'pairs':
      return answer.pairs.flat()
    case 'number':
      return answer.ranges.flatMap((range) => ('from' in range ? [range.from, range.to] : [range.value, range.tolerance ?? '']))
    case 'open':
      return []
  }
}
