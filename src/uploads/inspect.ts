import { truncateText } from '../domain/validation/uploaded-files.ts'
import { isQuestionMeaning } from '../kinds/file-formats/columns.ts'
import type { FileFacts } from '../tables/read-table.ts'
import type { TableRow } from '../tables/table.ts'
import { CANDIDATE_MEANINGS } from './candidate-columns.ts'

// Preview of a file for the person who confirms its columns: the columns with their meanings, and the rows that result.

/** @property word remembered form of the heading; empty for none. @property doubt a sentence; null if the meaning is certain. */
export type InspectedColumn = {
  heading: string
  word: string
  samples: string[]
  meaning: string
  doubt: string | null
  isRemembered: boolean
}
/** @property details labels and values besides the title. @property problem why it is left out; null if it is imported. */
export type InspectedRow = {
  line: number
  title: string
  options: { text: string; isRight: boolean }[]
  details: [label: string, value: string][]
  problem: string | null
}
/** @property isTable false for formats without columns. @property heads first lines that may be the headings. @property ambiguous see QuestionTable. */
export type Inspection = {
  format: string
  facts: FileFacts
  isTable: boolean
  headingLine: number
  heads: { line: number; text: string }[]
  columns: InspectedColumn[]
  taken: number
  leftOut: number
  nameless: number
  ambiguous: number
  rows: InspectedRow[]
  leftOutRows: InspectedRow[]
}

const SAMPLES = 5
const MAX_SAMPLE_LENGTH = 120
const MAX_SHOWN_ROWS = 8
const MAX_LEFT_OUT_ROWS = 50
const MAX_HEADS = 10

/** The text in one line of at most 120 characters. */
export const short = (text: string): string => truncateText(text.trim().replace(/\s+/g, ' '), MAX_SAMPLE_LENGTH)

type Plan = { head: number; meanings: string[]; doubts: Record<number, string> }

/** Columns with samples and meanings, and the first lines, which may be the headings. */
export function describeTable(
  rows: TableRow[],
  plan: Plan,
  remembered: Record<string, string>,
  wordOf: (heading: string) => string,
) {
  const headings = plan.head < 0 ? [] : rows[plan.head]!.cells
  const values = rows.slice(plan.head + 1)
  const width = Math.max(headings.length, ...values.slice(0, 1_000).map(({ cells }) => cells.length))
  const columns = Array.from({ length: width }, (_, i): InspectedColumn => {
    const word = wordOf(headings[i] ?? '')
    const samples = values.slice(0, SAMPLES).map(({ cells }) => short(cells[i] ?? ''))
    const meaning = plan.meanings[i] ?? ''
    const isRemembered = word !== '' && Object.hasOwn(remembered, word)
    return { heading: short(headings[i] ?? ''), word, samples, meaning, doubt: plan.doubts[i] ?? null, isRemembered }
  })
  const heads = rows.slice(0, MAX_HEADS).map(({ line, cells }) => ({ line, text: short(cells.filter(Boolean).join(' · ')) }))
  return { columns, heads, headingLine: plan.head < 0 ? 0 : rows[plan.head]!.line }
}

/** Counts of the rows, and the first of them. */
export function summarize(rows: InspectedRow[]): Pick<Inspection, 'taken' | 'leftOut' | 'rows' | 'leftOutRows'> {
  const leftOut = rows.filter(({ problem }) => problem !== null)
  return {
    taken: rows.length - leftOut.length,
    leftOut: leftOut.length,
    rows: rows.slice(0, MAX_SHOWN_ROWS),
    leftOutRows: leftOut.slice(0, MAX_LEFT_OUT_ROWS),
  }
}

/** Meanings of columns that are valid for the kind of file. */
export const isMeaningOf = (kind: 'questions' | 'candidates', meaning: string): boolean =>
  meaning === '' || (kind === 'questions' ? isQuestionMeaning(meaning) : (CANDIDATE_MEANINGS as string[]).includes(meaning))
