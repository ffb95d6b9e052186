import { PASSWORD, SECRET_KEY } from './known-secrets.ts'

// Searches all logs of services in tests, in this process and in others, for secrets, which anyone who reads the logs could use.

/** Tokens mix uppercase letters, lowercase letters, and digits without a break; other words don't. */
const TOKEN = /(?<![\w-])(?=[\w-]*[A-Z])(?=[\w-]*[a-z])(?=[\w-]*\d)[\w-]{43,}/

const SECRETS: [what: string, pattern: RegExp][] = [
  ['an API key', /ak_(live|test)_\w{8,}/],
  ['a token of a link or a session', TOKEN],
  ["a webhook's secret", /whsec_/],
  // Not after a colon: there it is a password and host in a URL, as in the example of a setting.
  ['a mail address', /(?<![\w.+:-])[\w.+-]+@[\w-]+(\.[\w-]+)*\.[a-z]{2,}/i],
  ['a password', new RegExp(`${PASSWORD}|${SECRET_KEY}`)],
]

const found: string[] = []

/** Searches a line of a log. Other output of a program, such as the key that a first start prints, is meant for people and is skipped. */
export function searchLogLine(line: string): void {
  if (!line.startsWith('{"level":')) return
  for (const [what, pattern] of SECRETS) if (pattern.test(line)) found.push(`${what}: ${line.slice(0, 2_000)}`)
}

/** Throws if a line since the last call contained a secret. */
export function expectNoLoggedSecrets(): void {
  const lines = found.splice(0)
  if (lines.length > 0) throw new Error(`The log holds ${lines.length} secrets, the first is ${lines.slice(0, 3).join('\n')}`)
}
