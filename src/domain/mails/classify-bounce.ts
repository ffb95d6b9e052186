/**
 * Meaning of a bounce.
 * - `address`: the mailbox does not exist.
 * - `temporary`: the mailbox is full, or its server was unavailable.
 * - `blocked`: the server rejects our mail, or the reason is unknown; the address may be right.
 */
export const BOUNCES = ['address', 'temporary', 'blocked'] as const
export type Bounce = (typeof BOUNCES)[number]

/** Enhanced status codes (RFC 3463 and IANA's registry) of a missing mailbox or domain. */
const NO_SUCH_MAILBOX = ['5.1.0', '5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10', '5.2.1', '5.4.4']
const MAILBOX_FULL = '5.2.2'

/** By the status code alone: what providers call hard, soft or transient is not to be relied on. */
export function classifyBounce(status: string): Bounce {
  if (NO_SUCH_MAILBOX.includes(status)) return 'address'
  return status === MAILBOX_FULL || status.startsWith('4.') ? 'temporary' : 'blocked'
}

/** The enhanced status code in a server's message; empty if it has none. */
export const findStatusCode = (words: string): string => /(?:^|[\s;(#-])([245]\.\d{1,3}\.\d{1,3})(?![\d.])/.exec(words)?.[1] ?? ''
