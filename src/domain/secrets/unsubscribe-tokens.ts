import { bytesToUuid, signToken, UUID_BYTES, uuidToBytes, verifyToken } from './signed-token.ts'

/**
 * Token that stops mails to an invite's candidate; the same in all of its mails. @param secretKeys newest first; the newest
 * signs.
 */
export const signUnsubscribeToken = (secretKeys: readonly string[], inviteId: string): string =>
  signToken(secretKeys, 'unsubscribe', uuidToBytes(inviteId))

/** Id of the invite; null if none of the keys signed it. */
export function readUnsubscribeToken(secretKeys: readonly string[], token: string): string | null {
  const payload = verifyToken(secretKeys, 'unsubscribe', token, UUID_BYTES)
  return payload && bytesToUuid(payload)
}
