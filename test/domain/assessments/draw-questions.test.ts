import { randomInt } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type DrawableQuestion, drawQuestions } from '../../../src/domain/assessments/draw-questions.ts'

const question = (id: string, of: Partial<DrawableQuestion> = {}): DrawableQuestion => ({
  id,
  sectionId: null,
  poolId: null,
  draw: null,
  shuffle: null,
  ...of,
})
const idsOf = (count: number) => Array.from({ length: count }, (_, i) => `${i}`)
const draw = (questions: DrawableQuestion[], seen?: Set<string>) =>
  drawQuestions(questions, (below) => randomInt(below), seen).map(({ id }) => id)
const countBy = (times: number, listIds: () => string[]) => {
  const counts = new Map<string, number>()
  for (let i = 0; i < times; i++) for (const id of listIds()) counts.set(id, (counts.get(id) ?? 0) + 1)
  return [...counts.values()].map((count) => count / times)
}

describe('a drawn paper', () => {
  it('has each of 4 shuffled questions first in 23 to 27 % of 20,000 papers', () => {
    const questions = idsOf(4).map((id) => question(id, { sectionId: 'a', shuffle: true }))
    const shares = countBy(20_000, () => draw(questions).slice(0, 1))
    expect(shares).toHaveLength(4)
    for (const share of shares) expect(share).toBeGreaterThan(0.23)
    for (const share of shares) expect(share).toBeLessThan(0.27)
  })

  it('has each of 10 pool questions in 37 to 43 % of 10,000 papers that get 4', () => {
    const questions = idsOf(10).map((id) => question(id, { poolId: 'pool', draw: 4 }))
    const shares = countBy(10_000, () => draw(questions))
    expect(shares).toHaveLength(10)
    for (const share of shares) expect(share).toBeGreaterThan(0.37)
    for (const share of shares) expect(share).toBeLessThan(0.43)
  })

  it('has the same points in 1,000 papers', () => {
    const pointsOf = new Map([...idsOf(10).map((id) => [id, 5] as const), ['x', 7], ['y', 2]])
    const pool = idsOf(10).map((id) => question(id, { sectionId: 'a', poolId: 'pool', draw: 4, shuffle: true }))
    const questions = [
      question('x', { sectionId: 'a', shuffle: true }),
      ...pool,
      question('y', { sectionId: 'b', shuffle: false }),
    ]
    const totals = new Set<number>()
    for (let i = 0; i < 1_000; i++) totals.add(draw(questions).reduce((sum, id) => sum + pointsOf.get(id)!, 0))
    expect([...totals]).toEqual([29])
  })

  it('keeps the author’s order without shuffling, and the questions of a section together', () => {
    const questions = [
      question('x', { sectionId: 'a' }),
      ...idsOf(3).map((id) => question(id, { sectionId: 'a', poolId: 'pool', draw: 3 })),
      ...['y', 'z'].map((id) => question(id, { sectionId: 'b', shuffle: true })),
    ]
    const drawn = drawQuestions(questions, () => 0)
    expect(drawn.map(({ id }) => id)).toEqual(['x', '0', '1', '2', 'z', 'y'])
    expect(drawn.map(({ number, sectionNumber }) => [number, sectionNumber])).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 1],
      [5, 2],
      [6, 2],
    ])
  })

  it('has questions that the candidate has not seen first', () => {
    const questions = idsOf(6).map((id) => question(id, { poolId: 'pool', draw: 4 }))
    const seen = new Set(['0', '1', '2', '3'])
    for (let i = 0; i < 100; i++) {
      const ids = draw(questions, seen)
      expect(ids).toHaveLength(4)
      expect(ids).toEqual(expect.arrayContaining(['4', '5']))
    }
  })

  it('has all questions of a pool with fewer than it draws', () => {
    expect(draw([question('x', { poolId: 'pool', draw: 4 })])).toEqual(['x'])
  })
})
