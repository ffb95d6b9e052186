/** Random access to bytes: a file in production. */
export type Source = {
  size: number
  /** @returns a view that is valid until the next call; shorter at the end of the source. */
  bytes: (position: number, length: number) => Buffer
}

/** A range of the source, or replacement bytes. */
export type Piece = { from: number; to: number } | Buffer

/** The repaired recording, never longer than the original. */
export type Repaired = {
  pieces: Piece[]
  /** Seconds in the recording before which data is missing; Infinity: at the end. */
  lost: number[]
  /** Remaining bytes. */
  keptBytes: number
  /** Duplicate bytes that were left out without a loss. */
  repeatedBytes: number
}

/** Most clusters, blocks, or fragments. All of them are in memory. */
export const MAX_REPAIR_ITEMS = 400_000

/** Appends a range, merged with the last one if they touch. */
export function addRange(pieces: Piece[], from: number, to: number): void {
  const last = pieces.at(-1)
  if (last && !Buffer.isBuffer(last) && last.to === from) last.to = to
  else if (to > from) pieces.push({ from, to })
}

/** Position of the bytes in a range; -1 if not found. */
export function indexIn(source: Source, bytes: Buffer, from: number, to = source.size): number {
  for (let at = from; at + bytes.length <= to; at += SEARCH_BYTES - bytes.length + 1) {
    const found = source.bytes(at, Math.min(SEARCH_BYTES, to - at)).indexOf(bytes)
    if (found !== -1) return at + found
  }
  return -1
}

const SEARCH_BYTES = 65_536

export const sum = (numbers: readonly number[] | Uint32Array): number => {
  let total = 0
  for (const number of numbers) total += number
  return total
}
