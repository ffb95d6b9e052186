import { LRUCache } from 'lru-cache'
import { offsetAt, shiftBy } from '../../time/zone-rules.ts'

/** When nothing is sent: hours of the candidate's day, and days of the week, 1 is Monday. */
export type QuietTimes = { quietFrom: number; quietUntil: number; daysOff: readonly number[] }

const MINUTE_MS = 60_000
/** Longer than any week has days off. */
const DAYS_AHEAD = 9
const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const clocks = new LRUCache<string, Intl.DateTimeFormat>({ max: 100 })

/** The earliest time from `from` at which a mail may be sent in the zone; null if no day of the week allows it. */
export function nextInWindow(quiet: QuietTimes, zone: string, from: Date): Date | null {
  const end = from.getTime() + DAYS_AHEAD * 24 * 60 * MINUTE_MS
  for (let at = from; at.getTime() < end; ) {
    const { weekday, hour, minute } = localTime(zone, at)
    if (!isQuiet(quiet, hour) && !quiet.daysOff.includes(weekday)) return at
    // The next full hour there: a zone may be half an hour off.
    at = new Date(Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS + (60 - minute) * MINUTE_MS)
  }
  return null
}

const isQuiet = ({ quietFrom, quietUntil }: QuietTimes, hour: number): boolean =>
  quietFrom <= quietUntil ? hour >= quietFrom && hour < quietUntil : hour >= quietFrom || hour < quietUntil

/** Uses PostgreSQL's zone rules, which must be loaded; Node's for years beyond the loaded ones. */
export function localTime(zone: string, at: Date): { weekday: number; hour: number; minute: number } {
  const offset = offsetAt(zone, at)
  if (offset !== undefined) {
    const local = shiftBy(at, offset)
    return { weekday: local.getUTCDay() || 7, hour: local.getUTCHours(), minute: local.getUTCMinutes() }
  }
  const clock = clocks.get(zone) ?? new Intl.DateTimeFormat('en', { timeZone: zone, ...FIELDS })
  clocks.set(zone, clock)
  const parts = Object.fromEntries(clock.formatToParts(at).map(({ type, value }) => [type, value]))
  return { weekday: WEEKDAYS.indexOf(parts.weekday ?? '') + 1, hour: Number(parts.hour), minute: Number(parts.minute) }
}
const FIELDS = { weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
