import type { Reporter, TestModule } from 'vitest/node'

/** Fails the run if tests did not run because a hook failed. Vitest counts these tests as skipped. */
export default class UnsureTests implements Reporter {
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
