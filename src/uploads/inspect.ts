import { isEmailAddress } from '../domain/validation/email-address.ts'
import { truncateText } from '../domain/validation/uploaded-files.ts'
import { headingWord, isQuestionMeaning } from '../kinds/file-formats/columns.ts'
import { type QuestionChoices, readFile } from '../kinds/file-formats/read-file.ts'
import { importQuestion } from '../kinds/library-questions.ts'
import type { NeutralAnswer, ParsedQuestion } from '../kinds/neutral.ts'
import type { FileFacts } from '../tables/read-table.ts'
import type { TableRow } from '../tables/table.ts'
import { CANDIDATE_MEANINGS, candidateHeadingWord } from './candidate-columns.ts'
import { type CandidateChoices, parseCandidateList } from './candidate-list.ts'

// Preview of a file for the person who confirms its columns: the columns with their meanings, and the rows that result.

/** @property word heading as it is remembered; empty for none. @property doubt a sentence; null if the meaning is sure. */
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

const short = (text: string): string => truncateText(text.trim().replace(/\s+/g, ' '), MAX_SAMPLE_LENGTH)

type Plan = { head: number; meanings: string[]; doubts: Record<number, string> }

function describeTable(rows: TableRow[], plan: Plan, remembered: Record<string, string>, wordOf: (heading: string) => string) {
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

function summarize(rows: InspectedRow[]): Pick<Inspection, 'taken' | 'leftOut' | 'rows' | 'leftOutRows'> {
  const leftOut = rows.filter(({ problem }) => problem !== null)
  return {
    taken: rows.length - leftOut.length,
    leftOut: leftOut.length,
    rows: rows.slice(0, MAX_SHOWN_ROWS),
    leftOutRows: leftOut.slice(0, MAX_LEFT_OUT_ROWS),
  }
}

/** @throws DomainError as readFile. */
export function inspectQuestions(bytes: Uint8Array, maxRows: number, choices: QuestionChoices): Inspection {
  const { rows, facts, format, table, ambiguous } = readFile(bytes, maxRows, { ...choices, isInspection: true })
  const columns = table
    ? describeTable(table.rows, table.plan, choices.remembered ?? {}, headingWord)
    : { columns: [], heads: [], headingLine: 0 }
  return { format, facts, isTable: table !== null, ...columns, ...summarize(rows.map(toQuestionRow)), nameless: 0, ambiguous }
}

function toQuestionRow(read: ParsedQuestion): InspectedRow {
  const imported = importQuestion(read)
  const { line } = read
  if (!('question' in read)) return { line, title: short(read.name), options: [], details: [], problem: read.refusal }
  const { text, points, category, answer } = read.question
  const details: [string, string][] = [
    ...describeAnswer(answer),
    ...(points === null ? [] : [['Points', String(points)] as [string, string]]),
    ...(category === '' ? [] : [['Category', category] as [string, string]]),
    ...imported.losses.map((loss): [string, string] => ['Note', loss]),
  ]
  const options =
    answer.as === 'options' ? answer.options.map((option) => ({ text: short(option.text), isRight: option.share > 0 })) : []
  return { line, title: short(text), options, details, problem: 'refusal' in imported ? imported.refusal : null }
}

function describeAnswer(answer: NeutralAnswer): [string, string][] {
  if (answer.as === 'open') return [['Answer', answer.responseType]]
  switch (answer.as) {
    case 'options':
      return [['Answer', answer.several ? 'several options' : 'one option']]
    case 'words':
      return [['Short text', answer.accepted.map(({ text }) => short(text)).join('; ')]]
    case 'number':
      return [
        [
          'Number',
          answer.ranges
            .map((range) =>
              'from' in range
                ? `${range.from} to ${range.to}`
                : `${range.value}${range.tolerance ? ` ± ${range.tolerance}` : ''}`,
            )
            .join('; '),
        ],
      ]
    case 'order':
      return [['Order', answer.items.map(short).join('; ')]]
    case 'pairs':
      return [['Matching', answer.pairs.map((pair) => pair.map(short).join(' → ')).join('; ')]]
  }
}

/** @throws DomainError as parseCandidateList. */
export function inspectCandidates(bytes: Uint8Array, maxRows: number, choices: CandidateChoices): Inspection {
  const { rows, lines, facts, table } = parseCandidateList(bytes, maxRows, { ...choices, isInspection: true })
  const seen = new Map<string, number>()
  const inspected = rows.map((row, i): InspectedRow => {
    const line = lines[i]!
    const address = row.email.toLowerCase()
    const first = seen.get(address)
    if (first === undefined && address !== '') seen.set(address, line)
    const { email, name, fault, ...others } = row
    const details = Object.entries(others).flatMap(([label, value]): [string, string][] =>
      value === '' ? [] : [[label, short(value)]],
    )
    return {
      line,
      title: short(name),
      options: [],
      details: [['email', short(email)], ...details],
      problem: findProblem(row, first),
    }
  })
  const nameless = inspected.filter(({ title, problem }) => title === '' && problem === null).length
  return {
    format: facts.format,
    facts,
    isTable: true,
    ...describeTable(table.rows, table.plan, choices.remembered ?? {}, candidateHeadingWord),
    ...summarize(inspected),
    nameless,
    ambiguous: 0,
  }
}

function findProblem({ email, fault }: { email: string; fault?: { problem: string } }, first: number | undefined): string | null {
  if (fault?.problem === 'strayQuote') return 'A quotation mark stands alone in this line.'
  if (fault) return 'A cell shows an error, or a formula without a stored result.'
  if (email === '') return 'It has no email address.'
  if (!isEmailAddress(email)) return 'Not an email address.'
  return first === undefined ? null : `Same address as row ${first}.`
}

/** Meanings of columns that are valid for the kind of file. */
export const isMeaningOf = (kind: 'questions' | 'candidates', meaning: string): boolean =>
  meaning === '' || (kind === 'questions' ? isQuestionMeaning(meaning) : (CANDIDATE_MEANINGS as string[]).includes(meaning))
