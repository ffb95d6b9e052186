/**
 * Finds a longest non-decreasing subsequence, so that only the few times that are out of order are left out.
 *
 * @param isStrict true for a strictly increasing one. @returns 1 for each time that belongs to it, else 0.
 */
export function findLongestIncreasing(times: readonly number[], isStrict: boolean): Uint8Array {
  const before = new Int32Array(times.length).fill(-1)
  /** Index of the smallest last time, by length of subsequence minus one. */
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

/** Length of the prefix of a sorted list that satisfies the condition. */
function countBelow(sorted: readonly number[], isSo: (value: number) => boolean): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isSo(sorted[middle]!)) low = middle + 1
    else high = middle
  }
  return low
}
