import type { Reporter, TestModule } from 'vitest/node'

/** Vitest counts among the skipped what it did not run because a hook failed: says how many these are, and fails the run for them. */
export default class UnrunTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules) {
      const tests = [...module.children.allTests()]
      const unrun = tests.filter((test) => test.options.mode === 'run' && test.result().state === 'skipped')
      if (unrun.length === 0) continue
      process.stderr.write(`NOT RUN: ${unrun.length} tests of ${module.relativeModuleId}, because a hook failed or timed out.\n`)
      process.exitCode = 1
    }
  }
}
