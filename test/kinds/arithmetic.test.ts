import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sumPoints } from '../../src/domain/submissions/grading/grading-status.ts'
import { penaltyFor, pointsFor } from '../../src/domain/submissions/points.ts'
import { scoreAnswer } from '../../src/domain/submissions/scores.ts'
import { choiceRules } from '../../src/kinds/choice/rules.ts'
import { matchingRules } from '../../src/kinds/matching/rules.ts'
import { numberRules } from '../../src/kinds/number/rules.ts'
import { orderingRules } from '../../src/kinds/ordering/rules.ts'
import { shortTextRules } from '../../src/kinds/short-text/rules.ts'
import { scaled } from '../support/scale.ts'
import { startServiceForFile } from '../support/service.ts'

// Properties of scoring that hold for any question and answer.

const service = await startServiceForFile({ ROLE: 'api' })
const RUNS = { numRuns: scaled(1_000, 10_000) }
const idOf = (i: number) => String.fromCharCode(97 + i).repeat(8)
const someOf = (count: number) => fc.subarray(Array.from({ length: count }, (_, i) => idOf(i)))
const scoreOf = (score: ReturnType<typeof choiceRules.score>) => (score.state === 'scored' ? score : { got: 0, of: 1 })

/** A multiple-choice question with some right options, but not all of them, and an answer with some ticked options. */
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

it('scores multiple choice from 0 to 1: 1 for only the right options, 0 for all, in any order', () => {
  fc.assert(
    fc.property(several, ({ count, right, ticked, points }) => {
      const spec = specOf(count)
      const shuffled = { ...spec, options: spec.options.toReversed() }
      const key = { policy: 'balanced', right }
      const give = (answer: string[], shown = spec) => pointsFor(scoreOf(choiceRules.score(shown, key, answer)), points)
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

it('scores weights between 0 and 1', () => {
  const weighted = fc.record({
    weights: fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 2, maxLength: 20 }),
    ticked: someOf(20),
    points: fc.integer({ min: 0, max: 1_000_000 }),
  })
  fc.assert(
    fc.property(weighted, ({ weights, ticked, points }) => {
      const key = { policy: 'weights', weights: Object.fromEntries(weights.map((weight, i) => [idOf(i), weight])) }
      const given = pointsFor(scoreOf(choiceRules.score(specOf(weights.length), key, ticked)), points)
      expect(given).toBeGreaterThanOrEqual(0)
      expect(given).toBeLessThanOrEqual(points)
    }),
    RUNS,
  )
})

it('scores matching by the share of right prompts, regardless of order and distractors', () => {
  const matched = fc.integer({ min: 2, max: 10 }).chain((count) =>
    fc.record({
      choices: fc.array(fc.nat({ max: 9 }), { minLength: count, maxLength: count }),
      chosen: fc.array(fc.option(fc.nat({ max: 9 })), { minLength: count, maxLength: count }),
      points: fc.integer({ min: 0, max: 1_000_000 }),
    }),
  )
  const named = (from: number, count: number) => Array.from({ length: count }, (_, i) => ({ id: idOf(from + i), text: `${i}` }))
  fc.assert(
    fc.property(matched, ({ choices, chosen, points }) => {
      const spec = { prompts: named(0, choices.length), choices: named(10, 10), shuffle: false }
      const shuffled = { ...spec, prompts: spec.prompts.toReversed(), choices: spec.choices.toReversed() }
      const pairs = Object.fromEntries(choices.map((choice, i) => [idOf(i), idOf(10 + choice)]))
      const answer = Object.fromEntries(chosen.flatMap((choice, i) => (choice === null ? [] : [[idOf(i), idOf(10 + choice)]])))
      const give = (answered: unknown, shown = spec) =>
        pointsFor(scoreOf(matchingRules.score(shown, { pairs }, answered)), points)
      expect(give(pairs)).toBe(points)
      expect(give({})).toBe(0)
      const right = chosen.filter((choice, i) => choice === choices[i]).length
      expect(matchingRules.score(spec, { pairs }, answer)).toMatchObject({ got: right, of: choices.length })
      expect(give(answer, shuffled)).toBe(give(answer))
    }),
    RUNS,
  )
})

it('scores an order by the share of items in their places, in any order of the items in the question', () => {
  const ordered = fc.integer({ min: 2, max: 20 }).chain((count) =>
    fc.record({
      order: fc.shuffledSubarray(
        Array.from({ length: count }, (_, i) => idOf(i)),
        { minLength: count },
      ),
      places: fc.array(fc.option(fc.integer({ min: 1, max: count })), { minLength: count, maxLength: count }),
      points: fc.integer({ min: 0, max: 1_000_000 }),
    }),
  )
  fc.assert(
    fc.property(ordered, ({ order, places, points }) => {
      const spec = { items: places.map((_, i) => ({ id: idOf(i), text: `Item ${i}` })) }
      const shuffled = { items: spec.items.toReversed() }
      const right = Object.fromEntries(order.map((id, i) => [id, i + 1]))
      const answer = Object.fromEntries(places.flatMap((place, i) => (place === null ? [] : [[idOf(i), place]])))
      const give = (answered: unknown, shown = spec) =>
        pointsFor(scoreOf(orderingRules.score(shown, { order }, answered)), points)
      expect(give(right)).toBe(points)
      expect(give({})).toBe(0)
      const got = places.filter((place, i) => place === right[idOf(i)]).length
      expect(orderingRules.score(spec, { order }, answer)).toMatchObject({ got, of: places.length })
      expect(give(answer, shuffled)).toBe(give(answer))
    }),
    RUNS,
  )
})

it('scores a number only if exactly equal, with any number of digits', () => {
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
      expect(numberRules.score({}, key, value)).toMatchObject({ got: 100, of: 100 })
      const isSame = Number(value) === Number(other)
      if (!isSame) expect(numberRules.score({}, key, other)).toMatchObject({ got: 0 })
    }),
    RUNS,
  )
})

it('scores a short text equal to the key as right', () => {
  const comparison = { caseSensitive: true, ignore: { accents: false, punctuation: false } }
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }), fc.string({ maxLength: 80 }), (text, other) => {
      const key = { accepted: [{ text, share: 100 }], ...comparison, otherwise: 'wrong' }
      if (text.trim() !== '' && !text.includes('*')) {
        expect(shortTextRules.score({ lines: 1 }, key, text)).toMatchObject({ got: 100, of: 100 })
      }
      expect(shortTextRules.score({ lines: 1 }, key, other)).toMatchObject({ of: 100 })
    }),
    RUNS,
  )
})

it('rounds points half up to tenths, and gives all points for a full score', () => {
  expect(pointsFor({ got: 1, of: 3 }, 10)).toBe(3.3)
  expect(pointsFor({ got: 1, of: 40 }, 2)).toBe(0.1)
  expect(pointsFor({ got: 1, of: 41 }, 2)).toBe(0)
  expect(pointsFor({ got: 7, of: 7 }, 2_147_483_647)).toBe(2_147_483_647)
})

it('deducts penalties for wrong choices only, and never more than the points', () => {
  const asked = fc.record({
    points: fc.integer({ min: 0, max: 1_000_000 }),
    chosen: fc.constantFrom('right', 'wrong', 'none'),
  })
  const ctx = { deps: service.deps } as Parameters<typeof scoreAnswer>[0]
  const [right, wrong] = [idOf(0), idOf(1)]
  const values = { right: [right], wrong: [wrong], none: null }
  const of = { versionId: 'any', responseType: 'single_choice', spec: specOf(4), key: { policy: 'exact', right: [right] } }
  fc.assert(
    fc.property(fc.array(asked, { maxLength: 30 }), fc.integer({ min: 0, max: 100 }), (questions, penaltyPercent) => {
      const scored = questions.map(({ points, chosen }, i) => {
        const answered = { ...of, effect: 'key' as const, points, penaltyPercent, value: values[chosen] }
        const score = scoreAnswer(ctx, answered)!
        const expected = { right: points, wrong: -penaltyFor(penaltyPercent, points), none: 0 }[chosen]
        expect(score.points).toBeCloseTo(expected, 5)
        for (const effect of ['full', 'none'] as const)
          expect(scoreAnswer(ctx, { ...answered, effect })).toMatchObject({ points: effect === 'full' ? points : null })
        const status = {
          state: 'graded' as const,
          points: score.points!,
          comment: '',
          graderId: null,
          by: 'key' as const,
          levels: [],
        }
        return { number: i + 1, points, status }
      })
      const { points, ofPoints } = sumPoints(scored)
      expect(points).toBeGreaterThanOrEqual(0)
      expect(points).toBeLessThanOrEqual(ofPoints)
      if (questions.every(({ chosen }) => chosen === 'right')) expect(points).toBe(ofPoints)
    }),
    RUNS,
  )
})

it('shuffles each of four options to the first place in about a quarter of 20,000 runs', () => {
  const first = new Map<string, number>()
  for (let i = 0; i < 20_000; i++) {
    const [id] = choiceRules.arrange(specOf(4), (below) => randomInt(below))!
    first.set(id!, (first.get(id!) ?? 0) + 1)
  }
  expect(first.size).toBe(4)
  for (const times of first.values()) {
    expect(times / 20_000).toBeGreaterThanOrEqual(0.23)
    expect(times / 20_000).toBeLessThanOrEqual(0.27)
  }
})
