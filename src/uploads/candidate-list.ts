import { CsvError } from 'csv-parse'
import { parse } from 'csv-parse/sync'
import type { ListColumn, ListRow } from '../domain/invites/batches/check-rows.ts'
import { MAX_BATCH_BYTES, MAX_LIST_CELL_LENGTH } from '../domain/limits.ts'
import { isEmailAddress } from '../domain/validation/email-address.ts'
import { createFileError, truncateText } from '../domain/validation/uploaded-files.ts'
import { decodeText } from '../http/requests/decode-text.ts'

export type CandidateList = { rows: ListRow[]; unusedColumns: string[] }

/** Columns of a file. Those of first and last names become the name. */
type FileColumn = ListColumn | 'firstName' | 'lastName'

/** Headers by what they mean, in lower case and without anything but letters. */
const HEADERS: Record<FileColumn, string[]> = {
  email: [
    ...['email', 'emailaddress', 'address', 'mail', 'recipient', 'recipientemail', 'candidateemail'],
    ...['mailadresse', 'emailadresse', 'courriel', 'adressemail', 'correo', 'correoelectrónico', 'endereçodeemail'],
  ],
  firstName: ['firstname', 'givenname', 'forename', 'vorname', 'prénom', 'prenom', 'nombre', 'nombres', 'nome'],
  lastName: [
    ...['lastname', 'familyname', 'surname', 'nachname', 'familienname', 'nom', 'nomdefamille'],
    ...['apellido', 'apellidos', 'sobrenome'],
  ],
  name: ['name', 'fullname', 'recipientname', 'candidate', 'candidatename'],
  tags: ['tags', 'tag', 'tagnames'],
  message: ['message', 'custommessage'],
  days: ['days', 'expires', 'expiresindays', 'expiresin', 'daysuntilitexpires'],
  grader: ['grader', 'graderemail', 'assignedgrader'],
  language: ['language', 'lang', 'locale'],
  extraTime: ['extratime', 'extratimepercent', 'extratimeinpercent'],
}
/** Spreadsheets use the delimiter of their locale. */
const DELIMITERS = [',', ';', '\t']
/** Further columns are ignored, to limit the cost of wide files. */
const MAX_COLUMNS = 1_000
const MAX_UNUSED_COLUMNS = 50
const MAX_HEADER_LENGTH = 100
const EMPTY_ROW: ListRow = { email: '', name: '', tags: '', message: '', days: '', grader: '', extraTime: '', language: '' }

/**
 * Parses a list of candidates: CSV (RFC 4180) with a header, or without one and with the address and an optional name in each row. Empty rows are
 * skipped.
 *
 * @throws DomainError invalid, at the field `list`: `empty`, `unreadable`, `noAddresses`, `tooManyRows`, `tooLarge`.
 */
export function parseCandidateList(bytes: Uint8Array, maxRows: number): CandidateList {
  const text = decodeText(bytes).replaceAll('\0', '')
  if (Buffer.byteLength(text) > MAX_BATCH_BYTES) throw createFileError('list', 'tooLarge', MAX_BATCH_BYTES)
  const [first, ...others] = parseCsv(text, maxRows)
  if (!first) throw createFileError('list', 'empty')
  const { hasHeader, columns, unusedColumns } = readLayout(first)
  const rows = (hasHeader ? others : [first, ...others]).map((record) => toRow(columns, record))
  if (rows.length === 0) throw createFileError('list', 'empty')
  if (rows.length > maxRows) throw createFileError('list', 'tooManyRows', maxRows)
  return { rows, unusedColumns }
}

function parseCsv(text: string, maxRows: number): string[][] {
  try {
    return parse(text, {
      bom: true,
      delimiter: delimiterOf(text),
      trim: true,
      relax_column_count: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
      to: maxRows + 2, // the header, and one more to detect the excess
      on_record: (record: string[]) => record.slice(0, MAX_COLUMNS),
    })
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw createFileError('list', 'unreadable', typeof error.lines === 'number' ? error.lines : 0)
  }
}

function delimiterOf(text: string): string {
  const [line = ''] = text.split(/[\r\n]/, 1)
  return DELIMITERS.find((candidate) => line.includes(candidate)) ?? ','
}

type Layout = { hasHeader: boolean; columns: (FileColumn | undefined)[]; unusedColumns: string[] }

/** @param first the first row. @throws DomainError invalid: `noAddresses`. */
function readLayout(first: string[]): Layout {
  const columns = first.map(columnOf)
  if (columns.includes('email')) {
    const unused = first
      .filter((header, i) => header !== '' && !columns[i])
      .map((header) => truncateText(header, MAX_HEADER_LENGTH))
    return { hasHeader: true, columns, unusedColumns: unused.slice(0, MAX_UNUSED_COLUMNS) }
  }
  if (!isEmailAddress(first[0]!)) throw createFileError('list', 'noAddresses')
  return { hasHeader: false, columns: ['email', 'name'], unusedColumns: [] }
}

function columnOf(header: string): FileColumn | undefined {
  const word = truncateText(header, MAX_HEADER_LENGTH)
    .toLowerCase()
    .replace(/[^\p{L}]/gu, '')
  return (Object.keys(HEADERS) as FileColumn[]).find((column) => HEADERS[column].includes(word))
}

/** The first of several columns with the same meaning wins. */
function toRow(columns: Layout['columns'], record: string[]): ListRow {
  const found: Record<FileColumn, string> = { ...EMPTY_ROW, firstName: '', lastName: '' }
  for (const [i, cell] of record.entries()) {
    const column = columns[i]
    if (column && found[column] === '') found[column] = truncateText(cell, MAX_LIST_CELL_LENGTH + 1)
  }
  const { firstName, lastName, ...row } = found
  return { ...row, name: truncateText(joinName(row.name, firstName, lastName), MAX_LIST_CELL_LENGTH + 1) }
}

/** A column that is called “Name” beside first names alone has last names. */
function joinName(name: string, firstName: string, lastName: string): string {
  if (name !== '' && (lastName !== '' || name.includes(firstName))) return name
  return [firstName, lastName || name].filter((part) => part !== '').join(' ')
}
