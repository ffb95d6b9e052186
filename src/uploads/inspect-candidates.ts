import { isEmailAddress } from '../domain/validation/email-address.ts'
import { candidateHeadingWord } from './candidate-columns.ts'
import { type CandidateChoices, parseCandidateList } from './candidate-list.ts'
import { describeTable, type InspectedRow, type Inspection, short, summarize } from './inspect.ts'

/** @throws DomainError as parseCandidateList. */
export function inspectCandidates(bytes: Uint8Array, maxRows: number, choices: CandidateChoices): Inspection {
  const { rows, lines, facts, table } = parseCandidateList(bytes, maxRows, { ...choices, isInspection: true })
  const firstLines = new Map<string, number>()
  const inspected = rows.map((row, i): InspectedRow => {
    const line = lines[i]!
    const address = row.email.toLowerCase()
    const first = firstLines.get(address)
    if (first === undefined && address !== '') firstLines.set(address, line)
    const { email, name, fault, ...otherCells } = row
    const details = Object.entries(otherCells).flatMap(([label, value]): [string, string][] =>
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
