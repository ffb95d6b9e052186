import type { Key } from './schema.ts'

/** Share of the points, from 0 to 1, for ticking all options, none, or random ones. @property all null if not all may be ticked. */
export type Outlook = { all: number | null; none: number; guessing: number }

/**
 * Computes the score of candidates who know nothing. Guessing ticks each allowed set of options with the same probability.
 *
 * @param least fewest options to tick; `most` the most.
 */
export function foresee(ids: string[], key: Key, { least, most }: { least: number; most: number }): Outlook {
  const { worth, of } = worthOf(ids, key)
  const share = (sum: number) => (key.policy === 'exact' ? (sum === of ? 1 : 0) : Math.min(1, Math.max(0, sum / of)))
  const sets = countSets(ids.map(worth))
  let [combinations, gained] = [0, 0]
  for (const [count, sums] of sets.entries()) {
    if (count < least || count > most) continue
    for (const [sum, number] of sums) {
      combinations += number
      gained += number * share(sum)
    }
  }
  const all = ids.reduce((sum, id) => sum + worth(id), 0)
  return { all: most < ids.length ? null : share(all), none: 0, guessing: combinations === 0 ? 0 : gained / combinations }
}

/** Number of sets by size (index) and sum (key). Dynamic programming, because the number of sets grows exponentially. */
function countSets(worths: number[]): Map<number, number>[] {
  let sets: Map<number, number>[] = [new Map([[0, 1]])]
  for (const worth of worths) {
    const next: Map<number, number>[] = Array.from({ length: sets.length + 1 }, () => new Map())
    const add = (count: number, sum: number, number: number) => next[count]!.set(sum, (next[count]!.get(sum) ?? 0) + number)
    for (const [count, sums] of sets.entries()) {
      for (const [sum, number] of sums) {
        add(count, sum, number)
        add(count + 1, sum + worth, number)
      }
    }
    sets = next
  }
  return sets
}

/** Score of each option when ticked, and the best total. */
function worthOf(ids: string[], key: Key): { worth: (id: string) => number; of: number } {
  if (key.policy === 'weights') return { worth: (id) => key.weights[id] ?? 0, of: 100 }
  const [right, wrong] = [key.right.length, ids.length - key.right.length]
  // Exact: a wrong option costs more than all right ones give.
  if (key.policy === 'exact') return { worth: (id) => (key.right.includes(id) ? 1 : -right - 1), of: right }
  return { worth: (id) => (key.right.includes(id) ? wrong : -right), of: right * wrong }
}
