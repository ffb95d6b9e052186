import { strToU8, Zip, ZipDeflate } from 'fflate'

const SPACE = 'http://schemas.openxmlformats.org'
const MAIN = `${SPACE}/spreadsheetml/2006/main`
const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const encode = (text: string): string =>
  text
    .replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
    .replace(/[\p{Cc}\p{Noncharacter_Code_Point}]/gu, (sign) => ('\t\n\r'.includes(sign) ? sign : ''))
const lettersOf = (column: number): string =>
  column < 26 ? String.fromCharCode(65 + column) : lettersOf(Math.floor(column / 26) - 1) + lettersOf(column % 26)

/** Files of the package besides the sheet. */
const PARTS = {
  '[Content_Types].xml': `${HEAD}<Types xmlns="${SPACE}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`,
  '_rels/.rels': `${HEAD}<Relationships xmlns="${SPACE}/package/2006/relationships"><Relationship Id="rId1" Type="${SPACE}/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml': `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${SPACE}/officeDocument/2006/relationships"><sheets><sheet name="Questions" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': `${HEAD}<Relationships xmlns="${SPACE}/package/2006/relationships"><Relationship Id="rId1" Type="${SPACE}/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
}

/** Streaming writer of a workbook with one sheet of text cells. Each call returns the next bytes. */
export function createXlsxWriter(): { write: (rows: readonly string[][]) => Uint8Array; end: () => Uint8Array } {
  let pending: Uint8Array[] = []
  const zip = new Zip((error, bytes) => {
    if (error) throw error
    pending.push(bytes)
  })
  const add = (name: string) => {
    const file = new ZipDeflate(name)
    zip.add(file)
    return file
  }
  for (const [name, text] of Object.entries(PARTS)) add(name).push(strToU8(text), true)
  const sheet = add('xl/worksheets/sheet1.xml')
  sheet.push(strToU8(`${HEAD}<worksheet xmlns="${MAIN}"><sheetData>`))
  let rowCount = 0
  const takePending = () => {
    const bytes = Buffer.concat(pending)
    pending = []
    return bytes
  }
  return {
    write(rows) {
      sheet.push(strToU8(rows.map((cells) => writeRow(cells, ++rowCount)).join('')))
      return takePending()
    },
    end() {
      sheet.push(strToU8('</sheetData></worksheet>'), true)
      zip.end()
      return takePending()
    },
  }
}

function writeRow(cells: string[], row: number): string {
  const cell = (text: string, column: number) =>
    text === '' ? '' : `<c r="${lettersOf(column)}${row}" t="inlineStr"><is><t xml:space="preserve">${encode(text)}</t></is></c>`
  return `<row r="${row}">${cells.map(cell).join('')}</row>`
}
