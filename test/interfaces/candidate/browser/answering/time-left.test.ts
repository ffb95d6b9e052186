import { expect, it } from 'vitest'
import { announceTimeLeft } from '../../../../../src/interfaces/candidate/browser/answering/time-left.ts'
import { t } from '../../../../support/browser-texts.ts'

/** Announcements as the remaining time passes through these values, in milliseconds. */
const saidThrough = (...lefts: number[]) =>
  lefts
    .map((left, i) => announceTimeLeft(t, i === 0 ? Number.POSITIVE_INFINITY : lefts[i - 1]!, left))
    .filter((words) => words !== '')

it('announces the remaining time at 60, 30, and 10 seconds', () => {
  expect(saidThrough(61_000, 60_000, 59_750, 30_100, 29_900, 10_000, 9_750, 0)).toEqual([
    '60 seconds left',
    '30 seconds left',
    '10 seconds left',
  ])
})

it('announces the actual time if a question begins below these, or the device has slept', () => {
  expect(saidThrough(39_000, 38_750)).toEqual(['39 seconds left'])
  expect(saidThrough(300_000, 12_400, 12_150)).toEqual(['13 seconds left'])
  expect(saidThrough(50_000, 800)).toEqual(['50 seconds left', '1 second left'])
  expect(saidThrough(0)).toEqual([])
})

it('announces the remaining time again after the service has granted more', () => {
  expect(saidThrough(29_000, 120_000, 59_900)).toEqual(['29 seconds left', '60 seconds left'])
})
