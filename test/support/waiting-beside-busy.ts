import { readFileSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Which files wait more than they compute, by what they have in them: that which takes longest first. */
const WAITING = [
  /support\/candidate-browser\.ts/, // recordings last as long as they last
  /support\/browser\.ts|support\/other-browsers\.ts/,
  /support\/processes\.ts|run-cli\.ts|support\/postgres\.ts/, // starts of programs
]

type Ranked = { file: TestSpecification; rank: number; size: number }

/**
 * Begins with the files that take longest, so that none of them is alone at the end, and has those that wait beside those that keep a
 * processor busy all the way: one kind after the other, half of the processors would idle while the first lasts.
 */
export class WaitingBesideBusy extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ranked = files
      .map((file): Ranked => {
        const text = readFileSync(file.moduleId, 'utf8')
        const found = WAITING.findIndex((pattern) => pattern.test(text))
        return { file, rank: found < 0 ? WAITING.length : found, size: text.length }
      })
      .sort((one, other) => one.rank - other.rank || other.size - one.size)
    const places = new Map([...placesOf(ranked, true), ...placesOf(ranked, false)])
    return [...places].sort(([, one], [, other]) => one - other).map(([file]) => file)
  }
}

/** How much of all the text of their kind comes before each of them. What waits begins earlier than that, or it would end last. */
function placesOf(ranked: Ranked[], waits: boolean): [TestSpecification, number][] {
  const kind = ranked.filter(({ rank }) => rank < WAITING.length === waits)
  const whole = kind.reduce((sum, { size }) => sum + size, 0) / (waits ? 0.9 : 1)
  let before = 0
  return kind.map(({ file, size }) => {
    const place = before / whole
    before += size
    return [file, place]
  })
}
