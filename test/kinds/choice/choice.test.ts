import { randomInt } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { choiceRules } from '../../../src/kinds/choice/rules.ts'

const idOf = (letter: string) => letter.repeat(8)
const specOf = (letters: string, more: object = {}) => ({
  options: [...letters].map((letter) => ({ id: idOf(letter), text: `Option ${letter}` })),
  shuffle: false,
  ...more,
})
const ids = (letters: string) => [...letters].map(idOf)
const got = (key: unknown, ticked: string) => {
  const score = choiceRules.score(specOf('abcd'), key, ids(ticked))
  return score.state === 'scored' ? score.got / score.of : score.state
}

describe('a single choice', () => {
  const exact = { policy: 'exact', right: ids('b') }
  it.each([
    ['b', 1],
    ['a', 0],
    ['', 0],
  ])('scores %s as %d', (ticked, share) => expect(got(exact, ticked)).toBe(share))

  it('may give a share for another option', () => {
    const weights = { policy: 'weights', weights: { [idOf('a')]: 100, [idOf('b')]: 30 } }
    expect(['a', 'b', 'c'].map((ticked) => got(weights, ticked))).toEqual([1, 0.3, 0])
  })
})

describe('a multiple choice', () => {
  it.each([
    ['balanced', 'ab', 1],
    ['balanced', 'a', 0.5],
    ['balanced', 'ac', 0],
    ['balanced', 'abc', 0.5],
    ['balanced', 'abcd', 0],
    ['balanced', 'cd', 0],
    ['balanced', '', 0],
    ['exact', 'ab', 1],
    ['exact', 'abc', 0],
    ['exact', 'a', 0],
  ])('uses the policy %s to score %s as %d', (policy, ticked, share) =>
    expect(got({ policy, right: ids('ab') }, ticked)).toBe(share),
  )

  it('limits the sum of weights to 0 to 100 percent', () => {
    const weights = { policy: 'weights', weights: { [idOf('a')]: 60, [idOf('b')]: 40, [idOf('c')]: -50 } }
    expect(['ab', 'a', 'ac', 'c', 'abc', 'd'].map((ticked) => got(weights, ticked))).toEqual([1, 0.6, 0.1, 0, 0.5, 0])
  })

  it('has a verdict for each option', () => {
    const score = choiceRules.score(specOf('abcd'), { policy: 'exact', right: ids('ab') }, ids('bc'))
    expect(score).toMatchObject({
      parts: [{ verdict: 'missed' }, { verdict: 'right' }, { verdict: 'wrong' }, { verdict: 'left' }],
    })
  })

  it('rejects too many ticks and unknown options', () => {
    expect(choiceRules.isAnswer('multiple_choice', specOf('abcd', { most: 2 }), ids('ab'))).toBe(true)
    expect(choiceRules.isAnswer('multiple_choice', specOf('abcd', { most: 2 }), ids('abc'))).toBe(false)
    expect(choiceRules.isAnswer('multiple_choice', specOf('abcd'), ids('ax'))).toBe(false)
    expect(choiceRules.isAnswer('multiple_choice', specOf('abcd'), [idOf('a'), idOf('a')])).toBe(false)
    expect(choiceRules.isAnswer('multiple_choice', specOf('abcd'), 'aaaaaaaa')).toBe(false)
  })
})

describe('a choice definition', () => {
  const exact = (letters: string) => ({ policy: 'exact', right: ids(letters) })
  it.each([
    ['without a right option', 'single_choice', specOf('ab'), exact(''), 'key.right'],
    ['with two right options for a single choice', 'single_choice', specOf('ab'), exact('ab'), 'key.right'],
    [
      'with the balanced policy for a single choice',
      'single_choice',
      specOf('ab'),
      { policy: 'balanced', right: ids('a') },
      'key.policy',
    ],
    ['without a best option', 'single_choice', specOf('ab'), { policy: 'weights', weights: { [idOf('a')]: 50 } }, 'key.weights'],
    ['with an unknown right option', 'single_choice', specOf('ab'), exact('x'), 'key'],
    ['without any right option for a multiple choice', 'multiple_choice', specOf('ab'), exact(''), 'key'],
    ['if ticking all options is right', 'multiple_choice', specOf('ab'), { policy: 'balanced', right: ids('ab') }, 'key.right'],
    [
      'with weights of another sum',
      'multiple_choice',
      specOf('ab'),
      { policy: 'weights', weights: { [idOf('a')]: 90 } },
      'key.weights',
    ],
    ["if the right answer can't be ticked", 'multiple_choice', specOf('abc', { most: 1 }), exact('ab'), 'spec.most'],
    ['with one option', 'multiple_choice', specOf('a'), exact('a'), 'spec.options'],
    [
      "with IDs that aren't random letters",
      'single_choice',
      {
        options: [
          { id: '1', text: 'x' },
          { id: '2', text: 'y' },
        ],
        shuffle: false,
      },
      exact('a'),
      'spec.options.0.id',
    ],
  ])('is rejected %s', (_, word, spec, key, field) => {
    expect(choiceRules.faults(word, spec, key).map((fault) => fault.field)).toContain(field)
  })

  it('is rejected with two options of the same text', () => {
    const spec = {
      options: [
        { id: idOf('a'), text: 'Yes' },
        { id: idOf('b'), text: ' Yes ' },
      ],
      shuffle: false,
    }
    expect(choiceRules.faults('single_choice', spec, exact('a'))).toEqual([
      { field: 'spec.options.1.text', text: 'Two options say the same.' },
    ])
  })
})

describe('the order of options', () => {
  const spec = specOf('abcde', { shuffle: true })
  const withLast = { ...spec, options: spec.options.map((option, i) => ({ ...option, fixed: i === 4 })) }

  it("stays the author's without shuffling", () => expect(choiceRules.arrange(specOf('abc'), randomInt)).toBeNull())

  it('keeps fixed options in place, and shuffles the others uniformly', () => {
    const firsts = Array.from({ length: 20_000 }, () => {
      const order = choiceRules.arrange(withLast, (below) => randomInt(below))!
      expect(order.at(-1)).toBe(idOf('e'))
      return order[0]!
    })
    const counts = Map.groupBy(firsts, (id) => id)
    expect([...counts.keys()].sort()).toEqual(ids('abcd'))
    for (const times of counts.values()) {
      expect(times.length / firsts.length).toBeGreaterThan(0.23)
      expect(times.length / firsts.length).toBeLessThan(0.27)
    }
  })
})
