import { CsvError } from 'csv-parse'
import { parse } from 'csv-parse/sync'
import { DomainError } from '../../../domain/errors.ts'
import { type GivenQuestion, MAX_IMPORTED } from '../../../domain/library/imports.ts'
import { readGift } from '../../../kinds/formats/gift.ts'
import { readTable, type TableRow } from '../../../kinds/formats/table.ts'
import { readXlsx, UnreadableSheet } from '../../../kinds/formats/xlsx.ts'
import type { ReadQuestion } from '../../../kinds/neutral.ts'
import { takeQuestion } from '../../../kinds/take-question.ts'
import { decode } from '../kit/uploads.ts'

/** What a file is read as. */
type Format = 'xlsx' | 'csv' | 'gift'

/**
 * The questions of a file, by its content: a package is a sheet; a text whose first line names a column `text` is CSV; any other is GIFT.
 *
 * @throws DomainError invalid, at `file`, for what can't be read.
 */
export function readQuestionFile(bytes: Uint8Array): { format: Format; questions: GivenQuestion[] } {
  const { format, read } = readFormat(bytes)
  if (read.length > MAX_IMPORTED) throw refusal('tooManyRows', MAX_IMPORTED)
  return { format, questions: read.map(toGiven) }
}

function readFormat(bytes: Uint8Array): { format: Format; read: ReadQuestion[] } {
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return { format: 'xlsx', read: readSheet(bytes) }
  const text = decode(bytes)
  const rows = looksLikeTable(text) ? readCsv(text) : null
  const table = rows && readTable(rows)
  return table ? { format: 'csv', read: table } : { format: 'gift', read: readGift(text) }
}

function readSheet(bytes: Uint8Array): ReadQuestion[] {
  try {
    const read = readTable(readXlsx(bytes))
    if (read) return read
  } catch (error) {
    if (!(error instanceof UnreadableSheet)) throw error
    throw refusal('notSheet')
  }
  throw refusal('noText')
}

const firstLine = (text: string): string => text.replace(/^\u{feff}/u, '').split(/[\r\n]/, 1)[0] ?? ''

const looksLikeTable = (text: string): boolean =>
  /[,;\t]/.test(firstLine(text)) && /\b(text|question)/i.test(firstLine(text)) && !/[{}]|^::/.test(firstLine(text))

function readCsv(text: string): TableRow[] {
  const delimiter = [';', '\t', ','].find((sign) => firstLine(text).includes(sign))!
  try {
    const found = parse(text.replaceAll('\0', ''), {
      bom: true,
      delimiter,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      to: MAX_IMPORTED + 2,
    }) as unknown as { record: string[]; info: { lines: number } }[]
    return found.map(({ record, info }) => ({ line: info.lines, cells: record }))
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw refusal('unreadable', typeof error.lines === 'number' ? error.lines : 0)
  }
}

function toGiven(read: ReadQuestion): GivenQuestion {
  const taken = takeQuestion(read)
  const { line, name, category } = taken
  if ('refusal' in taken) return { line, name, category, notes: [taken.refusal], content: null }
  return { line, name, category, notes: taken.losses, content: taken.content }
}

const refusal = (problem: 'tooManyRows' | 'notSheet' | 'noText' | 'unreadable', limit?: number): DomainError =>
  new DomainError('invalid', { issues: [{ field: 'file', rule: 'account', problem, ...(limit !== undefined && { limit }) }] })
