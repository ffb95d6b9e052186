import { defineConfig } from 'vitest/config'
import { shared } from '../vitest.config.ts'
import { LONG } from './support/scale.ts'

// All tests except those in test/operations: `npm run test:all` with few repetitions, `npm run test:long` with many.
export default defineConfig({
  test: {
    ...shared,
    env: { TEST_ALL: 'yes' },
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    exclude: ['test/operations/**'],
    testTimeout: LONG ? 1_800_000 : shared.testTimeout,
  },
})
