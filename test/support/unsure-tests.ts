import type { Reporter, TestCase, TestModule } from 'vitest/node'

const HANGS_AFTER_MS = 10_000

/**
 * Says what a list of passed tests would hide. Vitest counts among the skipped what it did not run because a hook failed: that fails the run.
 * A test that passed only when it was tried again (TEST_RETRIES) is named, and is to be mended. Where somebody looks on, a test that runs for
 * long is named while it does, without a verdict: waitUntil says what for.
 */
export default class UnsureTests implements Reporter {
  private readonly running = new Map<string, NodeJS.Timeout>()

  onTestCaseReady(test: TestCase): void {
    if (process.env.TEST_RETRIES) return
    const tell = () => process.stderr.write(`STILL RUNNING after 10 s: ${test.module.relativeModuleId} > ${test.fullName}\n`)
    this.running.set(test.id, setTimeout(tell, HANGS_AFTER_MS))
  }

  onTestCaseResult(test: TestCase): void {
    clearTimeout(this.running.get(test.id))
    this.running.delete(test.id)
  }

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
