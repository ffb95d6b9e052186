import { PASSWORD, SECRET_KEY } from './known-secrets.ts'

// Everything that services of tests log, in this process and in others, is searched for what a log must not hold: whoever reads logs
// could use it.

/** Secrets mix three kinds of characters without a break; other words don't. */
const TOKEN = /(?<![\w-])(?=[\w-]*[A-Z])(?=[\w-]*[a-z])(?=[\w-]*\d)[\w-]{43,}/

const SECRETS: [what: string, pattern: RegExp][] = [
  ['an API key', /ak_(live|test)_\w{8,}/],
  ['a token of a link or a session', TOKEN],
  ["a webhook's secret", /whsec_/],
  // But for the example of a setting: what stands between a colon and an @ is the password in an address of the web.
  ['a mail address', /(?<![\w.+:-])[\w.+-]+@[\w-]+(\.[\w-]+)*\.[a-z]{2,}/i],
  ['a password', new RegExp(`${PASSWORD}|${SECRET_KEY}`)],
]

const found: string[] = []

/** Looks at a line of a log. What else a program writes, as a first start does its key, is for people. */
export function searchLine(line: string): void {
  if (!line.startsWith('{"level":')) return
  for (const [what, pattern] of SECRETS) if (pattern.test(line)) found.push(`${what}: ${line.slice(0, 2_000)}`)
}

/** Fails when a line since the last call held a secret. */
export function refuseLoggedSecrets(): void {
  const lines = found.splice(0)
  if (lines.length > 0) throw new Error(`The log holds ${lines.length} secrets, the first is ${lines.slice(0, 3).join('\n')}`)
}
