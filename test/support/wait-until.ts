import { vi } from 'vitest'

/**
 * For `vi.waitFor` and `expect.poll`: how long a test waits for what must come. Far longer than it takes on a machine that is busy with
 * other things as well: when it is over, something hangs.
 */
export const PATIENT = { timeout: 120_000, interval: 20 }

/** Asks until there is an answer. @throws Error that says what was waited for, after `timeout` milliseconds without an answer. */
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
  return vi.waitFor(answered, { ...PATIENT, timeout }).catch((cause) => {
    throw new Error(`Waited ${timeout} ms in vain for ${what}`, { cause })
  })
}
