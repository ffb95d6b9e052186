import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  correlate,
  discriminationOf,
  MIN_RESULTS,
  medianOf,
  reliabilityOf,
  type ScoredResult,
  thirdsOf,
} from '../../../../src/domain/submissions/grading/item-analysis.ts'

const toResults = (rows: readonly (readonly number[])[]): ScoredResult[] =>
  rows.map((row, i) => ({ id: `r${i}`, shares: new Map(row.map((share, j) => [`q${j}`, share])) }))

/** Pearson correlation by the textbook formula: (n Σxy − Σx Σy) / √((n Σx² − (Σx)²) (n Σy² − (Σy)²)). */
function plainCorrelation(pairs: readonly (readonly [number, number])[]): number {
  const n = pairs.length
  const sum = (of: (pair: readonly [number, number]) => number) => pairs.reduce((total, pair) => total + of(pair), 0)
  const [x, y] = [sum(([a]) => a), sum(([, b]) => b)]
  const side = (squares: number, total: number) => n * squares - total * total
  const both =
    side(
      sum(([a]) => a * a),
      x,
    ) *
    side(
      sum(([, b]) => b * b),
      y,
    )
  return (n * sum(([a, b]) => a * b) - x * y) / Math.sqrt(both)
}

const EIGHT = { minLength: 8, maxLength: 8 }

const rows = fc.integer({ min: 3, max: 8 }).chain((questions) =>
  fc.array(
    fc.array(
      fc.integer({ min: 0, max: 10 }).map((points) => points / 10),
      { minLength: questions, maxLength: questions },
    ),
    {
      minLength: MIN_RESULTS,
      maxLength: 80,
    },
  ),
)

describe('item analysis', () => {
  it('finds the same discrimination as a plain calculation', () => {
    fc.assert(
      fc.property(rows, (given) => {
        const pairs = given.map(
          (row) => [row[0]!, row.slice(1).reduce((sum, share) => sum + share, 0) / (row.length - 1)] as const,
        )
        const found = discriminationOf(toResults(given), 'q0')
        const isConstant = [0, 1].some((side) => new Set(pairs.map((pair) => pair[side as 0 | 1].toFixed(9))).size === 1)
        fc.pre(!isConstant)
        expect(found).toBeCloseTo(plainCorrelation(pairs), 6)
      }),
    )
  })

  it('finds the discrimination of 10,000 results to 0.001, also after 1,000 were released again and 500 deleted', () => {
    const [before] = fc.sample(
      fc.array(fc.array(fc.integer({ min: 0, max: 100 }), EIGHT), { minLength: 10_000, maxLength: 10_000 }),
      1,
    )
    const results = before!.map((row) => row.map((points) => points / 100))
    const changed = results.map((row, i) => (i % 10 === 0 ? row.map((share) => 1 - share) : row)).slice(500)
    for (const given of [results, changed])
      for (const question of [0, 3, 7]) {
        const others = (row: number[]) => (row.reduce((sum, share) => sum + share, 0) - row[question]!) / (row.length - 1)
        const plain = plainCorrelation(given.map((row) => [row[question]!, others(row)]))
        expect(Math.abs(discriminationOf(toResults(given), `q${question}`)! - plain)).toBeLessThan(0.001)
      }
  })

  it('finds the same reliability as the textbook formula', () => {
    // Five candidates and three questions, repeated six times. Cronbach's alpha is k/(k − 1) (1 − Σ variances of questions / variance of totals).
    const base = [
      [0, 0, 0],
      [0.2, 0.2, 0.1],
      [0.5, 0.4, 0.6],
      [0.8, 0.9, 0.7],
      [1, 1, 1],
    ]
    const given = Array.from({ length: 6 }, () => base).flat()
    const variance = (values: number[]) => {
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length
      return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1)
    }
    const items = [0, 1, 2].map((i) => variance(given.map((row) => row[i]!)))
    const total = variance(given.map((row) => row.reduce((sum, share) => sum + share, 0)))
    const expected = (3 / 2) * (1 - items.reduce((sum, one) => sum + one, 0) / total)
    expect(reliabilityOf(toResults(given))).toBeCloseTo(expected, 9)
    expect(expected).toBeGreaterThan(0.95)
  })

  it('is 1 if all questions have the same results, and unknown for results that never differ', () => {
    const same = Array.from({ length: MIN_RESULTS }, (_, i) => [i / 100, i / 100, i / 100])
    expect(reliabilityOf(toResults(same))).toBeCloseTo(1, 9)
    expect(discriminationOf(toResults(same), 'q1')).toBeCloseTo(1, 9)
    const equal = Array.from({ length: MIN_RESULTS }, () => [0.5, 0.5])
    expect([reliabilityOf(toResults(equal)), discriminationOf(toResults(equal), 'q1')]).toEqual([null, null])
  })

  it(`is unknown below ${MIN_RESULTS} results`, () => {
    const few = toResults(Array.from({ length: MIN_RESULTS - 1 }, (_, i) => [i / 100, i / 50]))
    expect([reliabilityOf(few), discriminationOf(few, 'q0')]).toEqual([null, null])
  })

  it('excludes questions with few results from the reliability', () => {
    const given = toResults(Array.from({ length: MIN_RESULTS }, (_, i) => [i / 100, i / 100]))
    const other = { id: 'other', shares: new Map([...given[0]!.shares, ['rare', 1]]) }
    expect(reliabilityOf([...given, other])).toBeCloseTo(1, 9)
  })

  it('excludes drawn questions from the reliability', () => {
    const given = Array.from({ length: MIN_RESULTS }, (_, i) => {
      const drawn = ['p0', 'p1', 'p2', 'p3'].filter((_one, j) => j !== i % 4)
      const shares = ['q0', 'q1', ...drawn].map((id) => [id, i / 100] as const)
      return { id: `r${i}`, shares: new Map(shares) }
    })
    expect(reliabilityOf(given)).toBeNull()
    expect(reliabilityOf(given, new Set(['p0', 'p1', 'p2', 'p3']))).toBeCloseTo(1, 9)
  })

  it('divides results into thirds by their mean share', () => {
    const given = toResults([[0.1], [0.9], [0.5], [0.2], [1], [0.6], [0.7]])
    expect(thirdsOf(given)).toEqual({ best: ['r4', 'r1'], lowest: ['r3', 'r0'] })
    expect(thirdsOf(given.slice(0, 2))).toEqual({ best: [], lowest: [] })
  })

  it.each([
    [[], null],
    [[3], 3],
    [[9, 1, 5], 5],
    [[4, 1, 2, 3], 2.5],
  ])('finds the median of %j', (values, median) => expect(medianOf(values)).toBe(median))

  it('finds no correlation where one side never varies', () => {
    expect(
      correlate([
        [1, 2],
        [1, 3],
      ]),
    ).toBeNull()
  })
})
