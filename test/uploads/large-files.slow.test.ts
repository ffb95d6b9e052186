import { strToU8, zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { MAX_BATCH_BYTES, MAX_BATCH_ROWS } from '../../src/domain/limits.ts'
import { readUpload } from '../../src/uploads/read-upload.ts'
import { writeXlsx } from '../support/question-files.ts'

const readCandidates = async (bytes: Uint8Array) => {
  const parts: number[] = []
  await readUpload('one', { content: 'candidates', bytes, maxRows: MAX_BATCH_ROWS })(async (part) => void parts.push(part.length))
  return parts.reduce((all, length) => all + length, 0)
}

describe('large files', () => {
  it('reads 50,000 candidates of a workbook in 30 seconds', async () => {
    const rows = Array.from({ length: MAX_BATCH_ROWS }, (_, i) => [
      `candidate.${i}@example.com`,
      `Ann Lee ${i}`,
      'Berlin',
      '+49 30 1234567',
      'Developer',
    ])
    const bytes = writeXlsx([['Email', 'Name', 'City', 'Phone', 'Position'], ...rows])
    expect(bytes.length).toBeLessThan(MAX_BATCH_BYTES)
    const began = performance.now()
    expect(await readCandidates(bytes)).toBe(MAX_BATCH_ROWS)
    expect(performance.now() - began).toBeLessThan(30_000)
  })

  it.each([
    ['zeros', { 'xl/worksheets/sheet1.xml': new Uint8Array(300_000_000) }],
    ['cells', { 'xl/worksheets/sheet1.xml': strToU8(`<sheetData><row>${'<c/>'.repeat(5_000_000)}</row></sheetData>`) }],
    ['entities', { 'xl/worksheets/sheet1.xml': strToU8('<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><worksheet/>') }],
    [
      'merged cells',
      {
        'xl/worksheets/sheet1.xml': strToU8(
          `<sheetData><row r="1"><c r="A1" t="str"><v>email</v></c></row>${'<row><c t="b"><v>1</v></c></row>'.repeat(2_000)}</sheetData>${'<mergeCell ref="A1:A1048576"/>'.repeat(10_000)}`,
        ),
      },
    ],
  ])('refuses a bomb of %s', async (_, files) => {
    await expect(readCandidates(zipSync(files))).rejects.toMatchObject({ kind: 'invalid' })
  })
})
