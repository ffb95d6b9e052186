import { parse } from 'csv-parse/sync'
import { expect, it } from 'vitest'
import { toCsv } from '../../../src/http/sending/csv.ts'

const LANGUAGES_SEPARATE_BY = [',', ';', '\t']

it.each([
  '=1+1',
  ' =1+1',
  '\u00a0=1+1',
  '\t=1+1',
  '\n=1+1',
  '＝1+1',
  '＋1',
  '－1',
  '＠SUM(1)',
  '@SUM(1)',
  '-1+1',
  '+1',
  '\u200b=1',
  'a;=1+1',
  'a; =1+1',
  'a;"=1+1"',
  'a\t=1+1',
  'a\n=1+1',
  'a\n\n- red\n- blue',
  '5; -5',
  "a;'=1",
  '- red\n- blue',
  'a","=1+1',
])('toCsv writes no cell that a spreadsheet in any country takes for a formula: %j', (text) => {
  const file = toCsv([
    ['name', 'text'],
    ['x', text],
    [text, 'x'],
  ])
  const options = { relax_quotes: true, relax_column_count: true, quote: null } as const
  for (const delimiter of LANGUAGES_SEPARATE_BY) {
    // With commas, the quotes enclose cells. With other delimiters, they are part of the cells.
    const rows: string[][] = parse(file, delimiter === ',' ? { delimiter, bom: true } : { ...options, delimiter })
    for (const cell of rows.flat()) expect(cell.replace(/^["\s\u200b]+/, ''), delimiter).not.toMatch(/^[=+\-@＝＋－＠]/)
  }
})

it.each(['a-b', 'a = b', 'a@b.example', 'one; two', 'A + B', '1;2', 'x\ny', 'it’s'])(
  "toCsv leaves text unchanged that can't be taken for a formula: %j",
  (text) => {
    expect(parse(toCsv([[text]]))).toEqual([[text]])
  },
)
