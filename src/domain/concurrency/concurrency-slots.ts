export type ConcurrencySlots = {
  /** Number of slots in use. */
  taken: () => number
  /** Number of tasks in progress, including slow ones that have given up their slot. */
  underWay: () => number
  /** Tasks in progress by group. */
  byGroup: ReadonlyMap<string, number>
  /** Slots in use by group. */
  heldBy: ReadonlyMap<string, number>
  /** Records that a task has started, for each of its groups. */
  begin: (groups: readonly string[], work: Promise<void>) => void
  /** Resolves when all tasks in progress have ended. */
  settled: () => Promise<unknown>
}

/**
 * Slots for concurrent tasks. A slow task continues and gives up its slot.
 *
 * @param holdMs milliseconds after which it does. @param onFree called when a slot becomes free, and when a task ends.
 */
export function createConcurrencySlots(holdMs: number, onFree: () => void): ConcurrencySlots {
  const works = new Set<Promise<void>>()
  const byGroup = new Map<string, number>()
  const heldBy = new Map<string, number>()
  let usedSlots = 0

  function change(counts: Map<string, number>, groups: readonly string[], delta: 1 | -1): void {
    for (const group of groups) {
      const count = (counts.get(group) ?? 0) + delta
      if (count > 0) counts.set(group, count)
      else counts.delete(group)
    }
  }

  return {
    taken: () => usedSlots,
    underWay: () => works.size,
    byGroup,
    heldBy,
    begin(groups, work) {
      let isHeld = true
      const leave = () => {
        clearTimeout(timer)
        if (isHeld) {
          isHeld = false
          usedSlots--
          change(heldBy, groups, -1)
        }
        onFree()
      }
      const timer = setTimeout(leave, holdMs).unref()
      usedSlots++
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
