import { MAX_COLUMNS, type TableRow } from './table.ts'
import { UnreadableFile } from './unreadable-file.ts'

/** Delimiters that are guessed, and their names. */
export const DELIMITERS: Record<string, string> = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'vertical bar' }

/** Sample for guessing the delimiter: at most so many rows, within so many lines. */
const MAX_SAMPLE_ROWS = 50
const MAX_SAMPLE_LINES = 1_000
/** Most lines of a file, including empty ones. Some programs save all 1,048,576 rows of a sheet. */
const MAX_LINES = 1_100_000
/** Characters of a quoted cell. A quotation mark that stays open longer is a stray one. */
const MAX_QUOTED_LENGTH = 50_000
const STRAY_QUOTE = 'A quotation mark in this line stands alone, so it is unclear where its cells end.'

/** @property delimiter null for lines without cells. */
export type CsvFile = { rows: TableRow[]; delimiter: string | null }

/**
 * Reads CSV by RFC 4180 with any delimiter, or the one of a first line `sep=;`. A line with a stray quotation mark gets a fault. So do the
 * lines up to the one that may close it, and up to the next line with as many cells as the first row, because a broken cell may contain
 * lines that look like rows.
 *
 * @param chosen delimiter that a person chose.
 * @throws UnreadableFile `tooManyRows`, `tooHeavy`.
 */
export function readCsv(
  text: string,
  { maxRows, delimiter: chosen }: { maxRows: number; delimiter?: string | undefined },
): CsvFile {
  const source = text.replace(/^\u{feff}/u, '').replaceAll('\0', '')
  const [directive = '', named] = /^sep=(.)[ \t]*(?:\r\n|\r|\n|$)/i.exec(source) ?? []
  const body = source.slice(directive.length)
  const delimiter = chosen ?? named ?? guessDelimiter(body)
  const rows: TableRow[] = []
  for (const row of readRecords(body, delimiter, directive === '' ? 1 : 2)) {
    if (row.line > MAX_LINES) throw new UnreadableFile('tooHeavy')
    if (row.cells.every((cell) => cell.trim() === '') && !row.faults) continue
    if (rows.length > maxRows) throw new UnreadableFile('tooManyRows', maxRows)
    rows.push(row)
  }
  return { rows, delimiter }
}

/** The delimiter that gives most rows the same number of cells; null if each line is one cell. */
function guessDelimiter(text: string): string | null {
  const sample = text.slice(startOfFirstRow(text))
  const [best] = Object.keys(DELIMITERS)
    .map((delimiter) => ({ delimiter, ...measure(sample, delimiter) }))
    .filter(({ share }) => share > 0)
    .sort((one, other) => other.share - one.share || other.cells - one.cells)
  return best?.delimiter ?? null
}

/** Start of the first line that isn't blank. */
function startOfFirstRow(text: string): number {
  const first = text.search(/\S/)
  return first < 0 ? text.length : Math.max(text.lastIndexOf('\n', first), text.lastIndexOf('\r', first)) + 1
}

/** @property cells most frequent number of cells. @property share of the rows that have so many; 0 if each row is one cell. */
function measure(text: string, delimiter: string): { cells: number; share: number } {
  const counts = new Map<number, number>()
  let rows = 0
  for (const { line, cells, faults } of readRecords(text, delimiter, 1)) {
    if (line > MAX_SAMPLE_LINES) break
    if (faults || (cells.length === 1 && cells[0]!.trim() === '')) continue
    counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1)
    if (++rows === MAX_SAMPLE_ROWS) break
  }
  const several = [...counts].filter(([cells]) => cells > 1)
  const [cells, times] = several.sort((one, other) => other[1] - one[1] || other[0] - one[0])[0] ?? [1, 0]
  return { cells, share: times / Math.max(1, rows) }
}

/** @param firstLine number of the text's first line. */
function* readRecords(text: string, delimiter: string | null, firstLine: number): Generator<TableRow> {
  let [at, line, width] = [0, firstLine, 0]
  let [isBroken, brokenUpTo] = [false, 0]
  while (at < text.length) {
    const record = readRecord(text, at, delimiter)
    if (width === 0 && !record.isStray) width = record.cells.length
    if (record.isStray || (isBroken && (at < brokenUpTo || width < 2 || record.cells.length !== width))) {
      isBroken = true
      const end = endOfLine(text, at)
      if (at >= brokenUpTo && hasOddQuotes(text, at, end)) brokenUpTo = findClosingLine(text, end)
      yield { line, cells: [text.slice(at, Math.min(end, at + 200))], faults: [{ column: null, text: STRAY_QUOTE }] }
      at = skipBreak(text, end)
      line++
      continue
    }
    isBroken = false
    yield { line, cells: record.cells }
    line += record.lines
    at = record.end
  }
}

/** Lines after a stray quotation mark that may close it. */
const MAX_BROKEN_LINES = 20

const QUOTE = '"'.charCodeAt(0)

function hasOddQuotes(text: string, from: number, to: number): boolean {
  let isOdd = false
  for (let at = from; at < to; at++) if (text.charCodeAt(at) === QUOTE) isOdd = !isOdd
  return isOdd
}

/** End of the next line with an odd number of quotation marks; the given end without one. */
function findClosingLine(text: string, end: number): number {
  let at = skipBreak(text, end)
  for (let i = 0; i < MAX_BROKEN_LINES && at < text.length; i++) {
    const next = endOfLine(text, at)
    if (hasOddQuotes(text, at, next)) return next
    at = skipBreak(text, next)
  }
  return end
}

type CsvRecord = { cells: string[]; end: number; lines: number; isStray: boolean }

/** @returns the record that begins there. @property end where the next one begins. @property lines that it takes. */
function readRecord(text: string, start: number, delimiter: string | null): CsvRecord {
  const cells: string[] = []
  let [at, lines] = [start, 1]
  while (true) {
    const cell = readCell(text, at, delimiter)
    if (!cell) return { cells, end: start, lines: 0, isStray: true }
    if (cells.length < MAX_COLUMNS) cells.push(cell.text)
    lines += cell.breaks
    at = cell.end
    if (at >= text.length || text[at] !== delimiter) return { cells, end: skipBreak(text, at), lines, isStray: false }
    at++
  }
}

/** @returns undefined for a cell with a stray quotation mark. */
function readCell(
  text: string,
  start: number,
  delimiter: string | null,
): { text: string; end: number; breaks: number } | undefined {
  const isEnd = (at: number) => at >= text.length || text[at] === delimiter || text[at] === '\n' || text[at] === '\r'
  const begin = delimiter === ' ' ? start : skipBlanks(text, start)
  if (text[begin] === '"') {
    const quoted = readQuoted(text, begin)
    const end = quoted && skipBlanks(text, quoted.end)
    return quoted && isEnd(end!) ? { text: quoted.cell, end: end!, breaks: quoted.breaks } : undefined
  }
  let end = begin
  while (!isEnd(end)) end++
  return { text: text.slice(begin, end), end, breaks: 0 }
}

function skipBlanks(text: string, start: number): number {
  let at = start
  while (text[at] === ' ') at++
  return at
}

/** @param at position of the opening quotation mark. @returns undefined without a closing one. */
function readQuoted(text: string, at: number): { cell: string; end: number; breaks: number } | undefined {
  let end = at + 1
  while (true) {
    end = text.indexOf('"', end)
    if (end < 0 || end - at > MAX_QUOTED_LENGTH) return undefined
    if (text[end + 1] !== '"') break
    end += 2
  }
  const inner = text.slice(at + 1, end)
  const breaks = inner.match(/\r\n|\r|\n/g)?.length ?? 0
  return { cell: inner.replaceAll('""', '"'), end: end + 1, breaks }
}

function endOfLine(text: string, at: number): number {
  const lineBreak = /[\r\n]/g
  lineBreak.lastIndex = at
  return lineBreak.exec(text)?.index ?? text.length
}

const skipBreak = (text: string, at: number): number =>
  text[at] === '\r' && text[at + 1] === '\n' ? at + 2 : Math.min(at + 1, text.length)
