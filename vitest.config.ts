import { defineConfig } from 'vitest/config'
import { WaitingBesideBusy } from './test/support/waiting-beside-busy.ts'

/** What all runs share; the others are test/faults/vitest.config.ts and test/operations/vitest.config.ts. */
export const shared = {
  globalSetup: ['test/support/bundle.ts', 'test/support/database.ts'],
  setupFiles: ['test/support/patient-database.ts', 'test/support/end-with-file.ts'],
  reporters: ['default', './test/support/unsure-tests.ts', './test/support/hanging-tests.ts'],
  // One database a file, all on one server. Of six files at a time three wait for a process, a browser or a clock (see the sequencer): they
  // keep two cores busy.
  maxWorkers: 6,
  // To load the service costs more than most files' tests do: a worker loads it once for all its files. No module of the service or of
  // test/support keeps anything of one file for the next.
  isolate: false,
  sequence: { sequencer: WaitingBesideBusy },
  // Not a verdict: far longer than any test takes where others are busy too. What a test waits for has limits that say what it was.
  testTimeout: 600_000,
  hookTimeout: 600_000,
  // None, but where nobody can look (.ci/run): there what failed is tried once more, and named if it then passes.
  retry: Number(process.env.TEST_RETRIES ?? 0),
}

export default defineConfig({
  test: {
    ...shared,
    include: ['test/**/*.test.ts'],
    exclude: ['test/faults/**', 'test/operations/**'], // by themselves: npm run test:faults, npm run test:operations
  },
})
