import { defineConfig } from 'vitest/config'
import { shared } from '../../vitest.config.ts'
import { LONG } from '../support/scale.ts'

// Faults and attacks, by `npm run test:faults`. FAULTS=long makes many more of them.
export default defineConfig({
  test: {
    ...shared,
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/faults/**/*.test.ts'],
    testTimeout: LONG ? 1_800_000 : 600_000,
  },
})
