import { type DecodedText, decodeText } from './decode-text.ts'
import { detectFile, detectXml, type QuestionXml } from './detect-file.ts'
import type { Encoding } from './encodings.ts'
import { DELIMITERS, readCsv } from './read-csv.ts'
import { readXlsx } from './read-xlsx.ts'
import type { TableRow } from './table.ts'
import { UnreadableFile } from './unreadable-file.ts'

/** A person's choices for reading a file. @property sheet name of the sheet. */
export type ReadChoices = { encoding?: Encoding | undefined; delimiter?: string | undefined; sheet?: string | undefined }

/** Facts about how a file was read, for the person who checks it. @property notes sentences. */
export type FileFacts = {
  format: 'xlsx' | 'csv' | 'text' | QuestionXml
  encoding: Encoding | null
  isEncodingDoubtful: boolean
  delimiter: string | null
  sheets: string[]
  sheet: string
  notes: string[]
}

/** @property qti package of QTI items. */
export type OpenedFile = { facts: FileFacts } & ({ rows: TableRow[] } | { text: string } | { qti: Uint8Array })

/**
 * Opens a file by its content: the rows of a spreadsheet, a decoded text, or a package of questions.
 *
 * @param maxRows rows of a spreadsheet with text, besides the headings.
 * @throws UnreadableFile with the name of a format that is recognized and not read.
 */
export function openFile(bytes: Uint8Array, maxRows: number, choices: ReadChoices = {}): OpenedFile {
  const detected = detectFile(bytes)
  if ('refusal' in detected) throw new UnreadableFile(detected.refusal)
  if (detected.format === 'qti') return { facts: { ...PACKAGE_FACTS, format: 'qti' }, qti: bytes }
  if (detected.format === 'xlsx') {
    const { rows, notes, ...sheets } = readXlsx(bytes, choices.sheet, maxRows)
    return { facts: { ...PACKAGE_FACTS, format: 'xlsx', ...sheets, notes }, rows }
  }
  const decoded = decodeText(bytes, choices.encoding)
  const xml = detectXml(decoded.text)
  if (xml && 'refusal' in xml) throw new UnreadableFile(xml.refusal)
  return { facts: { ...factsOf(decoded), ...xml }, text: decoded.text }
}

const PACKAGE_FACTS = { encoding: null, isEncodingDoubtful: false, delimiter: null, sheets: [], sheet: '', notes: [] }

const factsOf = ({ encoding, isGuess, isDoubtful }: DecodedText): FileFacts => ({
  format: 'text',
  encoding,
  isEncodingDoubtful: isDoubtful,
  delimiter: null,
  sheets: [],
  sheet: '',
  notes: isGuess && !isDoubtful ? [`The file does not say how its letters are stored. They are read as ${encoding}.`] : [],
})

/** Reads the rows of an opened file; a text as CSV. Rows without text are left out. @throws UnreadableFile `tooManyRows`; `questionFile` for a format without rows. */
export function readRows(
  opened: OpenedFile,
  { maxRows, delimiter }: { maxRows: number; delimiter?: string | undefined },
): { rows: TableRow[]; facts: FileFacts } {
  if ('rows' in opened) {
    const rows = opened.rows.filter(({ cells, faults }) => faults || cells.some((cell) => cell.trim() !== ''))
    if (rows.length > maxRows + 1) throw new UnreadableFile('tooManyRows', maxRows)
    return { rows, facts: opened.facts }
  }
  if ('qti' in opened || opened.facts.format !== 'text') throw new UnreadableFile('questionFile')
  const table = readCsv(opened.text, {
    maxRows: maxRows + 1,
    delimiter: delimiter && Object.hasOwn(DELIMITERS, delimiter) ? delimiter : undefined,
  })
  return { rows: table.rows, facts: { ...opened.facts, format: 'csv', delimiter: table.delimiter } }
}
