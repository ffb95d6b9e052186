import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import { warnIfSlow } from './warn-if-slow.ts'

/**
 * Options of `vi.waitFor` and `expect.poll` for something that must happen. The timeout is far longer than needed, even on a busy machine, so
 * after it something hangs.
 */
export const PATIENT = { timeout: 120_000, interval: 20 }
/** Longest pause between two checks, in milliseconds. Pauses grow, because checks take processor time from the work that the test waits for. */
const LONGEST_PAUSE = 200

/** Repeats a check until it returns a value, and prints what it waits for after 10 s. @throws Error that names it after `timeout` milliseconds. */
export const waitUntil = <T>(
  what: string,
  ask: () => T | undefined | Promise<T | undefined>,
  timeout = PATIENT.timeout,
): Promise<T> => {
  let pause = 0
  const answered = async () => {
    if (pause > 0) await sleep(pause)
    pause = Math.min(pause * 1.5 + 5, LONGEST_PAUSE)
    const answer = await ask()
    if (answer === undefined) throw new Error('There was no answer')
    return answer
  }
  const { currentTestName, testPath = '' } = expect.getState()
  const who = currentTestName ?? path.basename(testPath) // a hook of the file has no test name
  const timer = warnIfSlow(() => `STILL WAITING after 10 s for ${what}: ${who}`)
  return vi
    .waitFor(answered, { ...PATIENT, timeout })
    .catch((cause) => {
      throw new Error(`Waited ${timeout} ms in vain for ${what}`, { cause })
    })
    .finally(() => clearTimeout(timer))
}
