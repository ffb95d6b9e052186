import { createGiftWriter } from '../../src/kinds/formats/write-gift.ts'
import { TABLE_HEAD, writeRow } from '../../src/kinds/formats/write-table.ts'
import { createXlsxWriter } from '../../src/kinds/formats/write-xlsx.ts'
import type { NeutralQuestion } from '../../src/kinds/neutral.ts'

// Files of questions that are written at once.

export const writeGift = (questions: readonly NeutralQuestion[]): string => createGiftWriter()(questions)

export const writeTable = (questions: readonly NeutralQuestion[]): string[][] => [TABLE_HEAD, ...questions.map(writeRow)]

export function writeXlsx(rows: readonly string[][]): Uint8Array<ArrayBuffer> {
  const { write, end } = createXlsxWriter()
  return Buffer.concat([write(rows), end()])
}
