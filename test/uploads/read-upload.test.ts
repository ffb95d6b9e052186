import { randomBytes } from 'node:crypto'
import { strToU8, zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import type { ParsedQuestion } from '../../src/kinds/neutral.ts'
import { readUpload } from '../../src/uploads/read-upload.ts'
import { sharedText, writeXlsx } from '../support/question-files.ts'
import { itSlow } from '../support/slow.ts'

async function readParts(bytes: Uint8Array, maxRows = 5_000) {
  const parts: ParsedQuestion[][] = []
  const { format } = await readUpload('one', { content: 'questions', bytes, maxRows })(async (part) => void parts.push(part))
  return { format, parts }
}
const read = async (bytes: Uint8Array, maxRows?: number): Promise<ParsedQuestion[]> =>
  (await readParts(bytes, maxRows)).parts.flat()
const issueOf = (bytes: Uint8Array, maxRows?: number) =>
  read(bytes, maxRows).then(
    () => 'read',
    (error) => error.issues?.[0]?.problem ?? error,
  )

describe('readUpload', () => {
  it('sends a file in parts of bounded size', async () => {
    const rows = Array.from({ length: 2_000 }, (_, i) => ['short text', `Question ${i} ${'x'.repeat(200)}`, 'Ann'])
    const { format, parts } = await readParts(writeXlsx([['kind', 'text', 'right'], ...rows]))
    expect([format, parts.flat().length]).toEqual(['xlsx', 2_000])
    expect(Math.max(...parts.map((part) => JSON.stringify(part).length))).toBeLessThan(102_000)
  })

  it("ends its process if a part can't be written", async () => {
    const order = { content: 'questions', bytes: strToU8('Who?{=Ann}'), maxRows: 1 } as const
    const full = async () => {
      throw new Error('the disk is full')
    }
    await expect(readUpload('one', order)(full)).rejects.toThrow('the disk is full')
    expect(await read(strToU8('Who?{=Ann}'))).toHaveLength(1)
  })

  it.each([
    ['a shared string that many cells use', sharedText(190_000, 53)],
    ['separate cells', writeXlsx([['text'], ...Array.from({ length: 2_001 }, () => [randomBytes(2_500).toString('hex')])])],
    ['CSV in a Windows encoding', Buffer.from(`text,points\n${`${'\x80'.repeat(4_000)},1\n`.repeat(850)}`, 'latin1')],
  ])('rejects more than 10 MB of text: %s', async (_, bytes) => {
    expect(await issueOf(bytes)).toBe('tooMuchText')
  })

  itSlow('rejects unclosed tags in linear time', async () => {
    const open = (tag: string) => zipSync({ 'xl/worksheets/sheet1.xml': strToU8(`<sheetData>${`<${tag}>`.repeat(1_000_000)}`) })
    expect([await issueOf(open('row')), await issueOf(open('c')), await issueOf(open('row r="1" '.trim()))]).toEqual([
      'empty',
      'tooHeavy',
      'tooHeavy',
    ])
  })

  it.each([
    ['more answers than a question can have', `Q{=a ${'~b'.repeat(300)}}`, 'It has too many answers.'],
    ['a text longer than a question can be', `${'x'.repeat(200_001)}{T}`, 'It is too long.'],
  ])('rejects a question with %s, and accepts the others', async (_, text, refusal) => {
    const [beyond, good] = await read(strToU8(`${text}\n\nWho?{=Ann}`))
    expect(beyond).toMatchObject({ refusal })
    expect(good).toMatchObject({ question: { text: 'Who?' } })
  })

  itSlow('rejects a file that needs more memory than the process may use', async () => {
    const lines = `text\n${'a\n'.repeat(5_000_000)}`
    expect(await issueOf(strToU8(lines), 10_000_000)).toBe('tooHeavy')
  })

  itSlow('rejects cells that widen many rows, and too many rows, before it has them in memory', async () => {
    const sheetOf = (rows: number, column: string) => {
      const cells = Array.from({ length: rows }, (_, i) => `<row r="${i + 1}"><c r="${column}${i + 1}" t="b"><v>1</v></c></row>`)
      return zipSync({ 'xl/worksheets/sheet1.xml': strToU8(`<sheetData>${cells.join('')}</sheetData>`) })
    }
    expect([await issueOf(sheetOf(100_000, 'GR'), 50_000), await issueOf(sheetOf(100_000, 'J'))]).toEqual([
      'tooHeavy',
      'tooManyRows',
    ])
  })

  it('reports a workbook without cells as empty', async () => {
    const bytes = zipSync({ 'xl/worksheets/sheet1.xml': strToU8('<sheetData/>') })
    const inspect = readUpload('one', { content: 'inspectQuestions', bytes, maxRows: 1 })
    await expect(inspect(async () => {})).rejects.toMatchObject({ issues: [{ field: 'file', problem: 'empty' }] })
    expect(await issueOf(bytes)).toBe('empty')
  })

  it('rejects 3 of 12 concurrent files as too many', async () => {
    const many = await Promise.allSettled(Array.from({ length: 12 }, () => read(strToU8('Who?{=Ann}'))))
    const kinds = many.flatMap((one) => (one.status === 'rejected' ? [one.reason.kind] : []))
    expect(kinds).toEqual(Array(3).fill('too_many_imports'))
  })
})
