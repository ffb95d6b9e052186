/**
 * Which of a row of times belong to the longest way through it that never goes back: of a few that are out of place, whether too early or
 * too late, it leaves out those few.
 *
 * @param isStrict whether a time that comes again is left out, too. @returns 1 for each that belongs to it, else 0.
 */
export function findLongestRise(times: readonly number[], isStrict: boolean): Uint8Array {
  const before = new Int32Array(times.length).fill(-1)
  /** The place of the earliest time that ends a way of that length, less one. */
  const ends: number[] = []
  for (const [place, time] of times.entries()) {
    const length = countBelow(ends, (end) => (isStrict ? times[end]! < time : times[end]! <= time))
    if (length > 0) before[place] = ends[length - 1]!
    ends[length] = place
  }
  const belongs = new Uint8Array(times.length)
  for (let place = ends.at(-1) ?? -1; place !== -1; place = before[place]!) belongs[place] = 1
  return belongs
}

/** How many at the beginning of a sorted row are so. */
function countBelow(sorted: readonly number[], isSo: (value: number) => boolean): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isSo(sorted[middle]!)) low = middle + 1
    else high = middle
  }
  return low
}
