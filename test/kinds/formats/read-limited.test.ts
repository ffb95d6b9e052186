import { strToU8, zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { readLimited } from '../../../src/kinds/formats/read-limited.ts'
import type { ReadQuestion } from '../../../src/kinds/neutral.ts'
import { writeXlsx } from '../../support/question-files.ts'

async function read(bytes: Uint8Array, mostQuestions = 5_000): Promise<ReadQuestion[]> {
  const { parts } = await readLimited('one', { bytes, mostQuestions })
  return parts.flatMap((part) => JSON.parse(Buffer.from(part).toString()))
}
const issueOf = (bytes: Uint8Array) =>
  read(bytes).then(
    () => 'read',
    (error) => error.issues?.[0]?.problem ?? error,
  )

describe('a file of questions, read by a process of its own', () => {
  it('comes in parts, none of which takes long to take in', async () => {
    const rows = Array.from({ length: 2_000 }, (_, i) => ['short text', `Question ${i} ${'x'.repeat(200)}`, 'Ann'])
    const { format, parts } = await readLimited('one', {
      bytes: writeXlsx([['kind', 'text', 'right'], ...rows]),
      mostQuestions: 2_000,
    })
    expect([format, parts.flatMap((part) => JSON.parse(Buffer.from(part).toString())).length]).toEqual(['xlsx', 2_000])
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(101_000)
  })

  it('is refused where its tags are never closed, which once took a time that grew with their square', async () => {
    const open = (tag: string) => zipSync({ 'xl/worksheets/sheet1.xml': strToU8(`<sheetData>${`<${tag}>`.repeat(1_000_000)}`) })
    expect([await issueOf(open('row')), await issueOf(open('c')), await issueOf(open('row r="1" '.trim()))]).toEqual([
      'noText',
      'notSheet',
      'noText',
    ])
  })

  it.each([
    ['more answers than a question can have', `Q{=a ${'~b'.repeat(300)}}`, 'It has more answers than a question can have.'],
    ['a text longer than a question can be', `${'x'.repeat(200_001)}{T}`, 'It is longer than a question can be.'],
  ])('refuses a question of %s, and takes those beside it', async (_, text, refusal) => {
    const [beyond, good] = await read(strToU8(`${text}\n\nWho?{=Ann}`))
    expect(beyond).toMatchObject({ refusal })
    expect(good).toMatchObject({ question: { text: 'Who?' } })
  })

  it('is refused where it would need more memory than the process gets', async () => {
    // Rows of one cell in the last column that is read: a little text becomes many empty cells.
    const rows = Array.from({ length: 240_000 }, (_, i) => `<row r="${i + 1}"><c r="GR${i + 1}" t="b"><v>1</v></c></row>`)
    const sheet = zipSync({ 'xl/worksheets/sheet1.xml': strToU8(`<sheetData>${rows.join('')}</sheetData>`) })
    expect(await issueOf(sheet)).toBe('tooHeavy')
  })

  it('waits for few others, and not for ever', async () => {
    const many = await Promise.allSettled(Array.from({ length: 12 }, () => read(strToU8('Who?{=Ann}'))))
    const kinds = many.flatMap((one) => (one.status === 'rejected' ? [one.reason.kind] : []))
    expect(kinds).toEqual(Array(3).fill('too_many_imports'))
  })
})
