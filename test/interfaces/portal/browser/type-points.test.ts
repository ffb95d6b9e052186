import { expect, it } from 'vitest'
import { type TypedPoints, typePoints } from '../../../../src/interfaces/portal/browser/type-points.ts'

/** Types digits, each so many milliseconds after the one before it. @returns the points that each of them means. */
function type(most: number, ...digits: [digit: number, after: number, question?: number][]) {
  let typed: TypedPoints = null
  let at = 0
  return digits.map(([digit, after, question = 1]) => {
    at += after
    typed = typePoints(typed, { question, digit, at, most })
    return typed?.points
  })
}

it('takes digits in a row for one number, as far as the question gives so many points', () => {
  expect(type(10, [1, 0], [0, 400])).toEqual([1, 10])
  expect(type(100, [1, 0], [0, 400], [0, 400])).toEqual([1, 10, 100])
  expect(type(10, [1, 0], [8, 400])).toEqual([1, 8])
  expect(type(5, [4, 0], [2, 100])).toEqual([4, 2])
})

it('takes a digit by itself after a while, and at another question', () => {
  expect(type(20, [1, 0], [0, 1_600])).toEqual([1, 0])
  expect(type(20, [1, 0], [0, 100, 2])).toEqual([1, 0])
})

it('takes none that the question does not give', () => expect(type(5, [7, 0], [3, 100])).toEqual([undefined, 3]))
