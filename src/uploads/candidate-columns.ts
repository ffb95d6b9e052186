import type { ListColumn } from '../domain/invites/batches/check-rows.ts'
import { isEmailAddress } from '../domain/validation/email-address.ts'
import { MAX_COLUMNS, type TableRow } from '../tables/table.ts'

// Meanings of the columns of a list of candidates, by heading, and checked by values.

/** Meanings of columns. Those of first and last names become the name. An empty meaning: the column is not used. */
export type CandidateMeaning = ListColumn | 'firstName' | 'lastName'
export const CANDIDATE_MEANINGS: CandidateMeaning[] = [
  ...(['email', 'name', 'firstName', 'lastName', 'tags', 'message', 'days', 'grader', 'language', 'extraTime'] as const),
]

/**
 * Headings by their meaning, in lower case and without anything but letters. If several columns are addresses, the one with the most
 * addresses wins.
 */
const HEADINGS: Record<CandidateMeaning, string[]> = {
  email: [
    ...[
      'email',
      'emails',
      'emailaddress',
      'mail',
      'mailaddress',
      'recipient',
      'recipientemail',
      'candidateemail',
      'candidateemailaddress',
    ],
    ...[
      'applicantemail',
      'primaryemail',
      'primaryemailaddress',
      'workemail',
      'emailwork',
      'personalemail',
      'emailpersonal',
      'emailhome',
    ],
    ...['mailadresse', 'emailadresse', 'emailadressen', 'courriel', 'adressemail', 'adresseemail', 'correo', 'correoelectrónico'],
    ...['endereçodeemail', 'indirizzoemail', 'adresemail', 'электроннаяпочта', 'البريدالإلكتروني'],
  ],
  firstName: [
    'firstname',
    'givenname',
    'forename',
    'vorname',
    'prénom',
    'prenom',
    'nombre',
    'nombres',
    'nome',
    'candidatefirstname',
    'imię',
    'имя',
  ],
  lastName: [
    ...['lastname', 'familyname', 'surname', 'nachname', 'familienname', 'nom', 'nomdefamille', 'candidatelastname'],
    ...['apellido', 'apellidos', 'sobrenome', 'cognome', 'nazwisko', 'фамилия'],
  ],
  name: [
    'name',
    'fullname',
    'recipientname',
    'candidate',
    'candidatename',
    'applicant',
    'applicantname',
    'vollständigername',
    'nomcomplet',
    'nombrecompleto',
    'nomecompleto',
  ],
  tags: ['tags', 'tag', 'tagnames'],
  message: ['message', 'custommessage'],
  days: ['days', 'expires', 'expiresindays', 'expiresin', 'daysuntilitexpires'],
  grader: ['grader', 'graderemail', 'assignedgrader'],
  language: ['language', 'lang', 'locale', 'sprache', 'langue', 'idioma'],
  extraTime: ['extratime', 'extratimepercent', 'extratimeinpercent'],
}
/** Rows at the start of a file that may be the headings. */
const MAX_HEADING_ROWS = 10
const MAX_HEADING_LENGTH = 100
/** Rows whose values are looked at. */
const MAX_SAMPLE = 200
/** Addresses of other people than the candidates. */
const OTHER_PEOPLE = /recruiter|manager|referr|owner|agency|coordinator|interviewer|hiring|parent|emergency/i

/** @property head index of the row with the headings; -1 for none. @property doubts sentences, by column. */
export type CandidatePlan = { head: number; meanings: string[]; doubts: Record<number, string> }

export const candidateHeadingWord = (heading: string): string =>
  heading
    .slice(0, MAX_HEADING_LENGTH)
    .normalize('NFC')
    .toLowerCase()
    .replace(/\([^()]*\)/g, '')
    .replace(/[^\p{L}\p{M}]/gu, '')

const meaningOf = (word: string): string =>
  (Object.keys(HEADINGS) as CandidateMeaning[]).find((meaning) => HEADINGS[meaning].includes(word)) ?? ''

/** @param remembered meanings that people chose, by heading word. @param head row of the headings that a person chose. */
export function planCandidates(
  rows: TableRow[],
  { remembered = {}, head: chosen }: { remembered?: Record<string, string>; head?: number } = {},
): CandidatePlan {
  const head = chosen ?? findHead(rows)
  const headings = (rows[head]?.cells ?? []).slice(0, MAX_COLUMNS)
  const values = rows.slice(head + 1, head + 1 + MAX_SAMPLE)
  const width = Math.max(headings.length, ...values.map(({ cells }) => cells.length), 0)
  const words = Array.from({ length: Math.min(width, MAX_COLUMNS) }, (_, i) => candidateHeadingWord(headings[i] ?? ''))
  const wanted = words.map((word) => (word === '' ? '' : Object.hasOwn(remembered, word) ? remembered[word]! : meaningOf(word)))
  const doubts: Record<number, string> = {}
  const shares = words.map((_, i) => shareOfAddresses(values, i))
  const email = chooseEmail(wanted, shares, headings, doubts)
  const firsts = new Map<string, number>()
  const meanings = wanted.map((meaning, i) => {
    if (i === email) return 'email'
    if (meaning === '' || meaning === 'email') {
      if (meaning === 'email') doubts[i] = 'Another column has the email addresses.'
      return ''
    }
    if (firsts.has(meaning)) {
      doubts[i] = `Column “${headings[firsts.get(meaning)!]!.trim()}” has the same meaning.`
      return ''
    }
    firsts.set(meaning, i)
    return meaning
  })
  if (head < 0) nameBesideAddress(meanings, values)
  return { head, meanings, doubts: { ...doubts, ...findDoubts(meanings, values) } }
}

/** The first row with a heading for addresses; else the first row with other known headings, above rows with addresses. */
function findHead(rows: TableRow[]): number {
  const firsts = rows.slice(0, MAX_HEADING_ROWS)
  const meaningsByRow = firsts.map(({ cells }) => cells.map((cell) => meaningOf(candidateHeadingWord(cell))))
  const hasAddress = ({ cells }: TableRow) => cells.some((cell) => isEmailAddress(cell.trim()))
  const firstAddress = firsts.findIndex(hasAddress)
  const end = firstAddress < 0 ? firsts.length : firstAddress
  const named = meaningsByRow.slice(0, end).findIndex((meanings) => meanings.includes('email'))
  if (named >= 0) return named
  if (firstAddress <= 0) return -1
  const lastHeadings = meaningsByRow.slice(0, end).findLastIndex((meanings) => meanings.some(Boolean))
  return lastHeadings >= 0 ? lastHeadings : end - 1
}

const isFilled = (text: string | undefined): text is string => (text ?? '').trim() !== ''

/** Share of the filled cells that are addresses. */
function shareOfAddresses(rows: TableRow[], column: number): { share: number; count: number } {
  const filled = rows.map(({ cells }) => cells[column]).filter(isFilled)
  const count = filled.filter((text) => isEmailAddress(text.trim())).length
  return { share: filled.length === 0 ? 0 : count / filled.length, count }
}

/** A heading decides, unless its column has no address and another one has. */
function chooseEmail(
  wanted: string[],
  shares: { share: number; count: number }[],
  headings: string[],
  doubts: Record<number, string>,
): number {
  const columns = wanted.map((_, i) => i)
  const byCount = (one: number, other: number) => shares[other]!.count - shares[one]!.count
  const [named] = columns.filter((i) => wanted[i] === 'email').sort(byCount)
  if (named !== undefined && (shares[named]!.count > 0 || shares.every(({ count }) => count === 0))) return named
  const [best] = columns
    .filter((i) => shares[i]!.share > 0.5 && (wanted[i] === '' || wanted[i] === 'name') && !OTHER_PEOPLE.test(headings[i] ?? ''))
    .sort(byCount)
  if (best === undefined) return named ?? -1
  if (isFilled(headings[best])) doubts[best] = 'It is recognized by its values.'
  return best
}

/** Without a heading, the first other column with words has the names. */
function nameBesideAddress(meanings: string[], rows: TableRow[]): void {
  const isName = (column: number) =>
    meanings[column] === '' &&
    rows.some(({ cells }) => isFilled(cells[column])) &&
    rows.every(({ cells }) => !/[@\d]/.test(cells[column] ?? ''))
  const index = meanings.findIndex((_, i) => isName(i))
  if (index >= 0) meanings[index] = 'name'
}

function findDoubts(meanings: string[], rows: TableRow[]): Record<number, string> {
  const doubts: Record<number, string> = {}
  for (const [i, meaning] of meanings.entries()) {
    const filled = rows.map(({ cells }) => cells[i]).filter(isFilled)
    if (
      meaning === 'name' &&
      filled.length > 0 &&
      filled.filter((text) => /^[^,]+,\s*\S[^,]*$/.test(text)).length > filled.length / 2
    )
      doubts[i] = 'It looks like last name, first name.'
    else if (meaning === 'name' && rows.length >= 5 && filled.length < rows.length / 5)
      doubts[i] = `It is filled in ${filled.length} of ${rows.length} rows.`
    else if ((meaning === 'days' || meaning === 'extraTime') && filled.some((text) => !/^\d{1,4}\s*%?$/.test(text.trim())))
      doubts[i] = 'It has values that are no whole numbers.'
  }
  return doubts
}
