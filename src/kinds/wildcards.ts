import { type ComparisonOptions, toComparable } from './comparable.ts'

// Asterisks in accepted texts match any characters.

/** Normalized parts between asterisks. The whole text is normalized first, because the end of a word depends on what follows it. */
export const piecesOf = (text: string, options: ComparisonOptions): string[] =>
  toComparable(text, options)
    .split('*')
    .map((piece) => piece.trim())

/** Matches wildcards. Searches each piece after the previous one, without backtracking, so the time is linear. */
export function matches([first = '', ...otherPieces]: string[], text: string): boolean {
  const last = otherPieces.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  const end = otherPieces.reduce((at, piece) => {
    const found = at < 0 ? -1 : text.indexOf(piece, at)
    return found < 0 ? -1 : found + piece.length
  }, first.length)
  return end >= 0 && text.length - last.length >= end && text.endsWith(last)
}

/** True if a text can match both patterns. */
export function overlap(one: string[], other: string[]): boolean {
  if (one.length === 1) return matches(other, one[0]!)
  if (other.length === 1) return matches(one, other[0]!)
  const [start, otherStart, end, otherEnd] = [one[0]!, other[0]!, one.at(-1)!, other.at(-1)!]
  return (start.startsWith(otherStart) || otherStart.startsWith(start)) && (end.endsWith(otherEnd) || otherEnd.endsWith(end))
}
