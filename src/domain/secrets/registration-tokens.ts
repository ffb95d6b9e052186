import { randomBytes } from 'node:crypto'
import { bytesToUuid, signToken, UUID_BYTES, uuidToBytes, verifyToken } from './signed-token.ts'

const TOKEN_BYTES = 16

/** Secret part of an open link: 128 random bits. It is stored, because members read it again and again. */
export const newOpenToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url')

/** Token in the mail of a registration: its id, signed. It proves that its reader has the mail. @param secretKeys newest first; the newest signs. */
export const signRegistration = (secretKeys: readonly string[], registrationId: string): string =>
  signToken(secretKeys, 'registration', uuidToBytes(registrationId))

/** Id of the registration; null if none of the keys signed it. */
export function readRegistration(secretKeys: readonly string[], token: string): string | null {
  const payload = verifyToken(secretKeys, 'registration', token, UUID_BYTES)
  return payload && bytesToUuid(payload)
}
