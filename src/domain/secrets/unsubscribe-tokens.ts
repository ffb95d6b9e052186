import { bytesToUuid, signToken, UUID_BYTES, uuidToBytes, verifyToken } from './signed-token.ts'

/** What stops mails to the candidate of an invite, whichever of them it stood in. @param secretKeys newest first; the newest signs. */
export const signUnsubscribing = (secretKeys: readonly string[], inviteId: string): string =>
  signToken(secretKeys, 'unsubscribe', uuidToBytes(inviteId))

/** The id of the invite; null when none of the keys has signed it. */
export function readUnsubscribing(secretKeys: readonly string[], token: string): string | null {
  const payload = verifyToken(secretKeys, 'unsubscribe', token, UUID_BYTES)
  return payload && bytesToUuid(payload)
}
