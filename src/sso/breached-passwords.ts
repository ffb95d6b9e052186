import { hash } from 'node:crypto'
import type { BreachedPasswords, Log, Metrics } from '../domain/context.ts'

/** Nobody waits longer for a password to be looked up. */
const DEADLINE_MS = 1_000
/** Of the digest, as much as is sent: thousands of passwords begin alike (k-anonymity). */
const SENT = 5

/**
 * Looks passwords up among those that have leaked elsewhere, at *Have I Been Pwned* or a mirror of it: sent is the beginning of a digest, which
 * thousands of passwords share. Whoever does not answer in time stops nobody: then only the list that comes with the service is looked at.
 *
 * @param url what the beginning of the digest is put behind; undefined: nothing is asked.
 * @see https://haveibeenpwned.com/API/v3#PwnedPasswords
 */
export const createBreachedPasswords =
  (url: string | undefined, { log, metrics }: { log: Log; metrics: Pick<Metrics, 'breachLookedUp'> }): BreachedPasswords =>
  async (password) => {
    if (url === undefined) return false
    const range = url.endsWith('/') ? url : `${url}/`
    const digest = hash('sha1', password, 'hex').toUpperCase()
    try {
      const answer = await fetch(new URL(digest.slice(0, SENT), range), {
        headers: { 'add-padding': 'true' },
        redirect: 'error',
        signal: AbortSignal.timeout(DEADLINE_MS),
      })
      if (!answer.ok) throw new Error(`It answered ${answer.status}.`)
      const isFound = (await answer.text()).split('\n').some((line) => isOf(line.trim(), digest.slice(SENT)))
      metrics.breachLookedUp(isFound ? 'found' : 'not_found')
      return isFound
    } catch (error) {
      metrics.breachLookedUp('failed')
      log.warn({ err: error }, 'a new password could not be looked up among leaked ones, and was taken')
      return false
    }
  }

/** A line is the rest of a digest and how often it was found: 0 is padding. */
function isOf(line: string, rest: string): boolean {
  const [of, count] = line.split(':')
  return of?.toUpperCase() === rest && Number(count) > 0
}
