import { createFileError, createTextBudget } from '../../domain/validation/uploaded-files.ts'
import { unescapeInnerFormulas } from '../../http/sending/csv.ts'
import { type FileFacts, type OpenedFile, openFile, type ReadChoices, readRows } from '../../tables/read-table.ts'
import { findRepeated, type TableRow } from '../../tables/table.ts'
import { UnreadableFile } from '../../tables/unreadable-file.ts'
import { MAX_ANSWERS, type NeutralAnswer, type ParsedQuestion } from '../neutral.ts'
import { looksLikeAiken, readAiken } from './aiken.ts'
import { areHeadings, type ColumnPlan, planColumns } from './columns.ts'
import { looksLikeGift, readGift } from './gift.ts'
import { readMoodleXml } from './moodle-xml.ts'
import { readQtiItem, readQtiPackage } from './qti.ts'
import { readTable } from './table.ts'

/** Formats that are written. */
export type FileFormat = 'xlsx' | 'csv' | 'gift' | 'moodle'

/**
 * @property columns meanings by column, as a person confirmed them. @property headingLine line of the headings; 0 for none.
 * @property remembered meanings that people chose for other files, by heading word.
 * @property isInspection true to get a table whose columns nobody has confirmed, even without one for the text.
 */
export type QuestionChoices = ReadChoices & {
  isInspection?: boolean
  columns?: string[] | undefined
  headingLine?: number | undefined
  remembered?: Record<string, string> | undefined
}

/**
 * @property unusedColumns headings of the columns that were ignored. @property table the rows and meanings of a spreadsheet; null for other formats.
 * @property ambiguous rows whose right answer names several options.
 */
export type QuestionFile = {
  format: string
  rows: ParsedQuestion[]
  unusedColumns: string[]
  facts: FileFacts
  table: { rows: TableRow[]; plan: ColumnPlan } | null
  ambiguous: number
}

/** More than any question may have. Bounds the time of the later checks. */
const MAX_CHARACTERS = 200_000
/** Characters of names, categories, and refusals. Their own, lower limits are applied later. */
const MAX_SHOWN = 2_000

/**
 * Reads questions from a file, by its content: XLSX, CSV with a heading for the text, GIFT, Aiken, Moodle XML, or QTI 2. Runs in a process of its own, see
 * uploads/read-upload.ts.
 *
 * @throws DomainError invalid, at `file`: `tooManyRows`, `tooMuchText`, `noText`, or why the file is refused.
 */
export function readFile(bytes: Uint8Array, maxQuestions: number, choices: QuestionChoices = {}): QuestionFile {
  try {
    const file = readFormat(bytes, maxQuestions, choices)
    if (file.rows.length > maxQuestions) throw createFileError('file', 'tooManyRows', maxQuestions)
    const count = createTextBudget()
    return { ...file, rows: file.rows.map((parsed) => countTexts(rejectTooLong(parsed), count)) }
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error
    throw createFileError('file', error.problem, error.limit)
  }
}

function readFormat(bytes: Uint8Array, maxRows: number, choices: QuestionChoices): QuestionFile {
  const maxTableRows = maxRows + MAX_ROWS_ABOVE
  const opened = openFile(bytes, maxTableRows, choices)
  if (opened.facts.isEncodingDoubtful && !choices.isInspection) throw new UnreadableFile('doubtfulEncoding')
  const withoutColumns = readWithoutColumns(opened, maxRows, choices)
  if (withoutColumns) return { ...withoutColumns, unusedColumns: [], facts: opened.facts, table: null, ambiguous: 0 }
  const { rows: allRows, facts } = readRows(opened, { maxRows: maxTableRows, delimiter: choices.delimiter })
  if (allRows.length === 0) throw new UnreadableFile('empty')
  const rows = facts.format === 'csv' ? allRows.map((row) => ({ ...row, cells: row.cells.map(unescapeInnerFormulas) })) : allRows
  const plan = planOf(rows, choices)
  const table = readTable(rows, plan)
  if (!table && facts.format === 'csv' && facts.delimiter === null) throw new UnreadableFile('otherFormat')
  const { rows: questions = [], unusedColumns = [], ambiguous = 0 } = table ?? {}
  if (!table && !choices.isInspection) throw new UnreadableFile('noText')
  return { format: facts.format, rows: questions, unusedColumns, facts, table: { rows, plan }, ambiguous }
}

/** @returns null for a table. */
function readWithoutColumns(
  opened: OpenedFile,
  maxRows: number,
  { columns }: QuestionChoices,
): Pick<QuestionFile, 'format' | 'rows'> | null {
  if ('qti' in opened) return { format: 'qti', rows: readQtiPackage(opened.qti, maxRows) }
  if ('rows' in opened) return null
  if (opened.facts.format === 'moodleXml') return { format: 'moodleXml', rows: readMoodleXml(opened.text, maxRows) }
  if (opened.facts.format === 'qti') return { format: 'qti', rows: readQtiItem(opened.text) }
  return columns ? null : readQuestionText(opened.text)
}

/** @returns null for a table. */
function readQuestionText(text: string): Pick<QuestionFile, 'format' | 'rows'> | null {
  if (text.trim() === '') throw new UnreadableFile('empty')
  if (startsAsTable(text)) return null
  if (looksLikeAiken(text)) return { format: 'aiken', rows: readAiken(text) }
  return looksLikeGift(text) ? { format: 'gift', rows: readGift(text) } : null
}

/** Rows that may stand above the headings. */
const MAX_ROWS_ABOVE = 10

/** True if one of the first lines has headings of a sheet: its texts may have braces. */
function startsAsTable(text: string): boolean {
  const lines = text.slice(0, 20_000).split(/\r\n|\r|\n/, MAX_ROWS_ABOVE)
  return lines.some(
    (line) =>
      !/[{}]|^\s*(::|\/\/)/.test(line) && ['\t', ';', ',', '|'].some((sign) => areHeadings(line.split(sign).map(unquote))),
  )
}

const unquote = (cell: string): string => cell.trim().replace(/^"(.*)"$/, '$1')

function planOf(rows: TableRow[], { columns, headingLine, remembered }: QuestionChoices): ColumnPlan {
  const head = headingLine === undefined ? undefined : rows.findIndex(({ line }) => line === headingLine)
  const plan = planColumns(rows, { ...(remembered && { remembered }), ...(head !== undefined && { head }) })
  return columns
    ? { ...plan, meanings: columns, doubts: findRepeated(columns, (meaning) => /^(right|wrong)/.test(meaning)) }
    : plan
}

/** Refuses a question that is far beyond the limits, before more expensive checks. */
function rejectTooLong(parsed: ParsedQuestion): ParsedQuestion {
  if ('refusal' in parsed)
    return { ...parsed, name: parsed.name.slice(0, MAX_SHOWN), refusal: parsed.refusal.slice(0, MAX_SHOWN) }
  const { line, losses, question } = parsed
  const name = question.name.slice(0, MAX_SHOWN)
  const texts = textsOf(question.answer)
  const length = texts.reduce((sum, text) => sum + text.length, question.text.length)
  const refuse = (refusal: string): ParsedQuestion => ({ line, losses: [], name: name || question.text.slice(0, 120), refusal })
  if (texts.length > MAX_ANSWERS) return refuse('It has too many answers.')
  if (length > MAX_CHARACTERS) return refuse('It is too long.')
  return { line, losses, question: { ...question, name, category: question.category.slice(0, MAX_SHOWN) } }
}

/** Categories count for each question, because a GIFT file can apply a long one to many questions. */
function countTexts(parsed: ParsedQuestion, count: (...texts: string[]) => void): ParsedQuestion {
  if ('refusal' in parsed) count(parsed.name, parsed.refusal)
  else count(parsed.question.name, parsed.question.category, parsed.question.text, ...textsOf(parsed.question.answer))
  return parsed
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
    case 'order':
      return answer.items
    case 'open':
      return []
  }
}
