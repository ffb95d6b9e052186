import { describe, expect, it } from 'vitest'
import { shortText } from '../../../src/kinds/short-text/rules.ts'

type Loose = { case?: boolean; accents?: boolean; punctuation?: boolean }
const keyOf = (accepted: string[], exact: Loose = {}, otherwise = 'wrong') => ({
  accepted: accepted.map((text, i) => ({ text, share: i === 0 ? 100 : 50 })),
  exact: { case: false, accents: false, punctuation: false, ...exact },
  otherwise,
})
const got = (text: string, key: unknown) => {
  const score = shortText.score({ lines: 1 }, key, text)
  return score.state === 'scored' ? score.got : score.state
}

describe('a short text', () => {
  it.each<[text: string, accepted: string[], share: number, exact?: Loose]>([
    ['Paris', ['Paris'], 100],
    [' paris ', ['Paris'], 100],
    ['paris', ['Paris'], 0, { case: true }],
    ['Lyon', ['Paris', 'Lyon'], 50],
    ['new   york', ['New York'], 100],
    ['New\u00a0York', ['New York'], 100],
    ['cafe\u0301', ['caf\u00e9'], 100, { accents: true }],
    ['cafe', ['caf\u00e9'], 100],
    ['cafe', ['caf\u00e9'], 0, { accents: true }],
    ['don\u2019t', ["don't"], 100, { punctuation: true }],
    ['\u201cyes\u201d', ['"yes"'], 100, { punctuation: true }],
    ['well\u2014known', ['well-known'], 100, { punctuation: true }],
    ['Paris.', ['Paris'], 100],
    ['Paris.', ['Paris'], 0, { punctuation: true }],
    ['\uff30aris', ['Paris'], 100],
    ['the capital is Paris, of course', ['*Paris*'], 100],
    ['Parisian', ['Paris*'], 100],
    ['Paris', ['*Paris*'], 100],
    ['abcabc', ['a*b*c'], 100],
    ['ab', ['ab*b'], 0],
    ['aba', ['ab*ba'], 0],
    ['', ['*'], 0],
    ['', ['Paris'], 0],
  ])('%j of %j gives %d', (text, accepted, share, exact) => expect(got(text, keyOf(accepted, exact))).toBe(share))

  it('leaves to people what is not accepted, where its author says so, but no blank', () => {
    const key = keyOf(['Paris'], {}, 'people')
    expect([got('Lyon', key), got(' ', key), got('Paris', key)]).toEqual(['people', 0, 100])
  })

  it('names both of two texts that are compared alike', () => {
    expect(shortText.faults('short_text', { lines: 1 }, keyOf(['Café', 'cafe!']))).toEqual([
      { field: 'key.accepted.1.text', text: 'It is compared as “Café” is.' },
    ])
    expect(shortText.faults('short_text', { lines: 1 }, keyOf(['Café', 'cafe!'], { accents: true }))).toEqual([])
  })

  it('refuses what would accept anything', () => {
    expect(shortText.faults('short_text', { lines: 1 }, keyOf(['Paris', ' * * ']))).toMatchObject([
      { field: 'key.accepted.1.text' },
    ])
  })

  it('takes no time over what was made to take long', () => {
    const long = `${'a'.repeat(499)}b`
    const started = process.cpuUsage()
    expect(got('a'.repeat(500), keyOf([`${'a*'.repeat(249)}b`, long]))).toBe(0)
    expect(process.cpuUsage(started).user).toBeLessThan(50_000)
  })
})
