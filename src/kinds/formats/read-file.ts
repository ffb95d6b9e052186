import { CsvError } from 'csv-parse'
import { parse } from 'csv-parse/sync'
import { textOfFile } from '../../http/requests/text-of-file.ts'
import { unguardWithin } from '../../http/sending/csv.ts'
import type { NeutralAnswer, ReadQuestion } from '../neutral.ts'
import { readGift } from './gift.ts'
import { readTable, type TableRow } from './table.ts'
import { readXlsx, UnreadableSheet } from './xlsx.ts'

/** What a file is read as. */
export type FileFormat = 'xlsx' | 'csv' | 'gift'
export type FileProblem = 'tooManyRows' | 'notSheet' | 'noText' | 'unreadable'

/** Nothing of the file can be read. @property limit the rows there may be, or the line that is unreadable. */
export class UnreadableFile extends Error {
  readonly problem: FileProblem
  readonly limit: number | undefined

  constructor(problem: FileProblem, limit?: number) {
    super(problem)
    this.problem = problem
    this.limit = limit
  }
}

/** More than any question may have: beyond it the checks of a question would take long themselves. */
const MAX_CHARACTERS = 200_000
const MAX_ANSWERS = 200
/** Characters of what is only shown: it is cut to its own limit later. */
const MAX_SHOWN = 2_000

/**
 * The questions of a file, by its content: a package is a sheet; a text whose first line names a column `text` is CSV; any other is GIFT. Meant for a
 * process of its own: see `read-limited.ts`.
 *
 * @throws UnreadableFile.
 */
export function readFile(bytes: Uint8Array, mostQuestions: number): { format: FileFormat; read: ReadQuestion[] } {
  const { format, read } = readFormat(bytes, mostQuestions)
  if (read.length > mostQuestions) throw new UnreadableFile('tooManyRows', mostQuestions)
  return { format, read: read.map(refuseBoundless) }
}

function readFormat(bytes: Uint8Array, mostQuestions: number): { format: FileFormat; read: ReadQuestion[] } {
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return { format: 'xlsx', read: readSheet(bytes) }
  const text = textOfFile(bytes)
  const rows = looksLikeTable(text) ? readCsv(text, mostQuestions) : null
  const table = rows && readTable(rows)
  return table ? { format: 'csv', read: table } : { format: 'gift', read: readGift(text) }
}

function readSheet(bytes: Uint8Array): ReadQuestion[] {
  try {
    const read = readTable(readXlsx(bytes))
    if (read) return read
  } catch (error) {
    if (!(error instanceof UnreadableSheet)) throw error
    throw new UnreadableFile('notSheet')
  }
  throw new UnreadableFile('noText')
}

const firstLine = (text: string): string => text.replace(/^\u{feff}/u, '').split(/[\r\n]/, 1)[0] ?? ''

function looksLikeTable(text: string): boolean {
  const line = firstLine(text)
  return /[,;\t]/.test(line) && /\b(text|question)/i.test(line) && !/[{}]|^::/.test(line)
}

function readCsv(text: string, mostQuestions: number): TableRow[] {
  const delimiter = [';', '\t', ','].find((sign) => firstLine(text).includes(sign))!
  try {
    const found = parse(text.replaceAll('\0', ''), {
      bom: true,
      delimiter,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      to: mostQuestions + 2,
    }) as unknown as { record: string[]; info: { lines: number } }[]
    return found.map(({ record, info }) => ({ line: info.lines, cells: record.map(unguardWithin) }))
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw new UnreadableFile('unreadable', typeof error.lines === 'number' ? error.lines : 0)
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
