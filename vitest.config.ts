import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/faults/**'], // by themselves: npm run test:faults
    globalSetup: ['test/support/database.ts'],
    // One database a file, all on one server: two files at a time keep two cores busy.
    maxWorkers: 2,
    reporters: ['default', './test/support/unrun-tests.ts'],
    // Not a verdict: far longer than any test takes where others are busy too. What a test waits for has limits that say what it was.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
