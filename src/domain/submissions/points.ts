/**
 * Points for a share of a question, rounded half up to one decimal.
 *
 * @param share fraction from 0 to 1, as two whole numbers.
 * @param points a whole number.
 */
export function pointsFor({ got, of }: { got: number; of: number }, points: number): number {
  const tenths = (2n * BigInt(got) * BigInt(points) * 10n + BigInt(of)) / (2n * BigInt(of))
  return Number(tenths) / 10
}

/** Points that a wrong answer costs: a percentage of the question's points, to one decimal, rounded half up. */
export const penaltyFor = (percent: number, points: number): number => pointsFor({ got: percent, of: 100 }, points)
