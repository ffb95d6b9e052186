import { describe, expect, it } from 'vitest'
import type { PrintedReport } from '../../src/domain/ports/printed-report.ts'
import { typeset } from '../../src/reports/typeset.ts'
import { hasPoppler, readPdf, readWords } from '../support/pdf.ts'

const AT = new Date('2026-03-09T14:00:00.000Z')
const report: PrintedReport = {
  language: 'en',
  title: 'Result of Kim Lee',
  author: 'Acme',
  facts: [{ label: 'Organization', text: 'Acme' }],
  message: 'Thank you.',
  questions: [
    {
      heading: 'Question 1',
      points: '3 of 5 points',
      rubric: ['Accuracy: complete, 3 of 5'],
      script: 'What first?',
      language: 'en-US',
      comment: 'Good.',
      notes: ['0:18 Omission'],
    },
  ],
  closing: 'Version 1',
  labels: {
    message: 'Message to the candidate',
    questions: 'Questions',
    comment: 'Comment',
    page: 'Page {page} of {pages}',
    shortened: 'Long texts are shortened here.',
  },
}
const named = (name: string): PrintedReport => ({
  ...report,
  title: `Result of ${name}`,
  facts: [{ label: 'Candidate', text: name }],
})
const read = async (of: PrintedReport) => readPdf(Buffer.from(await typeset(of, AT)))
const flat = (text: string) => text.replace(/\s+/g, ' ')

it('returns a PDF with its creation time, its language, and accessibility tags', async () => {
  const pdf = Buffer.from(await typeset(report, AT)).toString('latin1')
  expect(pdf).toMatch(/^%PDF-1\.7\n/)
  expect(pdf).toContain('/Lang (en)')
  expect(pdf).toContain('/StructTreeRoot')
  expect(pdf).toContain('<pdfuaid:part>1</pdfuaid:part>')
  expect(pdf).toContain('2026-03-09T14:00:00')
})

describe.skipIf(!hasPoppler)('a report read by another program', () => {
  it('has its title, its headings in order, and its questions on numbered pages', async () => {
    const questions = Array.from({ length: 30 }, (_, i) => ({ ...report.questions[0]!, heading: `Question ${i + 1}` }))
    const { properties, structure, text } = await read({ ...report, questions })
    expect(properties).toMatchObject({ Title: 'Result of Kim Lee', Author: 'Acme', Tagged: 'yes' })
    const headings = [...structure.matchAll(/^\s+(H\d)\b/gm)].map(([, level]) => level)
    expect(headings).toEqual(['H1', 'H2', 'H2', ...questions.flatMap(() => ['H3', 'H4'])])
    const pages = Number(properties.Pages)
    expect(pages).toBeGreaterThan(1)
    for (let page = 1; page <= pages; page++) expect(text).toContain(`Page ${page} of ${pages}`)
  })

  it.each([
    ['Arabic', 'محمد بن علي', 'NotoNaskhArabic'],
    ['Chinese', '张伟', 'NotoSansHans'],
    ['Chinese, traditional', '陳怡君', 'NotoSansHans'],
    ['Devanagari', 'अमिताभ क्षत्रिय', 'NotoSans-Regular'],
    ['Hebrew', 'דוד כהן', 'NotoSansHebrew'],
    ['Japanese', '山田ひかり', 'NotoSansHans'],
    ['Korean', '김민준', 'NotoSansKR'],
    ['Cyrillic', 'Євген Їжак', 'NotoSans-Regular'],
    ['Greek', 'Γιώργος', 'NotoSans-Regular'],
    ['Vietnamese', 'Nguyễn Thị Ánh', 'NotoSans-Regular'],
  ])('contains a name in %s, and embeds its font', async (_script, name, font) => {
    const { text, fonts, properties } = await read(named(name))
    expect(flat(text)).toContain(`Candidate ${name}`)
    expect(properties.Title).toBe(`Result of ${name}`)
    expect(fonts.map(({ name }) => name)).toEqual(expect.arrayContaining([expect.stringContaining(font)]))
    expect(fonts.filter(({ embedded, subset }) => embedded !== 'yes' || subset !== 'yes')).toEqual([])
  })

  it('has its language, page numbers in that language, and a right-to-left layout in Arabic', async () => {
    const labels = { ...report.labels, page: 'صفحة {page} من {pages}' }
    const inArabic = { ...report, language: 'ar', labels }
    const pdf = Buffer.from(await typeset(inArabic, AT))
    expect(pdf.toString('latin1')).toContain('/Lang (ar)')
    expect(Buffer.from(await typeset({ ...report, language: 'pt-BR' }, AT)).toString('latin1')).toContain('/Lang (pt-BR)')
    expect((await readPdf(pdf)).text).toContain('صفحة')
    const isLabelFirst = async (of: PrintedReport) => {
      const words = await readWords(Buffer.from(await typeset(of, AT)))
      const leftOf = (text: string) => words.find((word) => word.text === text)!.left
      return leftOf('Organization') < leftOf('Acme')
    }
    expect([await isLabelFirst(report), await isLabelFirst(inArabic)]).toEqual([true, false])
  })

  it('supports both directions in one line', async () => {
    const { text } = await read({ ...report, message: 'عمل Kim Lee ممتاز' })
    // Extracted text has the characters in logical order.
    for (const word of ['عمل', 'Kim Lee', 'ممتاز']) expect(flat(text)).toContain(word)
  })

  it('is tagged even if a name has characters that no font has', async () => {
    const { text, properties } = await read(named('Kim தமிழ்'))
    expect(properties).toMatchObject({ Title: 'Result of Kim தமிழ்', Tagged: 'yes' })
    expect(flat(text)).toContain('Candidate Kim')
  })

  it('renders markup in user content literally', async () => {
    const message = [
      '#panic("x") #image("/etc/passwd") #import "@preview/x:1.0.0"',
      '$x^2$ *bold* _it_ <label> @ref \\ // no comment',
      '= Heading',
      '- item `raw` ~ --- ...',
    ].join('\n')
    const { text } = await read({ ...report, message })
    expect(flat(text)).toContain(`Message to the candidate ${flat(message)}`)
  })

  it('cleans malformed text, and shortens long text', async () => {
    const questions = Array.from({ length: 60 }, () => ({ ...report.questions[0]!, script: `${'long '.repeat(2_000)}end` }))
    const message = `\u0007one\r\ntwo \ud83d ${'x'.repeat(300)}`
    const { text } = await read({ ...report, message, questions })
    expect(flat(text)).toContain('one two')
    expect(flat(text)).toContain('Long texts are shortened here')
    expect(text).not.toContain('end')
  })
})
