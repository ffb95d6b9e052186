export type ConcurrencySlots = {
  /** Number of places in use. */
  taken: () => number
  /** Number of works in progress, including those that no longer hold a place. */
  underWay: () => number
  /** Works in progress of each group. */
  byGroup: ReadonlyMap<string, number>
  /** Places in use by each group. */
  heldBy: ReadonlyMap<string, number>
  /** Records that a work has begun, for each of the groups it counts for. */
  begin: (groups: readonly string[], work: Promise<void>) => void
  /** Resolves when all works in progress have ended. */
  settled: () => Promise<unknown>
}

/**
 * Places for works that run at the same time. A work that takes long goes on and gives its place to others.
 *
 * @param holdMs milliseconds after which it does. @param onFree called when a place becomes free, and when a work ends.
 */
export function createConcurrencySlots(holdMs: number, onFree: () => void): ConcurrencySlots {
  const works = new Set<Promise<void>>()
  const byGroup = new Map<string, number>()
  const heldBy = new Map<string, number>()
  let taken = 0

  function change(counts: Map<string, number>, groups: readonly string[], by: 1 | -1): void {
    for (const group of groups) {
      const count = (counts.get(group) ?? 0) + by
      if (count > 0) counts.set(group, count)
      else counts.delete(group)
    }
  }

  return {
    taken: () => taken,
    underWay: () => works.size,
    byGroup,
    heldBy,
    begin(groups, work) {
      let isHeld = true
      const leave = () => {
        clearTimeout(timer)
        if (isHeld) {
          isHeld = false
          taken--
          change(heldBy, groups, -1)
        }
        onFree()
      }
      const timer = setTimeout(leave, holdMs).unref()
      taken++
      change(heldBy, groups, 1)
      change(byGroup, groups, 1)
      const ended = work.finally(() => {
        works.delete(ended)
        change(byGroup, groups, -1)
        leave()
      })
      works.add(ended)
    },
    settled: () => Promise.all(works),
  }
}
