import { expect, it } from 'vitest'
import { formatAgo } from '../../../src/domain/time/format-ago.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const HOUR = 3_600_000

it.each([
  [30 * 24 * HOUR - 5_000, 'in 30 days'], // just sent, for 30 days
  [36 * HOUR, 'in 2 days'],
  [-25 * HOUR, 'yesterday'],
  [-2 * HOUR, '2 hours ago'],
  [32 * 24 * HOUR, undefined],
])('formats a time relative to now: %d milliseconds are %s', (distance, words) => {
  expect(formatAgo(new Date(NOW.getTime() + distance), NOW)).toBe(words)
})
