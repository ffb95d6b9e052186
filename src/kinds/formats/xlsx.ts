import { strFromU8, strToU8, type UnzipFileInfo, unzipSync, zipSync } from 'fflate'
import type { TableRow } from './table.ts'

// Sheets of Excel and LibreOffice. Only texts and numbers of the first sheet are read: no formulas, no links, no declared entities, nothing else of
// the package. What it unpacks to is bounded before anything is unpacked.

/** Bytes. */
const MAX_UNPACKED = 40 * 1024 * 1024
const MAX_ENTRIES = 5_000
const MAX_CELLS = 250_000
const MAX_COLUMNS = 200
const WANTED = /^xl\/(sharedStrings\.xml|workbook\.xml|_rels\/workbook\.xml\.rels|worksheets\/[^/]+\.xml)$/i

/** What stands in the way of reading a sheet, in a sentence. */
export class UnreadableSheet extends Error {}

/** The rows of the first sheet. @throws UnreadableSheet. */
export function readXlsx(bytes: Uint8Array): TableRow[] {
  const files = unpack(bytes)
  const text = (name: string): string | undefined => {
    const found = Object.keys(files).find((file) => file.toLowerCase() === name.toLowerCase())
    const content = found && strFromU8(files[found]!)
    if (content && /<!DOCTYPE|<!ENTITY/i.test(content))
      throw new UnreadableSheet('It declares entities of its own, as no sheet does.')
    return content
  }
  const sheet = text(firstSheet(text('xl/workbook.xml') ?? '', text('xl/_rels/workbook.xml.rels') ?? ''))
  if (sheet === undefined) throw new UnreadableSheet('It has no sheet.')
  return readRows(sheet, readShared(text('xl/sharedStrings.xml') ?? ''))
}

function unpack(bytes: Uint8Array): Record<string, Uint8Array> {
  let [unpacked, entries] = [0, 0]
  const filter = ({ name, originalSize }: UnzipFileInfo): boolean => {
    if (++entries > MAX_ENTRIES) throw new UnreadableSheet('It has too many files in it.')
    if (name.includes('..') || name.startsWith('/') || name.includes('\\'))
      throw new UnreadableSheet('It names a file outside of itself.')
    if (!WANTED.test(name)) return false
    unpacked += originalSize
    if (unpacked > MAX_UNPACKED) throw new UnreadableSheet('It unpacks to more than 40 MB.')
    return true
  }
  try {
    return unzipSync(bytes, { filter })
  } catch (error) {
    if (error instanceof UnreadableSheet) throw error
    throw new UnreadableSheet('It is no sheet of Excel (.xlsx).')
  }
}

function firstSheet(workbook: string, relations: string): string {
  const id = /<(?:\w+:)?sheet\s[^>]*?\br:id="([^"]*)"/.exec(workbook)?.[1]
  for (const [relation] of relations.matchAll(/<Relationship\s[^>]*>/g)) {
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

/** The runs of a text; how it is read aloud in Japanese is left out. */
const textOf = (xml: string): string =>
  [...xml.replace(/<(?:\w+:)?rPh[\s>][\s\S]*?<\/(?:\w+:)?rPh>/g, '').matchAll(/<(?:\w+:)?t(?:\s[^>]*)?>([^<]*)</g)]
    .map(([, run]) => decode(run!))
    .join('')

const readShared = (xml: string): string[] =>
  [...xml.matchAll(/<(?:\w+:)?si(?:\s[^>]*)?(?:\/>|>([\s\S]*?)<\/(?:\w+:)?si>)/g)].map(([, item = '']) => textOf(item))

function readRows(xml: string, shared: string[]): TableRow[] {
  const rows: TableRow[] = []
  let left = MAX_CELLS
  for (const [, given = '', inner = ''] of xml.matchAll(/<(?:\w+:)?row(\s[^>]*?)?(?:\/>|>([\s\S]*?)<\/(?:\w+:)?row>)/g)) {
    const line = Number(/\br="(\d{1,9})"/.exec(given)?.[1] ?? (rows.at(-1)?.line ?? 0) + 1)
    const found = [...inner.matchAll(/<(?:\w+:)?c(\s[^>]*?)?(?:\/>|>([\s\S]*?)<\/(?:\w+:)?c>)/g)]
    left -= found.length
    if (left < 0) throw new UnreadableSheet('It has more than 250,000 cells.')
    rows.push({ line, cells: readCells(found, shared) })
  }
  return rows
}

function readCells(found: RegExpExecArray[], shared: string[]): string[] {
  const cells: string[] = []
  let next = 0
  for (const [, attributes = '', content = ''] of found) {
    const column = columnOf(/\br="([A-Z]{1,3})\d*"/.exec(attributes)?.[1]) ?? next
    next = column + 1
    if (column >= MAX_COLUMNS) continue
    while (cells.length < column) cells.push('')
    cells[column] = cellOf(/\bt="(\w+)"/.exec(attributes)?.[1], content, shared)
  }
  return cells
}

function cellOf(type: string | undefined, content: string, shared: string[]): string {
  if (type === 'inlineStr') return textOf(content)
  const value = /<(?:\w+:)?v(?:\s[^>]*)?>([^<]*)</.exec(content)?.[1]
  if (value === undefined) return ''
  if (type === 's') return shared[Number(value)] ?? ''
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE'
  if (type === 'e') return ''
  // 0.1 + 0.2 is kept with all its digits.
  return type === undefined || type === 'n' ? String(Number(Number(value).toPrecision(15))) : decode(value)
}

const columnOf = (letters: string | undefined): number | undefined =>
  letters === undefined ? undefined : [...letters].reduce((all, letter) => all * 26 + letter.charCodeAt(0) - 64, 0) - 1

const SPACE = 'http://schemas.openxmlformats.org'
const MAIN = `${SPACE}/spreadsheetml/2006/main`
const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const encode = (text: string): string =>
  text
    .replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
    .replace(/[\p{Cc}\p{Noncharacter_Code_Point}]/gu, (sign) => ('\t\n\r'.includes(sign) ? sign : ''))
const lettersOf = (column: number): string =>
  column < 26 ? String.fromCharCode(65 + column) : lettersOf(Math.floor(column / 26) - 1) + lettersOf(column % 26)

/** A workbook of one sheet whose cells are texts. */
export function writeXlsx(rows: string[][]): Uint8Array<ArrayBuffer> {
  const cell = (text: string, column: number, row: number) =>
    text === '' ? '' : `<c r="${lettersOf(column)}${row}" t="inlineStr"><is><t xml:space="preserve">${encode(text)}</t></is></c>`
  const data = rows.map(
    (cells, i) => `<row r="${i + 1}">${cells.map((text, column) => cell(text, column, i + 1)).join('')}</row>`,
  )
  const files = {
    '[Content_Types].xml': `${HEAD}<Types xmlns="${SPACE}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`,
    '_rels/.rels': `${HEAD}<Relationships xmlns="${SPACE}/package/2006/relationships"><Relationship Id="rId1" Type="${SPACE}/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${SPACE}/officeDocument/2006/relationships"><sheets><sheet name="Questions" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `${HEAD}<Relationships xmlns="${SPACE}/package/2006/relationships"><Relationship Id="rId1" Type="${SPACE}/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    'xl/worksheets/sheet1.xml': `${HEAD}<worksheet xmlns="${MAIN}"><sheetData>${data.join('')}</sheetData></worksheet>`,
  }
  return zipSync(
    Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)])),
  ) as Uint8Array<ArrayBuffer>
}
