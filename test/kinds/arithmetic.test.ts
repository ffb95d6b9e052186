import fc from 'fast-check'
import { expect, it } from 'vitest'
import { pointsFor } from '../../src/domain/values/points-for.ts'
import { choice } from '../../src/kinds/choice/rules.ts'
import { number } from '../../src/kinds/number/rules.ts'
import { shortText } from '../../src/kinds/short-text/rules.ts'

// What holds whatever is asked and answered.

const RUNS = { numRuns: 10_000 }
const idOf = (i: number) => String.fromCharCode(97 + i).repeat(8)
const someOf = (count: number) => fc.subarray(Array.from({ length: count }, (_, i) => idOf(i)))
const scoreOf = (score: ReturnType<typeof choice.score>) => (score.state === 'scored' ? score : { got: 0, of: 1 })

/** A question of several choices, the right ones of which are neither none nor all, and some that are ticked. */
const several = fc.integer({ min: 2, max: 20 }).chain((count) =>
  fc.record({
    count: fc.constant(count),
    right: someOf(count).filter(({ length }) => length > 0 && length < count),
    ticked: someOf(count),
    points: fc.integer({ min: 0, max: 1_000_000 }),
  }),
)
const specOf = (count: number) => ({
  options: Array.from({ length: count }, (_, i) => ({ id: idOf(i), text: `Option ${i}` })),
  shuffle: true,
})

it('gives of several choices a share from 0 to 1: all for what is right alone, none for ticking all, whatever the order', () => {
  fc.assert(
    fc.property(several, ({ count, right, ticked, points }) => {
      const spec = specOf(count)
      const shuffled = { ...spec, options: spec.options.toReversed() }
      const key = { policy: 'balanced', right }
      const give = (answer: string[], shown = spec) => pointsFor(scoreOf(choice.score(shown, key, answer)), points)
      expect(give(right)).toBe(points)
      expect(give(spec.options.map(({ id }) => id))).toBe(0)
      expect(give([])).toBe(0)
      const given = give(ticked)
      expect(given).toBeGreaterThanOrEqual(0)
      expect(given).toBeLessThanOrEqual(points)
      expect(give(ticked.toReversed(), shuffled)).toBe(given)
    }),
    RUNS,
  )
})

it('gives of weights never less than nothing and never more than all', () => {
  const weighted = fc.record({
    weights: fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 2, maxLength: 20 }),
    ticked: someOf(20),
    points: fc.integer({ min: 0, max: 1_000_000 }),
  })
  fc.assert(
    fc.property(weighted, ({ weights, ticked, points }) => {
      const key = { policy: 'weights', weights: Object.fromEntries(weights.map((weight, i) => [idOf(i), weight])) }
      const given = pointsFor(scoreOf(choice.score(specOf(weights.length), key, ticked)), points)
      expect(given).toBeGreaterThanOrEqual(0)
      expect(given).toBeLessThanOrEqual(points)
    }),
    RUNS,
  )
})

it('takes each number as it was written, and no other of as many digits', () => {
  const decimal = fc
    .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.integer({ min: 0, max: 20 }))
    .map(([digits, scale]) => {
      const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0')
      const at = text.length - scale
      return `${digits < 0n ? '-' : ''}${text.slice(0, at)}${scale > 0 ? `.${text.slice(at)}` : ''}`
    })
  fc.assert(
    fc.property(decimal, decimal, (value, other) => {
      const key = { answers: [{ value, share: 100 }] }
      expect(number.score({}, key, value)).toMatchObject({ got: 100, of: 100 })
      const isSame = Number(value) === Number(other)
      if (!isSame) expect(number.score({}, key, other)).toMatchObject({ got: 0 })
    }),
    RUNS,
  )
})

it('takes of a short text what was written as its key, whatever that is', () => {
  const exact = { case: true, accents: true, punctuation: true }
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }), fc.string({ maxLength: 80 }), (text, other) => {
      const key = { accepted: [{ text, share: 100 }], exact, otherwise: 'wrong' }
      if (text.trim() !== '' && !text.includes('*')) {
        expect(shortText.score({ lines: 1 }, key, text)).toMatchObject({ got: 100, of: 100 })
      }
      expect(shortText.score({ lines: 1 }, key, other)).toMatchObject({ of: 100 })
    }),
    RUNS,
  )
})

it('rounds to tenths, half up, and gives all points for all of it', () => {
  expect(pointsFor({ got: 1, of: 3 }, 10)).toBe(3.3)
  expect(pointsFor({ got: 1, of: 40 }, 2)).toBe(0.1)
  expect(pointsFor({ got: 1, of: 41 }, 2)).toBe(0)
  expect(pointsFor({ got: 7, of: 7 }, 2_147_483_647)).toBe(2_147_483_647)
})
