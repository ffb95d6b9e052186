import { readFileSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What files wait for, by what they import: that which takes longest first. The rest is as long as it is. */
const SLOW = [
  /support\/candidate-browser\.ts/, // recordings last as long as they last
  /support\/browser\.ts|support\/other-browsers\.ts/,
  /support\/processes\.ts|run-cli\.ts|support\/postgres\.ts/, // starts of programs
  /startServiceForTest/,
]

/** Begins with the files that take longest, so that none of them is alone at the end while everything else has been done. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ranked = files.map((file) => {
      const text = readFileSync(file.moduleId, 'utf8')
      const found = SLOW.findIndex((pattern) => pattern.test(text))
      return { file, rank: found < 0 ? SLOW.length : found, size: text.length }
    })
    return ranked.sort((one, other) => one.rank - other.rank || other.size - one.size).map(({ file }) => file)
  }
}
