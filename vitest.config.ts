import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/faults/**'], // by themselves: npm run test:faults
    globalSetup: ['test/support/database.ts'],
    // One database a file, all on one server: two files at a time keep two cores busy.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
})
