import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'

// Test workers and the processes of the service load compiled code, as in production. That halves the time to start each of them.
process.env.NODE_COMPILE_CACHE ??= new URL('node_modules/.cache/node-compile', import.meta.url).pathname

/** Settings of all runs, including test/vitest.config.ts and test/operations/vitest.config.ts. */
export const shared = {
  globalSetup: ['test/support/bundle.ts', 'test/support/database.ts'],
  setupFiles: [
    'test/support/patient-database.ts',
    'test/support/shared-compiler.ts',
    'test/support/tasks-in-worker.ts',
    'test/support/end-with-file.ts',
  ],
  reporters: ['default', './test/support/unsure-tests.ts', './test/support/hanging-tests.ts'],
  // Each file has its own database, all on one server. Files often wait for processes, browsers, and clocks, so four workers use two cores fully.
  maxWorkers: 4,
  // Loading the service takes longer than most files' tests, so each worker loads it once. No module carries state from one file to the next.
  isolate: false,
  sequence: { sequencer: LongestFirst },
  // Far longer than any test takes on a busy machine. Tests that wait for something have their own limit.
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
