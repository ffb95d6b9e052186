import { format, getFormatFromId, isDateFormat } from 'numfmt'
import { createUnpacker, readPackage, type Unpack } from './read-package.ts'
import { MAX_COLUMNS, type TableRow } from './table.ts'
import { UnreadableFile } from './unreadable-file.ts'

// Spreadsheets of Excel and LibreOffice, as they show their cells: formulas by their stored results, numbers and dates by their formats. No links,
// no declared entities. Each regular expression runs over a file once. Sheets are decoded in parts, because the string of a whole sheet would double
// the memory.

const MAX_CELLS = 1_500_000
/** Most cells of a row, on average over the sheet. */
const CELLS_A_ROW = 60
/** Factor by which the empty cells before and between the others may widen rows. */
const MAX_WIDENING = 4
const MAX_MERGED = 10_000
/** Cells that get their text from a merged cell above. */
const MAX_FILLED = 100_000
/** Bytes of a package for each of its rows, on average. */
const BYTES_A_ROW = 5 * 1024

/** @property sheets names of the visible sheets. @property notes sentences about the sheet as a whole. */
export type XlsxFile = { rows: TableRow[]; sheets: string[]; sheet: string; notes: string[] }

/**
 * @param sheet name of the sheet to read; the first visible one if it doesn't exist. @param maxRows rows with text, besides the headings.
 * @throws UnreadableFile `notSheet`, `tooHeavy`, `tooManyRows`.
 */
export function readXlsx(bytes: Uint8Array, sheet?: string, maxRows = MAX_CELLS): XlsxFile {
  const unpack = createUnpacker(bytes, BYTES_A_ROW * maxRows)
  const { names, files } = readPackage(bytes, (name) => SMALL_PARTS.has(name), unpack)
  const textOf = (name: string) => [...decodeXml([files.get(name) ?? new Uint8Array()])].join('')
  const book = readBook(textOf('xl/workbook.xml'), textOf('xl/_rels/workbook.xml.rels'))
  const found = book.sheets.find(({ name }) => name === sheet) ?? book.sheets[0]
  const path = (found?.path ?? 'xl/worksheets/sheet1.xml').toLowerCase()
  const isDuplicate = (name: string) => names.indexOf(name) !== names.lastIndexOf(name)
  if (!names.includes(path) || isDuplicate(path) || isDuplicate(SHARED_STRINGS)) throw new UnreadableFile('notSheet')
  const { rows, notes } = readSheet(decodeXml(piecesOf(unpack, path)), {
    shared: names.includes(SHARED_STRINGS) ? readShared(decodeXml(piecesOf(unpack, SHARED_STRINGS))) : [],
    formats: readFormats(textOf('xl/styles.xml')),
    startsIn1904: book.startsIn1904,
    maxRows,
  })
  return { rows, sheets: book.sheets.map(({ name }) => name), sheet: found?.name ?? '', notes }
}

const SHARED_STRINGS = 'xl/sharedstrings.xml'
const SMALL_PARTS = new Set(['xl/workbook.xml', 'xl/_rels/workbook.xml.rels', 'xl/styles.xml'])

function* piecesOf(unpack: Unpack, name: string): Generator<Uint8Array> {
  for (const [, piece] of unpack((other) => other === name, 1)) yield piece
}

type Book = { sheets: { name: string; path: string }[]; startsIn1904: boolean }

function readBook(workbook: string, relations: string): Book {
  const targets = new Map<string, string>()
  for (const [relation] of relations.matchAll(/<Relationship\s[^<>]*>/g)) {
    const [id, target] = [attribute(relation, 'Id'), attribute(relation, 'Target')]
    if (id && target) targets.set(id, target.startsWith('/') ? target.slice(1) : `xl/${target}`)
  }
  const sheets = [...workbook.matchAll(/<(?:\w+:)?sheet\s([^<>]*)>/g)].flatMap(([, attributes]) => {
    const path = targets.get(attribute(attributes!, 'r:id') ?? '')
    const isHidden = /\bstate="(?:hidden|veryHidden)"/.test(attributes!)
    return path && !isHidden ? [{ name: decode(attribute(attributes!, 'name') ?? ''), path }] : []
  })
  return { sheets, startsIn1904: /<(?:\w+:)?workbookPr\s[^<>]*\bdate1904="(?:1|true)"/.test(workbook) }
}

const attribute = (tag: string, name: string): string | undefined => new RegExp(`(?:^|\\s)${name}="([^"<>]*)"`).exec(tag)?.[1]

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const decode = (text: string): string =>
  text
    .replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{2,4}));/gi, (entity, hex?: string, decimal?: string, name?: string) => {
      if (name) return ENTITIES[name] ?? entity
      const code = hex ? Number.parseInt(hex, 16) : Number(decimal)
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
    })
    .replace(/_x([0-9A-F]{4})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .toWellFormed()

/** Dates whose built-in format depends on the reader's country are shown unambiguously. */
const ISO_FORMATS: Record<number, string> = { 14: 'yyyy-mm-dd', 22: 'yyyy-mm-dd hh:mm' }

/** Number format of each cell style. */
function readFormats(styles: string): string[] {
  const customFormats = new Map<number, string>()
  for (const [tag] of styles.matchAll(/<(?:\w+:)?numFmt\s[^<>]*>/g))
    customFormats.set(Number(attribute(tag, 'numFmtId')), decode(attribute(tag, 'formatCode') ?? ''))
  const [cells = ''] = /<(?:\w+:)?cellXfs\b[\s\S]*?<\/(?:\w+:)?cellXfs>/.exec(styles) ?? []
  return [...cells.matchAll(/<(?:\w+:)?xf\s[^<>]*>/g)].map(([tag]) => {
    const id = Number(attribute(tag, 'numFmtId') ?? 0)
    return customFormats.get(id) ?? ISO_FORMATS[id] ?? getFormatFromId(id, 'en') ?? 'General'
  })
}

/** Tags of columns, rows, cells, texts, and merged cells, each with the text up to the next tag. */
const TAGS = /<(\/?)(?:\w+:)?(col|row|c|f|v|t|si|rPh|mergeCell)(\s[^<>]*?)?(\/?)>([^<]*)/g

/** Decodes a file in parts that end before a tag. @throws UnreadableFile `notSheet` for a DOCTYPE or an entity. */
function* decodeXml(pieces: Iterable<Uint8Array>): Generator<string> {
  const decoder = new TextDecoder()
  let pendingText: string[] = []
  const joinAndCheck = (text: string): string => {
    const xml = pendingText.join('') + text
    if (/<!DOCTYPE|<!ENTITY/i.test(xml)) throw new UnreadableFile('notSheet')
    return xml
  }
  for (const piece of pieces) {
    const text = decoder.decode(piece, { stream: true })
    const end = text.lastIndexOf('<')
    if (end >= 0) {
      yield joinAndCheck(text.slice(0, end))
      pendingText = []
    }
    pendingText.push(text.slice(Math.max(end, 0)))
  }
  yield joinAndCheck(decoder.decode())
}

function forEachTag(parts: Iterable<string>, onTag: (match: RegExpExecArray) => void): void {
  for (const xml of parts) for (const match of xml.matchAll(TAGS)) onTag(match)
}

/** Shared strings. Phonetic readings (rPh), as in Japanese sheets, are skipped. */
function readShared(parts: Iterable<string>): string[] {
  const texts: string[] = []
  let isPhonetic = false
  forEachTag(parts, ([, end, name, , empty, text]) => {
    if (name === 'si' && !end) texts.push('')
    else if (name === 'rPh') isPhonetic = !end && !empty
    else if (name === 't' && !end && !isPhonetic && texts.length > 0) texts[texts.length - 1] += decode(text!)
    if (texts.length > MAX_CELLS) throw new UnreadableFile('tooHeavy')
  })
  return texts
}

type Style = { shared: string[]; formats: string[]; startsIn1904: boolean; maxRows: number }
type Cell = { attributes: string; value: string | undefined; text: string; hasFormula: boolean }
type Range = { top: number; bottom: number; left: number; right: number }

/** @property next column of a cell without a reference. */
type Position = { line: number; next: number; isHidden: boolean }

function readSheet(parts: Iterable<string>, style: Style): { rows: TableRow[]; notes: string[] } {
  const rows: TableRow[] = []
  const merged: Range[] = []
  const hidden = { rows: 0, columns: [] as string[] }
  const maxCells = Math.min(MAX_CELLS, CELLS_A_ROW * style.maxRows)
  let at: Position = { line: 0, next: 0, isHidden: false }
  let [cell, cells, isPhonetic]: [Cell | undefined, number, boolean] = [undefined, 0, false]
  let width = 0
  const endCell = () => {
    if (cell && !at.isHidden) at.next = placeCell(rows, at, cell, style)
    cell = undefined
  }
  const endRow = () => {
    if (rows.length > style.maxRows + 1) throw new UnreadableFile('tooManyRows', style.maxRows)
    width += rows.at(-1)?.cells.length ?? 0
    if (width > MAX_WIDENING * maxCells) throw new UnreadableFile('tooHeavy')
  }
  const beginRow = (attributes: string) => {
    endRow()
    at = beginLine(attributes, at.line)
    if (at.isHidden) hidden.rows++
  }
  const beginCell = (attributes: string) => {
    if (++cells > maxCells) throw new UnreadableFile('tooHeavy')
    cell = { attributes, value: undefined, text: '', hasFormula: false }
  }
  const begin: Record<string, (attributes: string) => void> = {
    row: beginRow,
    c: beginCell,
    col: (attributes) => HIDDEN.test(attributes) && hidden.columns.push(nameColumns(attributes)),
    mergeCell: (attributes) => merged.length < MAX_MERGED && merged.push(...readRange(attributes)),
  }
  forEachTag(parts, ([, end, name, attributes = '', empty, text]) => {
    if (name === 'row' || name === 'c') endCell()
    if (name === 'rPh') isPhonetic = !end && !empty
    else if (end) return
    else if (begin[name!]) begin[name!]!(attributes)
    else if (cell && !isPhonetic) addText(cell, name!, text!)
  })
  endCell()
  endRow()
  fillMerged(rows, merged)
  return { rows, notes: notesOf(hidden, merged) }
}

const HIDDEN = /\bhidden="(?:1|true)"/

const beginLine = (attributes: string, before: number): Position => ({
  line: Number(/\br="(\d{1,9})"/.exec(attributes)?.[1] ?? before + 1),
  next: 0,
  isHidden: HIDDEN.test(attributes),
})

const notesOf = (hidden: { rows: number; columns: string[] }, merged: Range[]): string[] => [
  ...(hidden.rows > 0
    ? [
        `${hidden.rows === 1 ? '1 hidden row is' : `${hidden.rows} hidden rows are`} left out. To take them, show them in your spreadsheet program, and save the file again.`,
      ]
    : []),
  ...(hidden.columns.length > 0 ? [`Hidden columns are read too: ${hidden.columns.slice(0, 10).join(', ')}.`] : []),
  ...(merged.some(({ top, bottom }) => bottom > top) ? ['A merged cell counts for each of its rows.'] : []),
]

function nameColumns(attributes: string): string {
  const [from, to] = [Number(attribute(attributes, 'min') ?? 1), Number(attribute(attributes, 'max') ?? 1)]
  return from === to ? lettersOf(from) : `${lettersOf(from)} to ${lettersOf(to)}`
}

/** @param column from 1. */
export const lettersOf = (column: number): string =>
  column <= 26 ? String.fromCharCode(64 + column) : lettersOf(Math.floor((column - 1) / 26)) + lettersOf(((column - 1) % 26) + 1)

function readRange(attributes: string): Range[] {
  const [, left, top, right, bottom] = /\bref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"/.exec(attributes) ?? []
  return bottom ? [{ top: Number(top), bottom: Number(bottom), left: columnOf(left)!, right: columnOf(right)! }] : []
}

/** Cells merged over several rows give their text to each row that exists. */
function fillMerged(rows: TableRow[], ranges: Range[]): void {
  const byLine = new Map(rows.map((row, i) => [row.line, i]))
  let filled = 0
  for (const { top, bottom, left } of ranges) {
    const first = byLine.get(top)
    const text = first === undefined ? '' : (rows[first]!.cells[left] ?? '')
    if (text === '') continue
    for (let i = first! + 1; i < rows.length && rows[i]!.line <= bottom; i++) {
      if (++filled > MAX_FILLED) throw new UnreadableFile('tooHeavy')
      fillCell(rows[i]!, left, text)
    }
  }
}

function fillCell(row: TableRow, column: number, text: string): void {
  while (row.cells.length <= column) row.cells.push('')
  row.cells[column] = text
  row.merged ??= []
  row.merged.push(column)
}

function addText(cell: Cell, name: string, text: string): void {
  if (name === 'v') cell.value ??= text
  else if (name === 'f') cell.hasFormula = true
  else if (name === 't') cell.text += decode(text)
}

/** @param position.next column of a cell without a reference. @returns the column of the following cell. */
function placeCell(rows: TableRow[], { line, next }: { line: number; next: number }, cell: Cell, style: Style): number {
  const column = columnOf(/\br="([A-Z]{1,3})\d*"/.exec(cell.attributes)?.[1]) ?? next
  if (column >= MAX_COLUMNS) return column + 1
  const { text, number, fault } = readCell(cell, style)
  if (text.trim() === '' && !fault) return column + 1
  let row = rows.at(-1)
  if (row?.line !== line) {
    row = { line, cells: [] }
    rows.push(row)
  }
  while (row.cells.length < column) row.cells.push('')
  row.cells[column] = text
  if (number !== undefined) row.numbers = { ...row.numbers, [column]: number }
  if (fault) row.faults = [...(row.faults ?? []), { column, text: `Cell ${lettersOf(column + 1)}${line} ${fault}` }]
  return column + 1
}

/** @property number plain decimal, if the cell is shown otherwise. */
type ReadCell = { text: string; number?: string; fault?: string }

function readCell({ attributes, value, text, hasFormula }: Cell, { shared, ...style }: Style): ReadCell {
  const type = /\bt="(\w+)"/.exec(attributes)?.[1] ?? 'n'
  if (type === 'inlineStr') return { text }
  if (value === undefined || value === '') return hasFormula && type !== 'str' ? { text: '', fault: NO_RESULT } : { text: '' }
  switch (type) {
    case 's':
      return { text: shared[Number(value)] ?? '' }
    case 'b':
      return { text: value === '1' ? 'TRUE' : 'FALSE' }
    case 'e':
      return { text: '', fault: `shows the error ${decode(value)}.` }
    case 'd':
      return { text: value.replace(/T00:00:00(\.0+)?Z?$/, '').replace('T', ' ') }
    case 'n':
      return showNumber(Number(value), formatOf(attributes, style.formats), style.startsIn1904)
    default:
      return { text: decode(value) }
  }
}

const NO_RESULT = 'has a formula without a stored result. Open the file in your spreadsheet program, and save it again.'
const formatOf = (attributes: string, formats: string[]): string =>
  formats[Number(/\bs="(\d+)"/.exec(attributes)?.[1] ?? 0)] ?? 'General'

/** Days between the two first dates of spreadsheets. */
const DAYS_TO_1904 = 1_462

/** A number as the sheet shows it. General numbers keep all digits: they may be identifiers. */
function showNumber(value: number, code: string, startsIn1904: boolean): ReadCell {
  // Sheets store 0.1 + 0.2 with all digits of the float.
  const plain = String(Number.isSafeInteger(value) ? value : Number(value.toPrecision(15)))
  if (/^(general|@)$/i.test(code)) return { text: plain }
  try {
    const isDate = isDateFormat(code)
    const text = format(code, isDate && startsIn1904 ? value + DAYS_TO_1904 : value, { nbsp: false }).trim()
    if (text === '' || text === plain) return { text: plain }
    return isDate ? { text } : { text, number: plain }
  } catch {
    return { text: plain }
  }
}

const columnOf = (letters: string | undefined): number | undefined =>
  letters === undefined ? undefined : [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
