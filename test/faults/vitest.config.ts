import { defineConfig } from 'vitest/config'

// Faults and attacks, by `npm run test:faults`. FAULTS=long makes many more of them.
const long = process.env.FAULTS === 'long'

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/faults/**/*.test.ts'],
    globalSetup: ['test/support/database.ts'],
    maxWorkers: 2,
    testTimeout: long ? 900_000 : 60_000,
    hookTimeout: 60_000,
  },
})
