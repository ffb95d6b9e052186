import { hash } from 'node:crypto'
import type { BreachedPasswords } from '../domain/ports/breached-passwords.ts'
import type { Log } from '../domain/ports/log-events.ts'
import type { Metrics } from '../domain/ports/metrics.ts'

/** Milliseconds that a person choosing a password waits. */
const DEADLINE_MS = 1_000
/** Digits of the hash that are sent. Thousands of passwords share them (k-anonymity). */
const SENT_DIGITS = 5

/**
 * Checks passwords against known breaches at Have I Been Pwned or a mirror. Only the first digits of a hash are sent. If the service doesn't
 * answer in time, the password passes, and only the built-in list is checked.
 *
 * @param url prefix of the range request; undefined: no check.
 * @see https://haveibeenpwned.com/API/v3#PwnedPasswords
 */
export const createBreachedPasswords =
  (url: string | undefined, { log, metrics }: { log: Log; metrics: Pick<Metrics, 'breachLookedUp'> }): BreachedPasswords =>
  async (password) => {
    if (url === undefined) return false
    const range = url.endsWith('/') ? url : `${url}/`
    const digest = hash('sha1', password, 'hex').toUpperCase()
    try {
      const answer = await fetch(new URL(digest.slice(0, SENT_DIGITS), range), {
        headers: { 'add-padding': 'true' },
        redirect: 'error',
        signal: AbortSignal.timeout(DEADLINE_MS),
      })
      if (!answer.ok) throw new Error(`It answered ${answer.status}.`)
      const isFound = (await answer.text()).split('\n').some((line) => matchesLine(line.trim(), digest.slice(SENT_DIGITS)))
      metrics.breachLookedUp(isFound ? 'found' : 'not_found')
      return isFound
    } catch (error) {
      metrics.breachLookedUp('failed')
      log.warn({ err: error }, 'a new password could not be checked for leaks, and was accepted')
      return false
    }
  }

/** A line is the rest of a hash and its count. A count of 0 is padding. */
function matchesLine(line: string, rest: string): boolean {
  const [of, count] = line.split(':')
  return of?.toUpperCase() === rest && Number(count) > 0
}
