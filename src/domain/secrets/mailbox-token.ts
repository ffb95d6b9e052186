import { signToken, verifyToken } from './signed-token.ts'

const NOTHING = Buffer.alloc(0)

/**
 * Token of the link to the captured mails. It follows from the secret key, which is random, so that the link stays good after a restart and
 * is the same for all processes of an installation.
 */
export const createMailboxToken = (secretKeys: readonly string[]): string => signToken(secretKeys, 'mailbox', NOTHING)

export const isMailboxToken = (secretKeys: readonly string[], token: string): boolean =>
  verifyToken(secretKeys, 'mailbox', token, NOTHING.length) !== null
