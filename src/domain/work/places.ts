export type Places = {
  /** How many places are taken, and how much is under way, what holds no place any more included. */
  taken: () => number
  underWay: () => number
  /** How much is under way for each that has something under way. */
  byGroup: ReadonlyMap<string, number>
  /** Something has begun. @param group for whom. */
  begin: (group: string, work: Promise<void>) => void
  /** @returns when all that is under way has come to its end. */
  settled: () => Promise<unknown>
}

/**
 * Places for works that are under way at the same time. One that takes long goes on and gives its place to others.
 *
 * @param holdMs milliseconds after which it does. @param onFree a place has become free, or a work has come to its end.
 */
export function createPlaces(holdMs: number, onFree: () => void): Places {
  const works = new Set<Promise<void>>()
  const holding = new Set<NodeJS.Timeout>()
  const byGroup = new Map<string, number>()

  function leave(place: NodeJS.Timeout): void {
    clearTimeout(place)
    holding.delete(place)
    onFree()
  }

  return {
    taken: () => holding.size,
    underWay: () => works.size,
    byGroup,
    begin(group, work) {
      byGroup.set(group, (byGroup.get(group) ?? 0) + 1)
      const place = setTimeout(() => leave(place), holdMs).unref()
      holding.add(place)
      const ended = work.finally(() => {
        const left = byGroup.get(group)! - 1
        if (left > 0) byGroup.set(group, left)
        else byGroup.delete(group)
        works.delete(ended)
        leave(place)
      })
      works.add(ended)
    },
    settled: () => Promise.all(works),
  }
}
