import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { strToU8, zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { hashContent, type LibraryContent } from '../../../src/domain/library/content.ts'
import { toCsv } from '../../../src/http/sending/csv.ts'
import { readGift } from '../../../src/kinds/file-formats/gift.ts'
import { readFile as readQuestions } from '../../../src/kinds/file-formats/read-file.ts'
import { readTable } from '../../../src/kinds/file-formats/table.ts'
import { exportQuestion, importQuestion } from '../../../src/kinds/library-questions.ts'
import type { NeutralQuestion, ParsedQuestion } from '../../../src/kinds/neutral.ts'
import { readXlsx } from '../../../src/tables/read-xlsx.ts'
import type { TableRow } from '../../../src/tables/table.ts'
import { UnreadableFile } from '../../../src/tables/unreadable-file.ts'
import { writeGift, writeTable, writeXlsx } from '../../support/question-files.ts'
import { scaled } from '../../support/scale.ts'
import { itSlow } from '../../support/slow.ts'

/** Summary of an imported question: line, response type, text, key, and losses, or the reason for rejection. */
const summarize = (read: ParsedQuestion) => {
  const taken = importQuestion(read)
  if ('refusal' in taken) return [taken.line, taken.refusal]
  const { input, definition } = taken.content
  return [taken.line, input.responseType, input.script, definition?.key, ...taken.losses]
}
const rowsOf = (rows: string[][]): TableRow[] => rows.map((cells, i) => ({ line: i + 1, cells }))
const contentOf = (read: ParsedQuestion): LibraryContent => {
  const taken = importQuestion(read)
  if ('refusal' in taken) throw new Error(taken.refusal)
  return taken.content
}

// Each case tests one rule of the format's description.
describe('the GIFT format', () => {
  it.each([
    ['one right option', '::Q::Who?{=Ann ~Ben ~Cy}', { responseType: 'single_choice', right: 1 }],
    ['shares for a single choice', 'Who?{=Ann ~%50%Ben ~Cy}', { responseType: 'single_choice', weights: [100, 50] }],
    ['several right options', 'Who?{~%50%Ann ~%50%Ben ~%-100%Cy}', { responseType: 'multiple_choice', right: 2 }],
    [
      'several right options without penalties',
      'Who?{~%50%Ann ~%50%Ben ~Cy}',
      { responseType: 'multiple_choice', weights: [50, 50] },
    ],
    ['true and false', 'Is it?{TRUE}', { responseType: 'single_choice', right: 1 }],
    [
      'short texts',
      'Who?{=Ann =%50%Anne}',
      {
        responseType: 'short_text',
        accepted: [
          ['Ann', 100],
          ['Anne', 50],
        ],
      },
    ],
    [
      'a number',
      'How much?{#3.14:0.01}',
      { responseType: 'number', answers: [{ value: '3.14', tolerance: { by: '0.01', in: 'absolute' }, share: 100 }] },
    ],
    ['a range', 'How much?{#1..5}', { responseType: 'number', answers: [{ from: '1', to: '5', share: 100 }] }],
    [
      'numbers with shares',
      'When?{#=1822:0 =%50%1822:2}',
      {
        responseType: 'number',
        answers: [
          { value: '1822', share: 100 },
          { value: '1822', tolerance: { by: '2', in: 'absolute' }, share: 50 },
        ],
      },
    ],
    [
      'pairs',
      'Match.{=a -> 1 =b -> 2 =c -> 1 = -> 3}',
      { responseType: 'matching', pairs: ['a 1', 'b 2', 'c 1'], choices: ['1', '2', '3'] },
    ],
    ['an essay', 'Tell us.{}', { responseType: 'text' }],
  ])('imports %s', (_, text, expected) => {
    const [read, ...more] = readGift(text)
    expect(more).toEqual([])
    const { input, definition } = contentOf(read!)
    const key = (definition?.key ?? {}) as {
      right?: string[]
      weights?: Record<string, number>
      accepted?: { text: string; share: number }[]
      answers?: unknown
      pairs?: Record<string, string>
    }
    type Named = { id: string; text: string }[]
    const { prompts, choices = [] } = (definition?.spec ?? {}) as { prompts?: Named; choices?: Named }
    const fitting = (id: string) => choices.find((choice) => choice.id === key.pairs?.[id])?.text
    expect({
      responseType: input.responseType,
      ...(key.right && { right: key.right.length }),
      ...(key.weights && { weights: Object.values(key.weights) }),
      ...(key.accepted && { accepted: key.accepted.map((one) => [one.text, one.share]) }),
      ...(key.answers ? { answers: key.answers } : {}),
      ...(prompts && {
        pairs: prompts.map(({ id, text }) => `${text} ${fitting(id)}`),
        choices: choices.map(({ text }) => text),
      }),
    }).toEqual(expected)
  })

  it('reads titles, categories, comments, escapes, and line numbers', () => {
    const text = [
      '// a comment',
      '$CATEGORY: $course$/top/Maths/Sets \\& more',
      '',
      '::Title::[markdown]What is 1 \\= 1 \\{not an answer\\}\\nin two lines?',
      '// between',
      '{ =yes \\~ maybe ~no # feedback',
      '}',
      '',
      'The cat {=sat ~stood} on the mat.',
    ].join('\n')
    const [one, two] = readGift(text)
    expect(one).toMatchObject({
      line: 4,
      losses: ['Feedback is not imported.'],
      question: {
        name: 'Title',
        text: 'What is 1 = 1 {not an answer}\nin two lines?',
        answer: {
          options: [
            { text: 'yes ~ maybe', share: 100 },
            { text: 'no', share: 0 },
          ],
        },
      },
    })
    expect(two).toMatchObject({ line: 9, question: { text: 'The cat _____ on the mat.', answer: { as: 'options' } } })
  })

  it.each([
    ['Only a text.', 'It is a description without an answer.'],
    ['Who?{=Ann', 'The answers have no closing brace.'],
    ['Who?}', 'It has a closing brace, but no opening one.'],
    ['Who?{Ann}', 'The answers must begin with = or ~.'],
    ['How much?{#many}', '“many” is not a number.'],
    ['Who?{~Ann ~Ben}', 'At least one option must be right.'],
    ['Match{=a -> 1 =b -> 2 =c -> }', 'No choice fits prompt 3.'],
    ['Match{=a -> 1 =b -> 1}', 'There must be at least two choices that differ.'],
    ['{=a ~b}', 'It has no text.'],
  ])('rejects %s with its line', (text, why) => {
    expect(readGift(`\n\n${text}`).map(summarize)).toEqual([[3, why]])
  })

  it('imports the examples of the guide', async () => {
    const [, sample] = /^```\n([\s\S]*?)^```$/m.exec(await readFile('docs/guides/library.md', 'utf8'))!
    const read = readGift(sample!)
    expect(read.map((one) => summarize(one).slice(1, 2).concat(summarize(one).slice(4)))).toEqual(
      ['single_choice', 'multiple_choice', 'number', 'short_text', 'single_choice', 'text'].map((word) => [word]),
    )
    expect(read[0]).toMatchObject({ question: { name: 'Capital of France', category: 'Geography / Europe' } })
  })

  it('reads a megabyte of signs quickly', () => {
    for (const sign of ['{', '~', '=', '\\', '::', '{=', '####', '%', '\n//']) {
      const began = process.cpuUsage().user
      readGift(`Q${sign.repeat(1_000_000 / sign.length)}`)
      expect(process.cpuUsage().user - began, sign).toBeLessThan(5_000_000)
    }
  })
})

const HEAD = ['Type', 'Question', 'Correct answer', 'A', 'B', 'C', 'D', 'Marks', 'Topic']
const SHEET = [
  HEAD,
  ['', 'Capital of France?', 'A', 'Paris', 'Rome', '', '', '2', 'Places > Europe'],
  ['Multiple response', 'Primes?', 'A; C', '2', '4', '5', '9', '', ''],
  ['choice', 'Which?', 'a,b', 'x', 'y', 'z', '', '', ''],
  ['True/False', 'Is it?', 'false', '', '', '', '', '', ''],
  ['numeric', 'Pi?', '3.14 ± 0.01; 3 50%', '', '', '', '', '', ''],
  ['Short answer', 'Who?', 'Ann; Anne 50%', '', '', '', '', '', ''],
  ['essay', 'Tell us.', '', '', '', '', '', '1.5', ''],
  ['matching', 'Which fits?', '', 'x -> 1', 'y -> 2', '-> 3', '', '', ''],
  ['', '', '', '', '', '', '', '', ''],
  ['riddle', 'What am I?', '', '', '', '', '', '', ''],
  ['choice', 'Which?', 'E', 'x', 'y', '', '', '', ''],
  ['choice', 'Which one?', '', 'x', 'y', '', '', '', ''],
  ['number', 'How many?', 'few', '', '', '', '', '', ''],
]

describe('a spreadsheet', () => {
  const read = (rows: string[][]) => readTable(rowsOf(rows))!.rows.map(summarize)

  it('is imported row by row, with losses or the reason for rejection', () => {
    const found = read(SHEET)
    expect(found.map(([line, first]) => [line, first])).toEqual([
      [2, 'single_choice'],
      [3, 'multiple_choice'],
      [4, 'multiple_choice'],
      [5, 'single_choice'],
      [6, 'number'],
      [7, 'short_text'],
      [8, 'text'],
      [9, 'matching'],
      [11, 'There is no kind “riddle”.'],
      [12, 'The right answer “E” is not an option.'],
      [13, 'It has no right answer.'],
      [14, 'The right answer “few” is not a number. Write 3.14, 3.14 ± 0.01, or 3..4.'],
    ])
    expect(found[6]).toContain('Points are rounded: 2 instead of 1.5.')
    expect(
      readTable(
        rowsOf([
          ['a', 'b'],
          ['1', '2'],
        ]),
      ),
    ).toBeNull()
  })

  /** Key of a row below these headings, or the reason for rejection. */
  const rightOf = (headings: string, row: string, ...others: string[]) => {
    const { rows } = readTable(rowsOf([headings, row, ...others].map((line) => line.split('|'))))!
    const [read] = rows
    if ('refusal' in read!) return read.refusal
    const { answer } = read!.question
    return answer.as === 'options' ? answer.options.filter(({ share }) => share > 0).map(({ text }) => text) : answer
  }
  const twice = (right: string) => `The right answer “${right}” fits more than one option. Write the letter of the right one.`

  it.each([
    ['Question|Option 1|Option 2|Correct Answer', 'Capital of Peru?|Lima|Quito|1', ['Lima']],
    ['Question|Option 1|Option 2|Correct Answer', 'Capital of Peru?|Quito|Lima|Lima', ['Lima']],
    ['Question|Option 1|Option 2|Correct Answer', 'Capital of Peru?|Quito|Lima|b', ['Lima']],
    ['Question|Option 1|Option 2|Correct Answer', 'Capital of Peru?|Quito|Lima|Option 2', ['Lima']],
    ['Question|Option 1|Option 2|Option 3|Correct Answer(s)', 'Which?|x|y|z|1; 3', ['x', 'z']],
    ['Q|Answer 1|Answer 2|Correct', 'Capital of Peru?|Lima|Quito|Lima', ['Lima']],
    ['Question|Answer 01|Answer 02|Correct', 'Capital of Peru?|Lima|Quito|LIMA', ['Lima']],
    ['Question|Option 1|Option 2|Option 3|Correct Answer', '2+2?|3|4|5|2', ['4']],
    ['Question|Option 1|Option 2|Option 3|Correct Answer', 'Half of 4?|1|2|3|2', ['2']],
    ['Question|Option 1|Option 2|Option 3|Correct Answer', '1+1?|2|3|4|2', twice('2')],
    ['Question|Option 1|Option 2|Correct Answer', 'Which?|same|same|same', twice('same')],
    ['Question|Option 1|Option 2|Correct Answer', 'Who came?|Ann, Ben|Cy|Ann, Ben', ['Ann, Ben']],
    ['Question|Option 1|Option 2|Option 3|Correct Answer', 'Who came?|Ann, Ben|Ann|Ben|Ann, Ben', twice('Ann, Ben')],
    ['Question|Option 1|Option 2|Correct Answer', 'Which?|x|y|3', 'The right answer “3” is not an option.'],
    ['Question|Option 1|Option 2|Correct Answer', 'Which?|x|y|', 'It has no right answer.'],
    ['Question|A|B|C|Correct', '2+1?|2|4|5|3', 'The right answer “3” is not an option.'],
    ['Question|A|B|Key', 'Which letter is first?|B|A|A', twice('A')],
    ['text|A|B|right', 'Which letter is first?|B|A|B', ['A']],
    ['Question|Type|Option 1|Option 2|Correct', 'Is it?|True/False|False|True|2', ['True']],
    ['Question|Type|Correct', 'Is it?|True/False|A', 'The right answer “A” is neither true nor false.'],
    ['Question|Option 1|Option 2|Correct', 'Did it grow 50%?|by 50%|by 5%|by 50%', ['by 50%']],
    ['Question|Option 1|Option 2|Correct', 'Did it grow?|by 50%|by|by 50%', twice('by 50%')],
    ['Question|Answer', 'Capital of Peru?|Lima', { as: 'words', accepted: [{ text: 'Lima', share: 100 }] }],
  ])('reads the right answer only if it is unambiguous: %s / %s', (headings, row, expected) => {
    expect(rightOf(headings, row)).toEqual(expected)
  })

  it('rejects option numbers if the sheet counts from 0', () => {
    const headings = 'Question|Option 1|Option 2|Correct'
    expect(rightOf(headings, 'Which?|x|y|1', 'Which?|x|y|0')).toBe('The right answer “1” is not an option.')
  })

  it('lists unused columns', () => {
    const rows = ['Question|Option 1|Option 2|Correct|Difficulty|Marks (10)|Option 1|', 'Which?|x|y|1|hard|2|z|note']
    const table = readTable(rowsOf(rows.map((line) => line.split('|'))))!
    expect(table.unusedColumns).toEqual(['Difficulty', 'Option 1', 'column 8'])
    expect(table.rows).toMatchObject([{ question: { points: 2 } }])
  })

  it('is read the same from workbooks of this service and of other programs', () => {
    expect(
      readXlsx(writeXlsx(SHEET)).rows.map(({ cells }) => [...cells, ...Array(HEAD.length).fill('')].slice(0, HEAD.length)),
    ).toEqual(SHEET.filter((row) => row.some(Boolean)))
    expect(read(SHEET)).toHaveLength(12)
    const shared = workbook(
      '<sst><si><t>question</t></si><si><r><t xml:space="preserve">What </t></r><r><t>is &lt;b&gt; &#8364;?</t></r><rPh><t>no</t></rPh></si></sst>',
      '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>points</t></is></c></row><row r="7" spans="1:3"><c r="A7" s="1" t="s"><v>1</v></c><c r="B7"/><c r="C7"><v>0.30000000000000004</v></c></row><row r="8"/>',
    )
    expect(readXlsx(shared).rows).toEqual([
      { line: 1, cells: ['question', '', 'points'] },
      { line: 7, cells: ['What is <b> €?', '', '0.3'] },
    ])
  })

  itSlow('rejects zip bombs, paths outside of the package, and entities before unpacking', () => {
    const big = new Uint8Array(100 * 1024 * 1024)
    const bombs = {
      'a sheet that unpacks to 100 MB': zipSync({ 'xl/worksheets/sheet1.xml': big }),
      'a file outside': zipSync({ '../../etc/passwd': strToU8('x'), 'xl/worksheets/sheet1.xml': strToU8('<row/>') }),
      entities: workbook('<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><sst/>', '<row/>'),
      'no package': strToU8('PK but nothing else'),
      'an empty package': zipSync({}),
      'many files': zipSync(Object.fromEntries(Array.from({ length: 5_001 }, (_, i) => [`f${i}`, new Uint8Array()]))),
    }
    for (const [what, bytes] of Object.entries(bombs)) expect(() => readXlsx(bytes), what).toThrow(UnreadableFile)
  })

  itSlow('counts unpacked bytes instead of declared sizes', () => {
    const lying = zipSync({ 'xl/worksheets/sheet1.xml': new Uint8Array(100 * 1024 * 1024) })
    const view = new DataView(lying.buffer, lying.byteOffset)
    const [SIZE_IN_FRONT, SIZE_AT_THE_END] = [22, 24]
    for (let at = 0; at < lying.length - 30; at++) {
      if (view.getUint32(at, true) === 0x04034b50) view.setUint32(at + SIZE_IN_FRONT, 1_000, true)
      if (view.getUint32(at, true) === 0x02014b50) view.setUint32(at + SIZE_AT_THE_END, 1_000, true)
    }
    expect(() => readXlsx(lying)).toThrow('tooHeavy')
  })

  it('is written without formulas', () => {
    const question = (text: string) => ({
      name: text,
      category: '',
      text,
      isFormatted: false,
      points: 1,
      answer: { as: 'words' as const, accepted: [{ text, share: 100 }] },
    })
    const hostile = ['=1+1', '+1', '-1', '@a', '\tx', "'=1", "'quoted"]
    const rows = writeTable(hostile.map(question))
    for (const cell of rows.flat()) expect(cell).not.toMatch(/^[=+\-@\t\r]/)
    const back = readTable(rowsOf(rows))!.rows
    expect(back.map((read) => 'question' in read && read.question.text)).toEqual(hostile.map((text) => text.trim()))
  })
})

const workbook = (shared: string, rows: string): Uint8Array =>
  zipSync({
    'xl/workbook.xml': strToU8('<workbook><sheets><sheet name="One" sheetId="1" r:id="rId7"/></sheets></workbook>'),
    'xl/_rels/workbook.xml.rels': strToU8(
      '<Relationships><Relationship Id="rId7" Target="worksheets/sheet1.xml"/></Relationships>',
    ),
    'xl/sharedStrings.xml': strToU8(shared),
    'xl/worksheets/sheet1.xml': strToU8(`<worksheet><sheetData>${rows}</sheetData></worksheet>`),
  })

const throughCsv = (questions: NeutralQuestion[]) => readQuestions(Buffer.from(toCsv(writeTable(questions))), 1_000).rows

describe('a text in CSV', () => {
  const open = (text: string): NeutralQuestion => ({
    name: text,
    category: text.replaceAll(/[/>]/g, ' ').trim(),
    text,
    isFormatted: false,
    points: 1,
    answer: {
      as: 'options',
      several: false,
      options: [
        { text, share: 100 },
        { text: 'Other', share: 0 },
      ],
    },
  })

  it.each([
    'Which is true?\n\n- it is red\n- it is blue',
    '- red\n- blue',
    '=1+1',
    '+1; -1',
    '@a\n@b',
    "'=1",
    "''quoted'",
    "a;'=1",
    "a\n''\n - 'b'",
    'a\t=1',
    '"=1"; "+2"',
    '＝1\n＋2',
    '\u200b=1',
  ])('survives export and import: %j', (text) => {
    expect(throughCsv([open(text)])).toMatchObject([{ question: open(text) }])
  })

  it('survives export and import with random content', () =>
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...'a\'";\n\t\r=+-@＝, \u200b'), { minLength: 1, maxLength: 12 }), (signs) => {
        const text = `${signs.join('')}x`.trim()
        return (throughCsv([{ ...open(text), category: '' }]) as { question: NeutralQuestion }[])[0]!.question.text === text
      }),
      { numRuns: scaled(200, 2_000) },
    ))

  it.each(['5; -5', '-5; -6 50%', '-1..1; +2', '5 ± 0.1; -5 ± 0.1'])('keeps the numbers %s', (right) => {
    const [read] = readTable(
      rowsOf([
        ['kind', 'text', 'right'],
        ['number', 'Which?', right.replace('+', '')],
      ]),
    )!.rows
    const { question } = read as { question: NeutralQuestion }
    expect(throughCsv([question])).toMatchObject([{ question }])
  })
})

describe('an export with a later import', () => {
  const contents = [
    ...readTable(rowsOf(SHEET.slice(0, 9)))!.rows,
    ...readGift('Odd\\: \\{signs\\} \\~ \\= \\# \\\\ "x"?\\n\\nTwo{=a \\= b ~%25%c \\~ d ~e}'),
    ...readGift(`Many{${Array.from({ length: 12 }, (_, i) => `=a \\= ${i} -> b -> ${i}`).join('\n')}\n= -> fits \\# none}`),
  ]
    .filter((read) => 'question' in read)
    .map(contentOf)
  const given = contents.map((content, i) =>
    exportQuestion(content, { name: `Question ${i}: {x}`, category: i % 2 ? 'A / B' : '' }),
  )
  const hashes = contents.map((content) => Buffer.from(hashContent(content)).toString('hex'))
  const again = (read: ParsedQuestion[]) => read.map((one) => Buffer.from(hashContent(contentOf(one))).toString('hex'))

  it.each([
    ['GIFT', () => readGift(writeGift(given.map(({ question }) => question)))],
    ['a sheet', () => readTable(rowsOf(writeTable(given.map(({ question }) => question))))!.rows],
    ['CSV', () => throughCsv(given.map(({ question }) => question))],
    ['a workbook', () => readTable(readXlsx(writeXlsx(writeTable(given.map(({ question }) => question)))).rows)!.rows],
  ])('keeps questions equal through %s', (_, write) => {
    const read = write()
    expect(again(read)).toEqual(hashes)
    expect(read.map((one) => 'question' in one && one.question.name)).toEqual(given.map(({ question }) => question.name))
    expect(read.map((one) => 'question' in one && one.question.category)).toEqual(given.map(({ question }) => question.category))
  })
})
