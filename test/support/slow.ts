import { it } from 'vitest'

/** True in `npm run test:all` and `npm run test:long`, see test/vitest.config.ts. */
export const RUNS_SLOW_TESTS = process.env.TEST_ALL === 'yes'

/** Tests of floods, stops, waits, and large data, which `npm test` leaves out. */
export const itSlow = it.runIf(RUNS_SLOW_TESTS)
