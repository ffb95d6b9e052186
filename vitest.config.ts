import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'

// Workers, and the programs that the service starts, load compiled code as in production: each of them takes half of the time to start.
process.env.NODE_COMPILE_CACHE ??= new URL('node_modules/.cache/node-compile', import.meta.url).pathname

/** What all runs share; the others are test/vitest.config.ts and test/operations/vitest.config.ts. */
export const shared = {
  globalSetup: ['test/support/bundle.ts', 'test/support/database.ts'],
  setupFiles: [
    'test/support/patient-database.ts',
    'test/support/shared-compiler.ts',
    'test/support/tasks-in-worker.ts',
    'test/support/end-with-file.ts',
  ],
  reporters: ['default', './test/support/unsure-tests.ts', './test/support/hanging-tests.ts'],
  // One database a file, all on one server. Files that wait for processes, browsers, and clocks leave cores idle: four use two cores fully.
  maxWorkers: 4,
  // Loading the service takes longer than most files' tests, so a worker loads it once. No module keeps the state of one file for the next.
  isolate: false,
  sequence: { sequencer: LongestFirst },
  // Far longer than any test takes on a busy machine: a test that waits for something has its own limit.
  testTimeout: 600_000,
  hookTimeout: 600_000,
}

export default defineConfig({
  test: {
    ...shared,
    include: ['test/**/*.test.ts'],
    // These run by `npm run test:all`, `npm run test:long`, and `npm run test:operations`.
    exclude: ['test/faults/**', 'test/operations/**', 'test/**/*.{browser,slow}.test.ts'],
  },
})
