// Figures of classical test theory, from the points of many results. Nothing here reads the database.

/** Points of one result by question, without questions that give no points. @property shares from 0 to 1, by the question's id. */
export type ScoredResult = { id: string; shares: ReadonlyMap<string, number> }

/** Fewest results for figures of questions and reliability: below that, chance says more than the candidates. */
export const MIN_RESULTS = 30

export const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** Sample variance. */
function varianceOf(values: readonly number[]): number {
  const mean = meanOf(values)
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1)
}

/** Pearson's correlation; null if one side never varies. */
export function correlate(pairs: readonly (readonly [number, number])[]): number | null {
  const [mean, otherMean] = [meanOf(pairs.map(([x]) => x)), meanOf(pairs.map(([, y]) => y))]
  let [product, squares, otherSquares] = [0, 0, 0]
  for (const [x, y] of pairs) {
    product += (x - mean) * (y - otherMean)
    squares += (x - mean) ** 2
    otherSquares += (y - otherMean) ** 2
  }
  return squares === 0 || otherSquares === 0 ? null : product / Math.sqrt(squares * otherSquares)
}

/** Correlation of a question with the mean of the others of the same result: how well it separates high results from low ones. */
export function discriminationOf(results: readonly ScoredResult[], questionId: string): number | null {
  const pairs = results.flatMap(({ shares }) => {
    const share = shares.get(questionId)
    if (share === undefined || shares.size < 2) return []
    return [[share, (sumOf(shares) - share) / (shares.size - 1)] as const]
  })
  return pairs.length < MIN_RESULTS ? null : correlate(pairs)
}

/**
 * Cronbach's alpha: how far the questions measure the same, from 0 to 1. Over results with all questions that most results have.
 *
 * @param drawnIds questions of pools that not everybody gets; they are left out.
 * @returns null for fewer than {@link MIN_RESULTS} such results, or fewer than two questions.
 */
export function reliabilityOf(results: readonly ScoredResult[], drawnIds: ReadonlySet<string> = new Set()): number | null {
  const counts = new Map<string, number>()
  for (const { shares } of results) for (const id of shares.keys()) counts.set(id, (counts.get(id) ?? 0) + 1)
  const common = [...counts].filter(([id, count]) => count * 2 > results.length && !drawnIds.has(id)).map(([id]) => id)
  const rows = results
    .filter(({ shares }) => common.every((id) => shares.has(id)))
    .map(({ shares }) => common.map((id) => shares.get(id)!))
  if (common.length < 2 || rows.length < MIN_RESULTS) return null
  const total = varianceOf(rows.map((row) => row.reduce((sum, share) => sum + share, 0)))
  if (total === 0) return null
  const parts = common.reduce((sum, _, i) => sum + varianceOf(rows.map((row) => row[i]!)), 0)
  return (common.length / (common.length - 1)) * (1 - parts / total)
}

/** Ids of the third of the results with the most, and of the third with the fewest points. */
export function thirdsOf(results: readonly ScoredResult[]): { best: string[]; lowest: string[] } {
  const ranked = [...results].sort((one, other) => sumOf(other.shares) / other.shares.size - sumOf(one.shares) / one.shares.size)
  const third = Math.floor(ranked.length / 3)
  const ids = ranked.map(({ id }) => id)
  return { best: ids.slice(0, third), lowest: third === 0 ? [] : ids.slice(-third) }
}

export function medianOf(values: readonly number[]): number | null {
  const sorted = [...values].sort((one, other) => one - other)
  const middle = sorted.length >> 1
  if (sorted.length === 0) return null
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

const sumOf = (shares: ReadonlyMap<string, number>): number => [...shares.values()].reduce((sum, share) => sum + share, 0)
