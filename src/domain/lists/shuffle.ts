import type { Random } from '../ports/question-kind.ts'

/** Fisher-Yates shuffle. */
export function shuffle<T>(ordered: readonly T[], random: Random): T[] {
  const shuffled = [...ordered]
  for (let last = shuffled.length - 1; last > 0; last--) {
    const chosen = random(last + 1)
    const [one, two] = [shuffled[last]!, shuffled[chosen]!]
    shuffled[last] = two
    shuffled[chosen] = one
  }
  return shuffled
}
