const STEPS = [
  [60, 'second'],
  [60, 'minute'],
  [24, 'hour'],
  [31, 'day'],
] as const
const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** Formats the distance from now: "2 hours ago", "in 3 days"; undefined beyond a month, where a date says more. */
export function formatAgo(at: Date, now: Date): string | undefined {
  let distance = (at.getTime() - now.getTime()) / 1_000
  for (const [size, unit] of STEPS) {
    if (Math.abs(distance) < size)
      return unit === 'second' ? 'just now' : words.format(unit === 'day' ? Math.round(distance) : Math.trunc(distance), unit)
    distance /= size
  }
  return undefined
}
