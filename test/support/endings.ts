import type { ChildProcess } from 'node:child_process'
import { onTestFinished } from 'vitest'

/** Clean-up functions of the running hook, which can't add hooks itself. */
const endings: (() => Promise<void>)[] = []

/** Does it at the end of the test, or of the file outside of one. */
export function whenOver(end: () => Promise<void>): void {
  try {
    onTestFinished(end)
  } catch {
    endings.push(end)
  }
}

/** Ends a process with the test, or with the file when it is started outside of one. */
export const endWithTest = (child: ChildProcess, exited: Promise<unknown>): void =>
  whenOver(async () => {
    child.kill('SIGKILL')
    await exited
  })

/** Ends what a file's hooks have started. */
export async function endWithFile(): Promise<void> {
  await Promise.all(endings.splice(0).map((end) => end()))
}
