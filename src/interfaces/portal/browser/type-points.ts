/** Digits typed within this many milliseconds of each other form one number. */
export const SAME_NUMBER_MS = 1_500

/** The last typed number. @property at milliseconds of a monotonic clock. */
export type TypedPoints = { question: number; points: number; at: number } | null

/**
 * Points that a digit means: with the digits just before it a number, if the question gives that many points; else the digit alone.
 *
 * @returns null if the question gives fewer points.
 */
export function typePoints(
  before: TypedPoints,
  { question, digit, at, most }: { question: number; digit: number; at: number; most: number },
): TypedPoints {
  const isOn = before !== null && before.question === question && at - before.at < SAME_NUMBER_MS
  const combined = isOn ? before.points * 10 + digit : digit
  const points = combined <= most ? combined : digit
  return points <= most ? { question, points, at } : null
}
