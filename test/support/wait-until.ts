import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import { tellUnlessOver } from './tell-unless-over.ts'

/**
 * For `vi.waitFor` and `expect.poll`: how long a test waits for what must come. Far longer than it takes on a machine that is busy with
 * other things as well: when it is over, something hangs.
 */
export const PATIENT = { timeout: 120_000, interval: 20 }
/** Asking takes processor time from what is waited for, so it is asked less often the longer it takes: in milliseconds, at most. */
const LONGEST_PAUSE = 200

/** Asks until there is an answer, and says after 10 s what for. @throws Error that says what was waited for, after `timeout` milliseconds without an answer. */
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
  const who = currentTestName ?? path.basename(testPath) // none in a hook of the file
  const timer = tellUnlessOver(() => `STILL WAITING after 10 s for ${what}: ${who}`)
  return vi
    .waitFor(answered, { ...PATIENT, timeout })
    .catch((cause) => {
      throw new Error(`Waited ${timeout} ms in vain for ${what}`, { cause })
    })
    .finally(() => clearTimeout(timer))
}
