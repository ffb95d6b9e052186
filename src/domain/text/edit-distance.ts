/** Letters to insert, leave out, replace, or swap with the next one, to turn one word into the other (optimal string alignment). */
export function editDistance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = rows[i - 1]![j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      const swapped = isSwap ? rows[i - 2]![j - 2]! + 1 : replaced
      row.push(Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, replaced, swapped))
    }
    rows.push(row)
  }
  return rows[from.length]![to.length]!
}
