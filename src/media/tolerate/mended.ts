/** Bytes that can be read at any place: a file's, in production. */
export type Source = {
  size: number
  /** What stands there; shorter where the source ends before. It is good until the next call. */
  bytes: (position: number, length: number) => Buffer
}

/** A stretch of the source, or bytes that stand for others in it. */
export type Piece = { from: number; to: number } | Buffer

/** What a damaged recording becomes: never longer than it is. */
export type Mended = {
  pieces: Piece[]
  /** Seconds, in the recording's own time, before which something is missing that was there; Infinity: at its end. */
  lost: number[]
  /** How many bytes of it are left, and how many were left out without a loss: they stand in it once more. */
  kept: number
  repeated: number
}

/** More clusters, blocks or fragments than a damaged recording may have to be mended: all of them are in memory. */
export const MAX_ITEMS = 400_000

/** Puts a stretch behind the others; it becomes one with the one before where they touch. */
export function addStretch(pieces: Piece[], from: number, to: number): void {
  const last = pieces.at(-1)
  if (last && !Buffer.isBuffer(last) && last.to === from) last.to = to
  else if (to > from) pieces.push({ from, to })
}

/** Where the bytes stand next, in a stretch; -1 where they don't. */
export function indexIn(source: Source, bytes: Buffer, from: number, to = source.size): number {
  for (let at = from; at + bytes.length <= to; at += SEARCHED - bytes.length + 1) {
    const found = source.bytes(at, Math.min(SEARCHED, to - at)).indexOf(bytes)
    if (found !== -1) return at + found
  }
  return -1
}

const SEARCHED = 65_536

export const sum = (numbers: readonly number[] | Uint32Array): number => {
  let total = 0
  for (const number of numbers) total += number
  return total
}
