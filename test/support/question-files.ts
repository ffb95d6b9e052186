import { strToU8, zipSync } from 'fflate'
import { createGiftWriter } from '../../src/kinds/file-formats/write-gift.ts'
import { TABLE_HEAD, writeRow } from '../../src/kinds/file-formats/write-table.ts'
import { createXlsxWriter } from '../../src/kinds/file-formats/write-xlsx.ts'
import type { NeutralQuestion } from '../../src/kinds/neutral.ts'

// Creates files of questions in one call.

/** Creates a small workbook in which many rows refer to one long shared text, whose first character makes each character take two bytes in memory. */
export const sharedText = (length: number, rows: number): Uint8Array<ArrayBuffer> =>
  zipSync(
    {
      'xl/sharedStrings.xml': strToU8(`<si><t>text</t></si><si><t>\u0100${'x'.repeat(length - 1)}</t></si>`),
      'xl/worksheets/sheet1.xml': strToU8(`<row><c t="s"><v>0</v></c></row>${'<row><c t="s"><v>1</v></c></row>'.repeat(rows)}`),
    },
    { level: 9 },
  )

export const writeGift = (questions: readonly NeutralQuestion[]): string => createGiftWriter()(questions)

export const writeTable = (questions: readonly NeutralQuestion[]): string[][] => [TABLE_HEAD, ...questions.map(writeRow)]

export function writeXlsx(rows: readonly string[][]): Uint8Array<ArrayBuffer> {
  const { write, end } = createXlsxWriter()
  return Buffer.concat([write(rows), end()])
}
