import { createLruCache } from './lru-cache.ts'

/** Groups whose last turn is remembered. Any other counts as one that never had a turn. */
const REMEMBERED_GROUPS = 10_000

export type FairOrder = {
  /** Comparator of groups: the lower count first; at equal counts the group that has waited longer since its last turn. */
  compare: (one: string, other: string, countOf: (group: string) => number) => number
  /** Records that it is the group's turn now. */
  takeTurn: (group: string) => void
}

/** Order in which groups take turns at a shared resource, such as organizations at a sender's slots. */
export function createFairOrder(): FairOrder {
  const lastTurns = createLruCache<number>(REMEMBERED_GROUPS)
  let turns = 0
  return {
    compare: (one, other, countOf) => countOf(one) - countOf(other) || (lastTurns.get(one) ?? 0) - (lastTurns.get(other) ?? 0),
    takeTurn: (group) => void lastTurns.set(group, ++turns),
  }
}
