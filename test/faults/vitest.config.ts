import { defineConfig } from 'vitest/config'

// Faults and attacks, by `npm run test:faults`. FAULTS=long makes many more of them.
const long = process.env.FAULTS === 'long'

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/faults/**/*.test.ts'],
    globalSetup: ['test/support/database.ts'],
    maxWorkers: 2,
    reporters: ['default', './test/support/unrun-tests.ts'],
    testTimeout: long ? 1_800_000 : 300_000,
    hookTimeout: 300_000,
  },
})
