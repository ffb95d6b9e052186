import type { ListRow } from '../domain/invites/batches/check-rows.ts'
import { MAX_BATCH_BYTES, MAX_LIST_CELL_LENGTH } from '../domain/limits.ts'
import { createFileError, truncateText } from '../domain/validation/uploaded-files.ts'
import { type FileFacts, openFile, type ReadChoices, readRows } from '../tables/read-table.ts'
import { findRepeated, type TableRow } from '../tables/table.ts'
import { UnreadableFile } from '../tables/unreadable-file.ts'
import { CANDIDATE_MEANINGS, type CandidateMeaning, type CandidatePlan, planCandidates } from './candidate-columns.ts'

/** As for questions, see kinds/file-formats/read-file.ts. */
export type CandidateChoices = ReadChoices & {
  columns?: string[] | undefined
  headingLine?: number | undefined
  remembered?: Record<string, string> | undefined
  isInspection?: boolean
}

/** @property lines line of the file, by row. */
export type CandidateList = {
  rows: ListRow[]
  lines: number[]
  unusedColumns: string[]
  facts: FileFacts
  table: { rows: TableRow[]; plan: CandidatePlan }
}

/** Rows that may stand above the headings. */
const MAX_ROWS_ABOVE = 10
const MAX_UNUSED_COLUMNS = 50
const MAX_HEADER_LENGTH = 100
const EMPTY_ROW: ListRow = { email: '', name: '', tags: '', message: '', days: '', grader: '', extraTime: '', language: '' }

/**
 * Reads a list of candidates from CSV or XLSX, with headings, or without them and with an address in each row. Empty rows are skipped.
 *
 * @throws DomainError invalid, at the field `list`: `empty`, `noAddresses`, `tooManyRows`, `tooLarge`, or why the file is refused.
 */
export function parseCandidateList(bytes: Uint8Array, maxRows: number, choices: CandidateChoices = {}): CandidateList {
  try {
    return parse(bytes, maxRows, choices)
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error
    throw createFileError('list', error.problem, error.limit)
  }
}

function parse(bytes: Uint8Array, maxRows: number, choices: CandidateChoices): CandidateList {
  if (bytes.length > MAX_BATCH_BYTES) throw new UnreadableFile('tooLarge', MAX_BATCH_BYTES)
  const opened = openFile(bytes, maxRows + MAX_ROWS_ABOVE, choices)
  if (opened.facts.isEncodingDoubtful && !choices.isInspection) throw new UnreadableFile('doubtfulEncoding')
  if ('text' in opened && Buffer.byteLength(opened.text) > MAX_BATCH_BYTES) throw new UnreadableFile('tooLarge', MAX_BATCH_BYTES)
  const { rows: allRows, facts } = readRows(opened, { maxRows: maxRows + MAX_ROWS_ABOVE, delimiter: choices.delimiter })
  if (allRows.length === 0) throw new UnreadableFile('empty')
  const plan = planOf(allRows, choices)
  const isDoubtful = !choices.columns && plan.doubts[plan.meanings.indexOf('email')] !== undefined
  if ((!plan.meanings.includes('email') || isDoubtful) && !choices.isInspection) throw new UnreadableFile('noAddresses')
  const rows = allRows.slice(plan.head + 1)
  if (rows.length === 0) throw new UnreadableFile('empty')
  if (rows.length > maxRows) throw new UnreadableFile('tooManyRows', maxRows)
  const headings = plan.head < 0 ? [] : allRows[plan.head]!.cells
  return {
    rows: rows.map((row) => toRow(plan.meanings, row)),
    lines: rows.map(({ line }) => line),
    unusedColumns: findUnused(headings, plan.meanings),
    facts,
    table: { rows: allRows, plan },
  }
}

function planOf(rows: TableRow[], { columns, headingLine, remembered }: CandidateChoices): CandidatePlan {
  const head = headingLine === undefined ? undefined : rows.findIndex(({ line }) => line === headingLine)
  const plan = planCandidates(rows, { ...(remembered && { remembered }), ...(head !== undefined && { head }) })
  return columns ? { ...plan, meanings: columns, doubts: findRepeated(columns, () => false) } : plan
}

const findUnused = (headings: string[], meanings: string[]): string[] =>
  headings
    .filter((heading, i) => heading.trim() !== '' && (meanings[i] ?? '') === '')
    .map((heading) => truncateText(heading.trim(), MAX_HEADER_LENGTH))
    .slice(0, MAX_UNUSED_COLUMNS)

const isMeaning = (meaning: string): meaning is CandidateMeaning => (CANDIDATE_MEANINGS as string[]).includes(meaning)

/** The first of several columns with the same meaning wins. */
function toRow(meanings: string[], { line, cells, numbers, faults }: TableRow): ListRow {
  const found: Record<CandidateMeaning, string> = { ...EMPTY_ROW, firstName: '', lastName: '' }
  for (const [i, meaning] of meanings.entries()) {
    if (!isMeaning(meaning) || found[meaning] !== '') continue
    const isNumber = meaning === 'days'
    found[meaning] = truncateText(((isNumber && numbers?.[i]) || (cells[i] ?? '')).trim(), MAX_LIST_CELL_LENGTH + 1)
  }
  const { firstName, lastName, ...row } = found
  const name = truncateText(joinName(row.name, firstName, lastName), MAX_LIST_CELL_LENGTH + 1)
  const fault = faults?.find(({ column }) => column === null || (meanings[column] ?? '') !== '')
  const problem = fault && (fault.column === null ? ('strayQuote' as const) : ('unreadableCell' as const))
  return { ...row, name, ...(problem && { fault: { problem, line } }) }
}

/** A column that is called “Name” beside first names alone has last names. */
function joinName(name: string, firstName: string, lastName: string): string {
  if (name !== '' && (lastName !== '' || name.includes(firstName))) return name
  return [firstName, lastName || name].filter((part) => part !== '').join(' ')
}
