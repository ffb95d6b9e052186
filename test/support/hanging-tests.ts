import type { ReportedHookContext, Reporter, TestCase } from 'vitest/node'
import { warnIfSlow } from './warn-if-slow.ts'

/** Prints the name of each test and hook that has been running for 10 s. waitUntil prints what it waits for. */
export default class HangingTests implements Reporter {
  private readonly running = new Map<string, NodeJS.Timeout | undefined>()

  onTestCaseReady(test: TestCase): void {
    this.begin(test.id, `${test.module.relativeModuleId} > ${test.fullName}`)
  }

  onTestCaseResult(test: TestCase): void {
    this.end(test.id)
  }

  onHookStart({ name, entity }: ReportedHookContext): void {
    const file = entity.type === 'module' ? entity.relativeModuleId : entity.module.relativeModuleId
    this.begin(name + entity.id, `${name} of ${entity.type === 'module' ? file : `${file} > ${entity.fullName}`}`)
  }

  onHookEnd({ name, entity }: ReportedHookContext): void {
    this.end(name + entity.id)
  }

  private begin(id: string, what: string): void {
    this.running.set(
      id,
      warnIfSlow(() => `STILL RUNNING after 10 s: ${what}`),
    )
  }

  private end(id: string): void {
    clearTimeout(this.running.get(id))
    this.running.delete(id)
  }
}
