import { describe, expect, it } from 'vitest'
import { exampleAnswers } from '../../../src/kinds/short-text/example-answers.ts'
import { shortTextRules } from '../../../src/kinds/short-text/rules.ts'

type Options = { caseSensitive?: boolean; accents?: boolean; punctuation?: boolean }
const keyOf = (
  accepted: string[],
  { caseSensitive = false, accents = false, punctuation = false }: Options = {},
  otherwise: 'wrong' | 'people' = 'wrong',
) => ({
  accepted: accepted.map((text, i) => ({ text, share: i === 0 ? 100 : 50 })),
  caseSensitive,
  ignore: { accents, punctuation },
  otherwise,
})
const got = (text: string, key: unknown) => {
  const score = shortTextRules.score({ lines: 1 }, key, text)
  return score.state === 'scored' ? score.got : score.state
}

// The columns are: neither option, `accents` ignored, `punctuation` ignored, both ignored.
type Row = [key: string, answer: string, isAccepted: { neither: boolean; accents: boolean; punctuation: boolean; both: boolean }]
const ALWAYS = { neither: true, accents: true, punctuation: true, both: true }
const NEVER = { neither: false, accents: false, punctuation: false, both: false }
const WITH_ACCENTS = { ...NEVER, accents: true, both: true }
const WITH_PUNCTUATION = { ...NEVER, punctuation: true, both: true }
const WITH_BOTH = { ...NEVER, both: true }

const SCRIPTS: Record<string, Row[]> = {
  Latin: [
    ['Paris', ' PARIS ', ALWAYS],
    ['New York', 'new\u00a0  york', ALWAYS],
    ['New York', 'newyork', NEVER],
    ['Straße', 'STRASSE', ALWAYS],
    ['Straße', 'Strase', NEVER],
    ['caf\u00e9', 'cafe\u0301', ALWAYS],
    ['caf\u00e9', 'cafe', WITH_ACCENTS],
    ['Łódź', 'lodz', WITH_ACCENTS],
    ['Phở', 'pho', WITH_ACCENTS],
    ['İzmir', 'izmir', WITH_ACCENTS],
    ['kızıl', 'KIZIL', WITH_ACCENTS],
    ['Åse', 'A\u030ase', ALWAYS],
    ['Ærø', 'ae ro', NEVER],
    ["don't", 'don’t', ALWAYS],
    ['"yes"', '“yes”', ALWAYS],
    ['"oui"', '«oui»', ALWAYS],
    ["don't", 'dont', WITH_PUNCTUATION],
    ['"yes"', 'yes', WITH_PUNCTUATION],
    ['well-known', 'well\u2014known', ALWAYS],
    ['well-known', 'well known', NEVER],
    ['Paris', 'Paris.', WITH_PUNCTUATION],
    ['Paris, France', '(Paris) France!', WITH_PUNCTUATION],
    ['café', '"Cafe".', WITH_BOTH],
    ['¿Qué tal?', 'qué tal', WITH_PUNCTUATION],
    ['ﬁn', 'fin', ALWAYS],
  ],
  'Signs with a meaning': [
    ['C#', 'c#', ALWAYS],
    ['C#', 'C', NEVER],
    ['C', 'C++', NEVER],
    ['.NET', '.net', ALWAYS],
    ['.NET', 'net', NEVER],
    ['-5', '5', NEVER],
    ['-5', '\u22125', ALWAYS],
    ['50%', '50', NEVER],
    ['AT&T', 'ATT', NEVER],
    ['3/4', '34', NEVER],
    ['3/4', '3 4', NEVER],
    ['3.14', '314', NEVER],
    ['3.14', '3.14.', WITH_PUNCTUATION],
    ['x²', 'x2', NEVER],
    ['½', '1/2', NEVER],
    ['a_b', 'ab', NEVER],
    ['#fff', 'fff', NEVER],
    ['€5', '5', NEVER],
    ['a@b.example', 'ab.example', NEVER],
    ['`ls`', "'ls'", NEVER],
  ],
  Greek: [
    ['Οδυσσέας', 'ΟΔΥΣΣΈΑΣ', ALWAYS],
    ['Οδυσσέας', 'ΟΔΥΣΣΕΑΣ', WITH_ACCENTS],
    ['ναΐ', 'ναι', WITH_ACCENTS],
    ['μ', '\u00b5', ALWAYS],
  ],
  Cyrillic: [
    ['Москва', 'МОСКВА', ALWAYS],
    ['ёлка', 'елка', WITH_ACCENTS],
    ['ёлка', 'е\u0308лка', ALWAYS],
    ['йод', 'иод', NEVER],
    ['їжак', 'іжак', NEVER],
    ["м'ята", 'м’ята', ALWAYS],
  ],
  Devanagari: [
    ['दिन', 'दिन', ALWAYS],
    ['दिन', 'दान', NEVER],
    ['दिन', 'दन', NEVER],
    ['दिन', 'दिन।', WITH_PUNCTUATION],
    ['\u0958', '\u0915\u093c', ALWAYS],
  ],
  'Japanese (kana, Han)': [
    ['かぎ', 'かき', NEVER],
    ['かぎ', 'かき\u3099', ALWAYS],
    ['ガラス', 'ｶﾞﾗｽ', ALWAYS],
    ['ガラス', 'カラス', NEVER],
    ['東京', '東京。', WITH_PUNCTUATION],
    ['東京', '「東京」', WITH_PUNCTUATION],
    ['はい、そうです', 'はいそうです', WITH_PUNCTUATION],
    ['Tokyo 2', 'Ｔｏｋｙｏ\u3000２', ALWAYS],
    ['２０％', '20%', ALWAYS],
  ],
  Arabic: [
    ['كتاب', 'كتاب', ALWAYS],
    ['كِتاب', 'كتاب', NEVER],
    ['مدرسة', 'مدرسه', NEVER],
    ['نعم', 'نعم؟', WITH_PUNCTUATION],
    ['٣', '3', NEVER],
  ],
  Hebrew: [
    ['שלום', 'שלום', ALWAYS],
    ['שָׁלוֹם', 'שלום', NEVER],
    ['שלום', 'שלום!', WITH_PUNCTUATION],
  ],
  Hangul: [
    ['한글', '\u1112\u1161\u11ab\u1100\u1173\u11af', ALWAYS],
    ['한글', '한굴', NEVER],
  ],
  Thai: [
    ['น้ำ', 'น้ำ', ALWAYS],
    ['น้ำ', 'นำ', NEVER],
    ['ไก่', 'ไก', NEVER],
  ],
  Tamil: [
    ['கி', 'க', NEVER],
    ['கொ', 'க\u0bc6\u0bbe', ALWAYS],
  ],
}

describe('the short-text scoring', () => {
  describe.each(Object.entries(SCRIPTS))('in %s', (_, rows) => {
    it.each(rows)('compares the key %j with the answer %j', (key, answer, isAccepted) => {
      const accepts = (options: Options) => got(answer, keyOf([key], options)) === 100
      expect({
        neither: accepts({}),
        accents: accepts({ accents: true }),
        punctuation: accepts({ punctuation: true }),
        both: accepts({ accents: true, punctuation: true }),
      }).toEqual(isAccepted)
    })
  })

  it.each<[text: string, accepted: string[], share: number, options?: Options]>([
    ['Lyon', ['Paris', 'Lyon'], 50],
    ['paris', ['Paris'], 0, { caseSensitive: true }],
    ['ÉCOLE', ['Ecole'], 0, { caseSensitive: true, accents: true }],
    ['École', ['Ecole'], 100, { caseSensitive: true, accents: true }],
    ['the capital is Paris, of course', ['*Paris*'], 100],
    ['Parisian', ['Paris*'], 100],
    ['Paris', ['*Paris*'], 100],
    ['colour', ['colo*r'], 100],
    ['etc., and more', ['etc.*'], 100, { punctuation: true }],
    ['abcabc', ['a*b*c'], 100],
    ['ab', ['ab*b'], 0],
    ['aba', ['ab*ba'], 0],
    ['', ['*'], 0],
    ['', ['Paris'], 0],
  ])('gives %j for %j %d percent', (text, accepted, share, options) => expect(got(text, keyOf(accepted, options))).toBe(share))

  it('leaves other answers to graders if configured, except blank ones', () => {
    const key = keyOf(['Paris'], {}, 'people')
    expect([got('Lyon', key), got(' ', key), got('Paris', key)]).toEqual(['people', 0, 100])
  })

  it('rejects two accepted texts that are equal in comparison', () => {
    const refused = [{ field: 'key.accepted.1.text', text: 'It is compared as “Café” is.' }]
    const faults = (options?: Options) => shortTextRules.faults('short_text', { lines: 1 }, keyOf(['Café', 'cafe!'], options))
    expect(faults({ accents: true, punctuation: true })).toEqual(refused)
    expect(faults({ accents: true })).toEqual([])
  })

  it('rejects a key that would accept any text', () => {
    const faults = (text: string, options?: Options) =>
      shortTextRules.faults('short_text', { lines: 1 }, keyOf(['Paris', text], options))
    expect(faults(' * * ')).toMatchObject([{ field: 'key.accepted.1.text' }])
    expect(faults('?', { punctuation: true })).toMatchObject([{ field: 'key.accepted.1.text' }])
    expect(faults('?')).toEqual([])
  })

  it('is fast for adversarial texts', () => {
    const long = `${'a'.repeat(499)}b`
    const started = process.cpuUsage()
    expect(got('a'.repeat(500), keyOf([`${'a*'.repeat(249)}b`, long]))).toBe(0)
    expect(process.cpuUsage(started).user).toBeLessThan(50_000)
  })
})

describe('the example answers', () => {
  it.each(['Paris', 'C#', 'caf\u00e9', 'दिन', '5', '?', 'Rom*', '*a*', '12', '한글', 'שלום'])(
    'include three accepted and three rejected ones for %j, with any options',
    (text) => {
      for (const caseSensitive of [false, true])
        for (const accents of [false, true])
          for (const punctuation of [false, true]) {
            const key = keyOf([text], { caseSensitive, accents, punctuation })
            if (shortTextRules.faults('short_text', { lines: 1 }, key).length > 0) continue
            const { accepted, rejected } = exampleAnswers(key)
            expect(new Set(accepted.map((answer) => answer.text)).size, 'accepted').toBe(3)
            expect(new Set(rejected.map((answer) => answer.text)).size, 'rejected').toBe(3)
            expect(accepted.map((answer) => got(answer.text, key))).toEqual([100, 100, 100])
            expect(rejected.map((answer) => got(answer.text, key))).toEqual([0, 0, 0])
          }
    },
  )
})
