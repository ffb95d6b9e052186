import { readFileSync } from 'node:fs'
import path from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** File with the measured seconds of test files, by their path below test/. `npm run test:durations` writes it. */
const DURATIONS = new URL('../durations.json', import.meta.url)
const ROOT = new URL('..', import.meta.url).pathname
/** Files without a measurement count as this slow. */
const UNKNOWN_SECONDS = 20

/** Starts the slowest files first, so that none of them runs alone at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = JSON.parse(readFileSync(DURATIONS, 'utf8')) as Record<string, number>
    const secondsOf = ({ moduleId }: TestSpecification) => seconds[path.relative(ROOT, moduleId)] ?? UNKNOWN_SECONDS
    return [...files].sort((one, other) => secondsOf(other) - secondsOf(one))
  }
}
