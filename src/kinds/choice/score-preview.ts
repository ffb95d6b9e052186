import { type Html, html } from '../../html/html.ts'
import type { ParsedForm } from '../author.ts'
import { choiceRules } from './rules.ts'
import type { Key, Spec } from './schema.ts'

/** Share of the points, from 0 to 1, for ticking all options, none, or random ones. @property all null if not all may be ticked. */
export type ScorePreview = { all: number | null; none: number; guessing: number }

/**
 * Computes the score of candidates who know nothing. Guessing ticks each allowed set of options with the same probability.
 *
 * @param least fewest options to tick; `most` the most.
 */
export function previewScore(ids: string[], key: Key, { least, most }: { least: number; most: number }): ScorePreview {
  const { worth, best } = worthOf(ids, key)
  const share = (sum: number) => (key.policy === 'exact' ? (sum === best ? 1 : 0) : Math.min(1, Math.max(0, sum / best)))
  const sets = countSets(ids.map(worth))
  let [combinations, gained] = [0, 0]
  for (const [count, sums] of sets.entries()) {
    if (count < least || count > most) continue
    for (const [sum, number] of sums) {
      combinations += number
      gained += number * share(sum)
    }
  }
  const total = ids.reduce((sum, id) => sum + worth(id), 0)
  return { all: most < ids.length ? null : share(total), none: 0, guessing: combinations === 0 ? 0 : gained / combinations }
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
function worthOf(ids: string[], key: Key): { worth: (id: string) => number; best: number } {
  if (key.policy === 'weights') return { worth: (id) => key.weights[id] ?? 0, best: 100 }
  const [right, wrong] = [key.right.length, ids.length - key.right.length]
  // Exact: a wrong option costs more than all right ones give.
  if (key.policy === 'exact') return { worth: (id) => (key.right.includes(id) ? 1 : -right - 1), best: right }
  return { worth: (id) => (key.right.includes(id) ? wrong : -right), best: right * wrong }
}

/** Score of guessing, or a placeholder while the question is incomplete. */
export function scorePreview(word: string, { spec, key, faults }: ParsedForm): Html {
  const isComplete = faults.length === 0 && choiceRules.faults(word, spec, key).length === 0
  return html`<p class="hint mb-3" role="status" data-outlook>${isComplete ? formatPreview(word, spec as Spec, key as Key) : 'The score of guessing is shown once you have marked the right answers.'}</p>`
}

function formatPreview(word: string, { options, least = 0, most = options.length }: Spec, key: Key): string {
  const ids = options.map(({ id }) => id)
  if (word === 'single_choice')
    return `Guessing gets ${percent(previewScore(ids, key, { least: 1, most: 1 }).guessing)} on average.`
  const { all, none, guessing } = previewScore(ids, key, { least, most })
  const ticking = all === null ? '' : `Ticking all gets ${percent(all)}, `
  return `${ticking}${ticking ? 'none' : 'Ticking none gets'} ${percent(none)}, and guessing ${percent(guessing)} on average.`
}

const percent = (share: number): string => `${Math.round(share * 100)} %`
