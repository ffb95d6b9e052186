import type { Reporter, TestModule } from 'vitest/node'

/**
 * Says what a list of passed tests would hide. Vitest counts among the skipped what it did not run because a hook failed: that fails the run.
 * A test that passed only when it was tried again (TEST_RETRIES) is named, and is to be mended.
 */
export default class UnsureTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules) {
      const tests = [...module.children.allTests()]
      const unrun = tests.filter((test) => test.options.mode === 'run' && test.result().state === 'skipped')
      if (unrun.length > 0) {
        process.stderr.write(
          `NOT RUN: ${unrun.length} tests of ${module.relativeModuleId}, because a hook failed or timed out.\n`,
        )
        process.exitCode = 1
      }
      for (const test of tests.filter((test) => test.diagnostic()?.flaky)) {
        const [first] = test.result().errors ?? []
        process.stderr.write(
          `PASSED AT THE SECOND TRY: ${module.relativeModuleId} > ${test.fullName}: ${first?.stack ?? first?.message}\n`,
        )
      }
    }
  }
}
