import { describe, expect, it } from 'vitest'
import { MAX_ANSWER_LENGTH } from '../../../src/domain/limits.ts'
import { readDefinition } from '../../../src/kinds/authors.ts'
import { matchingAuthor } from '../../../src/kinds/matching/author.ts'
import { examples } from '../../../src/kinds/matching/example.ts'
import { matchingRules } from '../../../src/kinds/matching/rules.ts'

const idOf = (letter: string) => letter.repeat(8)
const named = (letters: string) => [...letters].map((letter) => ({ id: idOf(letter), text: `Text ${letter}` }))
const specOf = (prompts: string, choices: string, shuffle = false) => ({
  prompts: named(prompts),
  choices: named(choices),
  shuffle,
})
/** `ax by`: choice x for prompt a, choice y for prompt b. */
const pairsOf = (pairs: string) =>
  Object.fromEntries(
    pairs
      .split(' ')
      .filter(Boolean)
      .map(([prompt, choice]) => [idOf(prompt!), idOf(choice!)]),
  )
type Made = { spec: { choices: { id: string; text: string }[] }; key: { pairs: Record<string, string> } }
const keyOf = (pairs: string) => ({ pairs: pairsOf(pairs) })

describe('a matching answer', () => {
  const spec = specOf('abcd', 'xyz')
  const key = keyOf('ax by cx dz')

  it.each([
    ['ax by cx dz', 4],
    ['dz cx by ax', 4],
    ['ax by', 2],
    ['ay bx cy dx', 0],
    ['ax bx cx dx', 2],
    ['', 0],
  ])('scores %j as %d of 4', (pairs, got) => expect(matchingRules.score(spec, key, pairsOf(pairs))).toMatchObject({ got, of: 4 }))

  it('has a verdict for each prompt', () => {
    expect(matchingRules.score(spec, key, pairsOf('ax bz'))).toMatchObject({
      parts: [
        { id: idOf('a'), verdict: 'right' },
        { id: idOf('b'), verdict: 'wrong' },
        { id: idOf('c'), verdict: 'missed' },
        { id: idOf('d'), verdict: 'missed' },
      ],
    })
  })

  it('is valid only with prompts and choices of the question', () => {
    const takes = (answer: unknown) => matchingRules.isAnswer('matching', spec, answer)
    expect(takes(pairsOf('ax'))).toBe(true)
    for (const pairs of ['xa', 'qx', 'aq', 'ab']) expect(takes(pairsOf(pairs)), pairs).toBe(false)
    expect(takes([idOf('a')])).toBe(false)
  })

  it('is read from the lists of a form, without the untouched ones', () => {
    const fields = ['', `${idOf('b')}.${idOf('y')}`, '']
    expect(matchingRules.fromForm(fields)).toEqual(pairsOf('by'))
    for (const odd of ['nopoint', 'aaaaaaaa.', '.xxxxxxxx', '__proto__.xxxxxxxx'])
      expect(matchingRules.isAnswer('matching', spec, matchingRules.fromForm([odd])), odd).toBe(false)
  })

  it('is described by a line for each prompt, and understood from it', () => {
    const words = matchingRules.describe(spec, pairsOf('dz ax'))
    expect(words).toBe('Text a → Text x\nText d → Text z')
    expect(matchingRules.understand(spec, words)).toEqual(pairsOf('ax dz'))
    expect(matchingRules.understand(spec, 'Text a is x')).toBeUndefined()
  })

  it('is understood with other white space and quotes', () => {
    const written = structuredClone(spec)
    written.prompts[0]!.text = 'The area of a square\nwith sides of ½ m'
    written.choices[0]!.text = 'x² – “½”'
    const words = matchingRules.describe(written, pairsOf('ax'))
    expect(words).toBe('The area of a square with sides of ½ m → x² – “½”')
    for (const typed of [words, 'The area of a  square with sides of ½ m → x2 - "½"'])
      expect(matchingRules.understand(written, typed)).toEqual(pairsOf('ax'))
  })
})

it('shuffles prompts and choices separately if enabled', () => {
  const last = (below: number) => below - 1
  expect(matchingRules.arrange(specOf('ab', 'xyz'), last)).toBeNull()
  const firsts = new Set<string>()
  for (let i = 0; i < 200; i++) {
    const order = matchingRules.arrange(specOf('ab', 'xyz', true), (below) => i % below)!
    expect(order.slice(0, 2).sort()).toEqual(['a', 'b'].map(idOf))
    expect(order.slice(2).sort()).toEqual(['x', 'y', 'z'].map(idOf))
    firsts.add(order[0]!)
    firsts.add(order[2]!)
  }
  expect(firsts.size).toBeGreaterThan(3)
})

describe('a matching definition', () => {
  it.each([
    ['if a prompt has no choice', specOf('ab', 'xy'), keyOf('ax'), `key.pairs.${idOf('b')}`],
    ['if a pair has an unknown choice', specOf('ab', 'xy'), keyOf('ax bq'), `key.pairs.${idOf('b')}`],
    ['if the key has more prompts', specOf('ab', 'xy'), keyOf('ax by cx'), 'key.pairs'],
    ['if a prompt and a choice have the same ID', specOf('ab', 'ax'), keyOf('aa bx'), 'spec'],
    ['with one prompt', specOf('a', 'xy'), keyOf('ax'), 'spec.prompts'],
    ['with one choice', specOf('ab', 'x'), keyOf('ax bx'), 'spec.choices'],
    [
      'with too many rows',
      specOf('abcdefghijkl', 'mnopqrstuvwxyz'),
      keyOf([...'abcdefghijkl'].map((id) => `${id}m`).join(' ')),
      'spec',
    ],
  ])('is rejected %s', (_, spec, key, field) =>
    expect(matchingRules.faults('matching', spec, key).map((fault) => fault.field)).toContain(field),
  )

  it.each(['prompts', 'choices'] as const)('is rejected with two %s of the same text', (part) => {
    const spec = specOf('ab', 'xy')
    spec[part][1]!.text = ` ${spec[part][0]!.text.replace(' ', '  ')} `
    expect(matchingRules.faults('matching', spec, keyOf('ax by'))).toMatchObject([{ field: `spec.${part}.1.text` }])
  })
})

it('rejects a matching definition only if its longest answer exceeds the limit', () => {
  const letters = 'abcdefghijklmnopqrst'
  const key = keyOf([...letters].map((id) => `${id}${id === 'a' ? 'y' : 'z'}`).join(' '))
  const specWith = (characters: number) => ({
    prompts: named(letters).map(({ id }) => ({ id, text: `${id}${'𝟜'.repeat(488)}` })),
    choices: [
      { id: idOf('y'), text: 'short' },
      { id: idOf('z'), text: 'z'.repeat(characters) },
    ],
    shuffle: false,
  })
  const longest = Object.fromEntries([...letters].map((id) => [idOf(id), idOf('z')]))
  const faultsFor = (characters: number) => matchingRules.faults('matching', specWith(characters), key)
  const lengthOf = (characters: number) => [...matchingRules.describe(specWith(characters), longest)].length
  expect([faultsFor(500), lengthOf(500)]).toEqual([[], 19_999])
  expect([faultsFor(501).map(({ field }) => field), lengthOf(501) > MAX_ANSWER_LENGTH]).toEqual([['spec'], true])
  const values = matchingAuthor.print(specWith(501), key, () => 3)
  const { faults } = readDefinition('matching', values)
  expect(faults).toMatchObject([
    { field: 'pairs', text: expect.stringMatching(/^An answer can be longer than 20,000 characters/) },
  ])
})

describe('the matching author form', () => {
  const [{ spec, key }] = examples as [(typeof examples)[0]]
  const printed = () => matchingAuthor.print(spec, key, () => 3)

  it('reads the definition that it was printed from', () => {
    expect(matchingAuthor.read('matching', printed())).toMatchObject({ spec, key, faults: [] })
  })

  it('keeps IDs of unchanged choices, merges equal texts, and hides the key in IDs and order', () => {
    const values = printed()
    const [norway, sweden] = Object.keys((key as { pairs: object }).pairs) as [string, string]
    values.set(`fits-${sweden}`, ' Oslo ')
    values.append('row', 'zzzzzzzz')
    values.set('text-zzzzzzzz', 'Denmark')
    values.set('fits-zzzzzzzz', 'Copenhagen')
    const { spec: read, key: right } = matchingAuthor.read('matching', values) as Made
    expect(right.pairs[norway]).toBe('rdjguyns')
    expect(right.pairs[sweden]).toBe('rdjguyns')
    expect(read.choices.map(({ text }) => text)).toEqual(['Copenhagen', 'Helsinki', 'Oslo'])
    const other = new URLSearchParams(values.toString().replaceAll('zzzzzzzz', 'yyyyyyyy'))
    const again = matchingAuthor.read('matching', other) as Made
    expect(again.spec.choices).toEqual(read.choices)
  })
})
