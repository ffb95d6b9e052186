import { CsvError } from 'csv-parse'
import { parse } from 'csv-parse/sync'
import { createTextBudget, refuseFile } from '../../domain/validation/uploaded-files.ts'
import { textOfFile } from '../../http/requests/text-of-file.ts'
import { unguardWithin } from '../../http/sending/csv.ts'
import type { NeutralAnswer, ReadQuestion } from '../neutral.ts'
import { readGift } from './gift.ts'
import { areHeadings, MAX_COLUMNS, readTable, type TableRow } from './table.ts'
import { readXlsx, UnreadableSheet } from './xlsx.ts'

/** What a file is read as. */
export type FileFormat = 'xlsx' | 'csv' | 'gift'
/** @property unusedColumns headings of a sheet's columns that nothing is read from. */
type QuestionFile = { format: FileFormat; rows: ReadQuestion[]; unusedColumns: string[] }

/** More than any question may have: beyond it the checks of a question would take long themselves. */
const MAX_CHARACTERS = 200_000
const MAX_ANSWERS = 200
/** Characters of what is only shown: it is cut to its own limit later. */
const MAX_SHOWN = 2_000

/**
 * The questions of a file, by its content: a package is a sheet; a text whose first line names a column `text` is CSV; any other is GIFT. Meant for a
 * process of its own: see uploads/read-upload.ts.
 *
 * @throws DomainError invalid, at `file`: `tooManyRows`, `tooMuchText`, `notSheet`, `noText`, `unreadable`.
 */
export function readFile(bytes: Uint8Array, maxQuestions: number): QuestionFile {
  const { rows, ...facts } = readFormat(bytes, maxQuestions)
  if (rows.length > maxQuestions) throw refuseFile('file', 'tooManyRows', maxQuestions)
  const count = createTextBudget()
  return { ...facts, rows: rows.map((read) => countTexts(refuseBoundless(read), count)) }
}

function readFormat(bytes: Uint8Array, maxQuestions: number): QuestionFile {
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return { format: 'xlsx', ...readSheet(bytes) }
  const text = textOfFile(bytes)
  const table = looksLikeTable(text) ? readTable(readCsv(text, maxQuestions)) : null
  return table ? { format: 'csv', ...table } : { format: 'gift', rows: readGift(text), unusedColumns: [] }
}

function readSheet(bytes: Uint8Array): Omit<QuestionFile, 'format'> {
  try {
    const read = readTable(readXlsx(bytes))
    if (read) return read
  } catch (error) {
    if (!(error instanceof UnreadableSheet)) throw error
    throw refuseFile('file', 'notSheet')
  }
  throw refuseFile('file', 'noText')
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
    return found.map(({ record, info }) => ({ line: info.lines, cells: record.map(unguardWithin) }))
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw refuseFile('file', 'unreadable', typeof error.lines === 'number' ? error.lines : 0)
  }
}

/** What is far beyond the limits of a question is refused here, before anything else looks at it. */
function refuseBoundless(read: ReadQuestion): ReadQuestion {
  if ('refusal' in read) return { ...read, name: read.name.slice(0, MAX_SHOWN), refusal: read.refusal.slice(0, MAX_SHOWN) }
  const { line, losses, question } = read
  const name = question.name.slice(0, MAX_SHOWN)
  const texts = textsOf(question.answer)
  const length = texts.reduce((sum, text) => sum + text.length, question.text.length)
  const refuse = (refusal: string): ReadQuestion => ({ line, losses: [], name: name || question.text.slice(0, 120), refusal })
  if (texts.length > MAX_ANSWERS) return refuse('It has more answers than a question can have.')
  if (length > MAX_CHARACTERS) return refuse('It is longer than a question can be.')
  return { line, losses, question: { ...question, name, category: question.category.slice(0, MAX_SHOWN) } }
}

/** GIFT repeats a category at each of its questions, however long it is. */
function countTexts(read: ReadQuestion, count: (...texts: string[]) => void): ReadQuestion {
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
