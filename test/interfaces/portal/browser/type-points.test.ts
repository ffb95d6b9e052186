import { expect, it } from 'vitest'
import { type TypedPoints, typePoints } from '../../../../src/interfaces/portal/browser/type-points.ts'

/** Types digits, each after this many milliseconds. @returns the points after each digit. */
function type(most: number, ...digits: [digit: number, after: number, question?: number][]) {
  let typed: TypedPoints = null
  let at = 0
  return digits.map(([digit, after, question = 1]) => {
    at += after
    typed = typePoints(typed, { question, digit, at, most })
    return typed?.points
  })
}

it("joins consecutive digits to a number within the question's points", () => {
  expect(type(10, [1, 0], [0, 400])).toEqual([1, 10])
  expect(type(100, [1, 0], [0, 400], [0, 400])).toEqual([1, 10, 100])
  expect(type(10, [1, 0], [8, 400])).toEqual([1, 8])
  expect(type(5, [4, 0], [2, 100])).toEqual([4, 2])
})

it('starts a new number after a pause, and at another question', () => {
  expect(type(20, [1, 0], [0, 1_600])).toEqual([1, 0])
  expect(type(20, [1, 0], [0, 100, 2])).toEqual([1, 0])
})

it("ignores points that exceed the question's", () => expect(type(5, [7, 0], [3, 100])).toEqual([undefined, 3]))
