import { expect, vi } from 'vitest'

/**
 * For `vi.waitFor` and `expect.poll`: how long a test waits for what must come. Far longer than it takes on a machine that is busy with
 * other things as well: when it is over, something hangs.
 */
export const PATIENT = { timeout: 120_000, interval: 20 }

const HANGS_AFTER_MS = 10_000

/** Asks until there is an answer, and says after 10 s what for. @throws Error that says what was waited for, after `timeout` milliseconds without an answer. */
export const waitUntil = <T>(
  what: string,
  ask: () => T | undefined | Promise<T | undefined>,
  timeout = PATIENT.timeout,
): Promise<T> => {
  const answered = async () => {
    const answer = await ask()
    if (answer === undefined) throw new Error('There was no answer')
    return answer
  }
  const tell = () => process.stderr.write(`STILL WAITING after 10 s for ${what}: ${expect.getState().currentTestName}\n`)
  const timer = process.env.TEST_RETRIES ? undefined : setTimeout(tell, HANGS_AFTER_MS)
  return vi
    .waitFor(answered, { ...PATIENT, timeout })
    .catch((cause) => {
      throw new Error(`Waited ${timeout} ms in vain for ${what}`, { cause })
    })
    .finally(() => clearTimeout(timer))
}
