import type { Key } from './schema.ts'

/** What of the points there is to get without knowing anything, from 0 to 1. @property all null: so many can't be ticked. */
export type Outlook = { all: number | null; none: number; guessing: number }

/**
 * What ticking all, none, and ticking by chance give. Who guesses ticks each set of options that may be ticked as likely as any other.
 *
 * @param least how many are to be ticked, and `most`.
 */
export function foresee(ids: string[], key: Key, { least, most }: { least: number; most: number }): Outlook {
  const { worth, of } = worthOf(ids, key)
  const share = (sum: number) => (key.policy === 'exact' ? (sum === of ? 1 : 0) : Math.min(1, Math.max(0, sum / of)))
  const sets = countSets(ids.map(worth))
  let [ways, gained] = [0, 0]
  for (const [count, sums] of sets.entries()) {
    if (count < least || count > most) continue
    for (const [sum, number] of sums) {
      ways += number
      gained += number * share(sum)
    }
  }
  const all = ids.reduce((sum, id) => sum + worth(id), 0)
  return { all: most < ids.length ? null : share(all), none: 0, guessing: ways === 0 ? 0 : gained / ways }
}

/** How many sets of so many options sum up to so much: as many numbers as there are sums, not as there are sets. */
function countSets(worths: number[]): Map<number, number>[] {
  let sets: Map<number, number>[] = [new Map([[0, 1]])]
  for (const worth of worths) {
    const next: Map<number, number>[] = Array.from({ length: sets.length + 1 }, () => new Map())
    const add = (count: number, sum: number, ways: number) => next[count]!.set(sum, (next[count]!.get(sum) ?? 0) + ways)
    for (const [count, sums] of sets.entries()) {
      for (const [sum, ways] of sums) {
        add(count, sum, ways)
        add(count + 1, sum + worth, ways)
      }
    }
    sets = next
  }
  return sets
}

/** What each option adds when it is ticked, and what all right ones do. */
function worthOf(ids: string[], key: Key): { worth: (id: string) => number; of: number } {
  if (key.policy === 'weights') return { worth: (id) => key.weights[id] ?? 0, of: 100 }
  const [right, wrong] = [key.right.length, ids.length - key.right.length]
  // Exact: a wrong one takes more than all right ones give.
  if (key.policy === 'exact') return { worth: (id) => (key.right.includes(id) ? 1 : -right - 1), of: right }
  return { worth: (id) => (key.right.includes(id) ? wrong : -right), of: right * wrong }
}
