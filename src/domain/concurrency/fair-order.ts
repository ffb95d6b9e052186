import { createLruCache } from './lru-cache.ts'

/** Groups whose last turn is remembered. Any other counts as one that never had a turn. */
const REMEMBERED_GROUPS = 10_000

export type FairOrder = {
  /** Sorts groups: the one with the lower count first, of equals the one whose last turn is longer ago. */
  compare: (one: string, other: string, countOf: (group: string) => number) => number
  /** Records that it is the group's turn now. */
  takeTurn: (group: string) => void
}

/** Order in which groups that share something get the next of it, such as organizations the next place of a sender. */
export function createFairOrder(): FairOrder {
  const lastTurns = createLruCache<number>(REMEMBERED_GROUPS)
  let turns = 0
  return {
    compare: (one, other, countOf) => countOf(one) - countOf(other) || (lastTurns.get(one) ?? 0) - (lastTurns.get(other) ?? 0),
    takeTurn: (group) => void lastTurns.set(group, ++turns),
  }
}
