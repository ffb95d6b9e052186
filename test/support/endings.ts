import type { ChildProcess } from 'node:child_process'
import { onTestFinished } from 'vitest'

/** Cleanups that were registered outside a test, such as in a hook, which can't add hooks itself. They run at the end of the file. */
const endings: (() => Promise<void>)[] = []

/** Registers a cleanup for the end of the test, or for the end of the file if called outside a test. */
export function addCleanup(end: () => Promise<void>): void {
  try {
    onTestFinished(end)
  } catch {
    endings.push(end)
  }
}

/** Kills a process at the end of the test, or at the end of the file if it was started outside a test. */
export const endWithTest = (child: ChildProcess, exited: Promise<unknown>): void =>
  addCleanup(async () => {
    child.kill('SIGKILL')
    await exited
  })

/** Runs the cleanups that were registered outside a test. */
export async function endWithFile(): Promise<void> {
  await Promise.all(endings.splice(0).map((end) => end()))
}
