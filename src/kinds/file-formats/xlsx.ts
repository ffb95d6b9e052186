import { strFromU8, Unzip, UnzipInflate } from 'fflate'
import { createTextBudget } from '../../domain/validation/uploaded-files.ts'
import { MAX_COLUMNS, type TableRow } from './table.ts'

// Spreadsheets of Excel and LibreOffice. Only texts and numbers of the first sheet are read: no formulas, links, or declared entities. Unpacked bytes
// are counted while unpacking, regardless of the declared sizes, and each regular expression runs over a file once.

/** Bytes. */
const MAX_UNPACKED = 40 * 1024 * 1024
/** Packed bytes per step. Deflate expands them by a factor of about 1,000 at most. */
const UNPACKED_AT_ONCE = 8 * 1024
const MAX_ENTRIES = 5_000
const MAX_CELLS = 250_000
const WANTED = /^xl\/(sharedStrings\.xml|workbook\.xml|_rels\/workbook\.xml\.rels|worksheets\/[^/]+\.xml)$/i

/** The message is a sentence. */
export class UnreadableSheet extends Error {}

/** The rows of the first sheet. @throws UnreadableSheet; DomainError `tooMuchText`. */
export function readXlsx(bytes: Uint8Array): TableRow[] {
  const files = unpack(bytes)
  const text = (name: string): string | undefined => {
    const found = Object.keys(files).find((file) => file.toLowerCase() === name.toLowerCase())
    const content = found && strFromU8(files[found]!)
    if (content && /<!DOCTYPE|<!ENTITY/i.test(content))
      throw new UnreadableSheet('It declares XML entities, which no sheet needs.')
    return content
  }
  const sheet = text(firstSheet(text('xl/workbook.xml') ?? '', text('xl/_rels/workbook.xml.rels') ?? ''))
  if (sheet === undefined) throw new UnreadableSheet('It has no sheet.')
  return readRows(sheet, readShared(text('xl/sharedStrings.xml') ?? ''))
}

function unpack(bytes: Uint8Array): Record<string, Uint8Array> {
  const found = new Map<string, Uint8Array[]>()
  let [unpacked, entries] = [0, 0]
  const unzip = new Unzip((file) => {
    if (++entries > MAX_ENTRIES) throw new UnreadableSheet('It has too many files in it.')
    if (file.name.includes('..') || file.name.startsWith('/') || file.name.includes('\\'))
      throw new UnreadableSheet('It contains a path outside of the package.')
    if (!WANTED.test(file.name)) return
    const pieces: Uint8Array[] = []
    found.set(file.name, pieces)
    file.ondata = (error, data) => {
      if (error) throw error
      unpacked += data.length
      if (unpacked > MAX_UNPACKED) throw new UnreadableSheet('It unpacks to more than 40 MB.')
      pieces.push(data.slice()) // fflate reuses its buffer
    }
    file.start()
  })
  unzip.register(UnzipInflate)
  try {
    for (let i = 0; i < bytes.length; i += UNPACKED_AT_ONCE)
      unzip.push(bytes.subarray(i, i + UNPACKED_AT_ONCE), i + UNPACKED_AT_ONCE >= bytes.length)
  } catch (error) {
    if (error instanceof UnreadableSheet) throw error
    throw new UnreadableSheet('It is not an Excel sheet (.xlsx).')
  }
  return Object.fromEntries([...found].map(([name, pieces]) => [name, Buffer.concat(pieces)]))
}

function firstSheet(workbook: string, relations: string): string {
  const id = /<(?:\w+:)?sheet\s[^<>]*?\br:id="([^"<>]*)"/.exec(workbook)?.[1]
  for (const [relation] of relations.matchAll(/<Relationship\s[^<>]*>/g)) {
    const target = /\bTarget="([^"]*)"/.exec(relation)?.[1]
    if (target && id !== undefined && /\bId="([^"]*)"/.exec(relation)?.[1] === id)
      return target.startsWith('/') ? target.slice(1) : `xl/${target}`
  }
  return 'xl/worksheets/sheet1.xml'
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const decode = (text: string): string =>
  text
    .replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{2,4}));/gi, (all, hex?: string, decimal?: string, name?: string) => {
      if (name) return ENTITIES[name] ?? all
      const code = hex ? Number.parseInt(hex, 16) : Number(decimal)
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
    })
    .replace(/_x([0-9A-F]{4})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .toWellFormed()

/** Tags of rows, cells, and texts, each with the text up to the next tag. */
const TAGS = /<(\/?)(?:\w+:)?(row|c|v|t|si|rPh)(\s[^<>]*?)?(\/?)>([^<]*)/g

/** Shared strings. Phonetic readings (rPh), as in Japanese sheets, are skipped. */
function readShared(xml: string): string[] {
  const texts: string[] = []
  let isPhonetic = false
  for (const [, end, name, , empty, text] of xml.matchAll(TAGS)) {
    if (name === 'si' && !end) texts.push('')
    else if (name === 'rPh') isPhonetic = !end && !empty
    else if (name === 't' && !end && !isPhonetic && texts.length > 0) texts[texts.length - 1] += decode(text!)
    if (texts.length > MAX_CELLS) throw new UnreadableSheet('It has more than 250,000 texts.')
  }
  return texts
}

type Cell = { attributes: string; value: string | undefined; text: string }

function readRows(xml: string, shared: string[]): TableRow[] {
  const count = createTextBudget()
  const rows: TableRow[] = []
  let at = { line: 0, next: 0 }
  let cell: Cell | undefined
  let cells = 0
  const endCell = () => {
    if (cell) {
      const text = formatCell(cell, shared)
      count(text) // a shared text counts at each cell that refers to it
      at.next = placeCell(rows, at, text, cell)
    }
    cell = undefined
  }
  const begin = (name: string, attributes: string) => {
    if (name === 'row') at = { line: Number(/\br="(\d{1,9})"/.exec(attributes)?.[1] ?? at.line + 1), next: 0 }
    else if (++cells > MAX_CELLS) throw new UnreadableSheet('It has more than 250,000 cells.')
    else cell = { attributes, value: undefined, text: '' }
  }
  let isPhonetic = false
  for (const [, end, name, attributes = '', empty, text] of xml.matchAll(TAGS)) {
    if (name === 'rPh') isPhonetic = !end && !empty
    else if (name === 'row' || name === 'c') {
      endCell()
      if (!end) begin(name, attributes)
    } else if (cell && !end && !isPhonetic) addText(cell, name!, text!)
  }
  endCell()
  return rows
}

function addText(cell: Cell, name: string, text: string): void {
  if (name === 'v') cell.value ??= text
  else if (name === 't') cell.text += decode(text)
}

/** @param at.next column of a cell without a reference. @returns the column of the following cell. */
function placeCell(rows: TableRow[], { line, next }: { line: number; next: number }, text: string, { attributes }: Cell): number {
  const column = columnOf(/\br="([A-Z]{1,3})\d*"/.exec(attributes)?.[1]) ?? next
  if (column >= MAX_COLUMNS) return column + 1
  let row = rows.at(-1)
  if (row?.line !== line) {
    row = { line, cells: [] }
    rows.push(row)
  }
  while (row.cells.length < column) row.cells.push('')
  row.cells[column] = text
  return column + 1
}

function formatCell({ attributes, value, text }: Cell, shared: string[]): string {
  const type = /\bt="(\w+)"/.exec(attributes)?.[1]
  if (type === 'inlineStr') return text
  if (value === undefined) return ''
  if (type === 's') return shared[Number(value)] ?? ''
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE'
  if (type === 'e') return ''
  // Sheets store 0.1 + 0.2 with all digits of the float.
  return type === undefined || type === 'n' ? String(Number(Number(value).toPrecision(15))) : decode(value)
}

const columnOf = (letters: string | undefined): number | undefined =>
  letters === undefined ? undefined : [...letters].reduce((all, letter) => all * 26 + letter.charCodeAt(0) - 64, 0) - 1
