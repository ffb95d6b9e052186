import { it } from 'vitest'

/** True in `npm run test:all` and `npm run test:long`, see test/vitest.config.ts. */
export const RUNS_SLOW_TESTS = process.env.TEST_ALL === 'yes'

/** Slow tests: floods, shutdowns, waits, and large data. `npm test` skips them. */
export const itSlow = it.runIf(RUNS_SLOW_TESTS)
