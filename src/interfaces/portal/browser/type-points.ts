/** Digits that are typed within this time after each other are one number. */
export const TOGETHER_MS = 1_500

/** What was typed last: for which question, as what, and when by a clock that never goes back. */
export type TypedPoints = { question: number; points: number; at: number } | null

/**
 * The points that a digit means: with those just before it a number, as long as the question gives so many points; else by itself.
 *
 * @returns null where the question gives less than that.
 */
export function typePoints(
  before: TypedPoints,
  { question, digit, at, most }: { question: number; digit: number; at: number; most: number },
): TypedPoints {
  const isOn = before !== null && before.question === question && at - before.at < TOGETHER_MS
  const together = isOn ? before.points * 10 + digit : digit
  const points = together <= most ? together : digit
  return points <= most ? { question, points, at } : null
}
