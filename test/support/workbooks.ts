import { strToU8, zipSync } from 'fflate'

// Creates workbooks according to the specification of the format (ECMA-376), with parts that other programs write.

/** A cell: text, number, or XML attributes and content. */
type CellInput = string | number | { s?: number; t?: string; v?: string; f?: string }
type BookInput = {
  formats?: string[]
  startsIn1904?: boolean
  sheets?: { name: string; state?: string }[]
  hiddenRows?: number[]
  hiddenColumns?: number[]
  merged?: string[]
}

const escapeXml = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)

/** Creates a workbook. @param input.formats number formats, which a cell refers to by `s`, starting at 1. */
export function workbook(
  rows: CellInput[][],
  { formats = [], startsIn1904, sheets = [{ name: 'One' }], ...input }: BookInput = {},
): Uint8Array {
  const { hiddenRows = [], hiddenColumns = [], merged = [] } = input
  const data = rows
    .map(
      (cells, i) =>
        `<row r="${i + 1}"${hiddenRows.includes(i + 1) ? ' hidden="1"' : ''}>${cells.map((cell, j) => cellXml(cell, `${String.fromCharCode(65 + j)}${i + 1}`)).join('')}</row>`,
    )
    .join('')
  const columns = hiddenColumns.map((column) => `<col min="${column}" max="${column}" hidden="1"/>`).join('')
  const sheet = `<worksheet><cols>${columns}</cols><sheetData>${data}</sheetData><mergeCells>${merged.map((ref) => `<mergeCell ref="${ref}"/>`).join('')}</mergeCells></worksheet>`
  return zipSync({
    'xl/workbook.xml': strToU8(
      `<workbook>${startsIn1904 ? '<workbookPr date1904="1"/>' : ''}<sheets>${sheets.map(({ name, state }, i) => `<sheet name="${escapeXml(name)}"${state ? ` state="${state}"` : ''} sheetId="${i + 1}" r:id="rId${i + 1}"/>`).join('')}</sheets></workbook>`,
    ),
    'xl/_rels/workbook.xml.rels': strToU8(
      `<Relationships>${sheets.map((_, i) => `<Relationship Id="rId${i + 1}" Target="worksheets/sheet${i + 1}.xml"/>`).join('')}</Relationships>`,
    ),
    'xl/styles.xml': strToU8(
      `<styleSheet><numFmts>${formats.map((code, i) => `<numFmt numFmtId="${164 + i}" formatCode="${escapeXml(code)}"/>`).join('')}</numFmts><cellXfs><xf numFmtId="0"/>${formats.map((code, i) => `<xf numFmtId="${/^\d+$/.test(code) ? code : 164 + i}"/>`).join('')}</cellXfs></styleSheet>`,
    ),
    ...Object.fromEntries(
      sheets.map(({ name }, i) => [
        `xl/worksheets/sheet${i + 1}.xml`,
        strToU8(
          i === 0 ? sheet : sheet.replace('</row>', `<c r="Z1" t="inlineStr"><is><t>${escapeXml(name)}</t></is></c></row>`),
        ),
      ]),
    ),
  })
}

function cellXml(cell: CellInput, ref: string): string {
  if (cell === '') return ''
  if (typeof cell === 'string') return `<c r="${ref}" t="inlineStr"><is><t>${escapeXml(cell)}</t></is></c>`
  if (typeof cell === 'number') return `<c r="${ref}"><v>${cell}</v></c>`
  const { s, t, v, f } = cell
  return `<c r="${ref}"${s ? ` s="${s}"` : ''}${t ? ` t="${t}"` : ''}>${f ? `<f>${f}</f>` : ''}${v === undefined ? '' : `<v>${v}</v>`}</c>`
}

/** Creates a ZIP package with these files. */
export const packageOf = (files: Record<string, string>): Uint8Array =>
  zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)])))
