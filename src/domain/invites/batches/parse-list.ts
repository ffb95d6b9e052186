import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { CsvError, parse } from 'csv-parse'
import { isEmailAddress } from '../../checking/email-address.ts'
import { type AccountProblem, DomainError } from '../../errors.ts'
import { MAX_BATCH_BYTES, MAX_BATCH_ROWS } from '../../limits.ts'

/** What a column may mean. */
export type Column = 'email' | 'name' | 'tags' | 'message' | 'days' | 'grader' | 'extraTime' | 'language'
/** One row as it was given; what is not in it is empty. */
export type ListRow = Record<Column, string>
export type List = { rows: ListRow[]; unusedColumns: string[] }

/** Headers by what they mean, in lower case and without anything but letters. */
const HEADERS: Record<Column, string[]> = {
  email: ['email', 'emailaddress', 'address', 'mail', 'recipient', 'recipientemail', 'candidateemail'],
  name: ['name', 'fullname', 'recipientname', 'candidate', 'candidatename'],
  tags: ['tags', 'tag', 'tagnames'],
  message: ['message', 'custommessage'],
  days: ['days', 'expires', 'expiresindays', 'expiresin', 'daysuntilitexpires'],
  grader: ['grader', 'graderemail', 'assignedgrader'],
  language: ['language', 'lang', 'locale'],
  extraTime: ['extratime', 'extratimepercent', 'extratimeinpercent'],
}
/** A spreadsheet writes whatever its country uses. */
const DELIMITERS = [',', ';', '\t']
/** Columns that are looked at; those beyond count for nothing, so that no list costs more for how wide it is. */
const MAX_COLUMNS = 1_000
const MAX_UNUSED_COLUMNS = 50
const MAX_HEADER_LENGTH = 100
const NOTHING: ListRow = { email: '', name: '', tags: '', message: '', days: '', grader: '', extraTime: '', language: '' }

/** Bytes that are read before others' requests get their turn. */
const SLICE_BYTES = 8 * 1024

/**
 * Reads a list of candidates: CSV (RFC 4180) with a header that names the columns, or without one, then an address and perhaps a name in
 * each row. Empty rows count for nothing. It is read in slices, so that nobody else waits for the whole of it.
 *
 * @throws DomainError invalid, at the field `list`: `empty`, `unreadable`, `noAddresses`, `tooManyRows`, `tooLarge`.
 */
export async function parseList(given: string): Promise<List> {
  const text = given.replaceAll('\0', '')
  const bytes = Buffer.from(text)
  if (bytes.length > MAX_BATCH_BYTES) throw refusal('tooLarge', MAX_BATCH_BYTES)
  let layout: Layout | undefined
  const rows: ListRow[] = []
  for await (const record of readRecords(bytes, delimiterOf(text))) {
    const isFirst = layout === undefined
    layout ??= layoutOf(record)
    if (!isFirst || !layout.hasHeader) rows.push(toRow(layout.columns, record))
    if (rows.length > MAX_BATCH_ROWS) throw refusal('tooManyRows', MAX_BATCH_ROWS)
  }
  if (!layout || rows.length === 0) throw refusal('empty')
  return { rows, unusedColumns: layout.unusedColumns }
}

async function* readRecords(bytes: Buffer, delimiter: string): AsyncGenerator<string[]> {
  const parser = parse({
    bom: true,
    delimiter,
    trim: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
  })
  try {
    yield* Readable.from(slicesOf(bytes)).pipe(parser)
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw refusal('unreadable', typeof error.lines === 'number' ? error.lines : 0)
  }
}

async function* slicesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let i = 0; i < bytes.length; i += SLICE_BYTES) {
    yield bytes.subarray(i, i + SLICE_BYTES)
    await setImmediate()
  }
}

function delimiterOf(text: string): string {
  const [line = ''] = text.split(/[\r\n]/, 1)
  return DELIMITERS.find((candidate) => line.includes(candidate)) ?? ','
}

/** What the columns of a list mean. */
type Layout = { hasHeader: boolean; columns: (Column | undefined)[]; unusedColumns: string[] }

/** @param first the list's first row. @throws DomainError invalid: `noAddresses`. */
function layoutOf(first: string[]): Layout {
  const headers = first.slice(0, MAX_COLUMNS)
  const columns = headers.map(meaningOf)
  if (columns.includes('email')) {
    const unused = headers.filter((header, i) => header !== '' && !columns[i]).map((header) => cut(header, MAX_HEADER_LENGTH))
    return { hasHeader: true, columns, unusedColumns: unused.slice(0, MAX_UNUSED_COLUMNS) }
  }
  if (!isEmailAddress(first[0]!)) throw refusal('noAddresses')
  return { hasHeader: false, columns: ['email', 'name'], unusedColumns: [] }
}

function meaningOf(header: string): Column | undefined {
  const word = cut(header, MAX_HEADER_LENGTH)
    .toLowerCase()
    .replace(/[^\p{L}]/gu, '')
  return (Object.keys(HEADERS) as Column[]).find((column) => HEADERS[column].includes(word))
}

/** Of two columns with one meaning the first counts. */
function toRow(columns: Layout['columns'], record: string[]): ListRow {
  const row = { ...NOTHING }
  for (const [i, column] of columns.entries()) if (column && row[column] === '') row[column] = record[i] ?? ''
  return row
}

/** The beginning of a text, as PostgreSQL takes it: without NUL, and without half of a character that is two (UTF-16). */
export const cut = (text: string, length: number): string => text.replaceAll('\0', '').slice(0, length).toWellFormed()

const refusal = (problem: AccountProblem, limit?: number): DomainError =>
  new DomainError('invalid', { issues: [{ field: 'list', rule: 'account', problem, ...(limit !== undefined && { limit }) }] })
