import {
  authenticationCode,
  bytesToUuid,
  equalsInConstantTime,
  signToken,
  UUID_BYTES,
  uuidToBytes,
  verifyToken,
} from './signed-token.ts'

// Secrets of links to results are derived from the link's id, so that the database stores none.

/** Signs the secret part of a link. @param secretKeys newest first; the newest signs. */
export const signShareLink = (secretKeys: readonly string[], id: string): string =>
  signToken(secretKeys, 'share', uuidToBytes(id))

/** Id of the link; null if none of the keys signed it. */
export function readShareLink(secretKeys: readonly string[], token: string): string | null {
  const payload = verifyToken(secretKeys, 'share', token, UUID_BYTES)
  return payload && bytesToUuid(payload)
}

/** Proof that a browser has entered the link's access code. */
export const signShareAccess = (secretKeys: readonly string[], id: string): string =>
  signToken(secretKeys, 'share-access', uuidToBytes(id))

export const hasShareAccess = (secretKeys: readonly string[], id: string, token: string): boolean =>
  verifyToken(secretKeys, 'share-access', token, UUID_BYTES)?.equals(uuidToBytes(id)) ?? false

/** Without letters and digits that look alike: 32 of them, so that each byte's remainder is equally likely. */
const CODE_LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const CODE_LENGTH = 8

/** Access code of a link, of 40 bits. @param secretKeys newest first; the newest makes it. */
export const shareCodeOf = (secretKeys: readonly string[], id: string): string => codeOf(secretKeys[0]!, id)

const codeOf = (key: string, id: string): string =>
  [...authenticationCode(key, 'share-code', uuidToBytes(id)).subarray(0, CODE_LENGTH)]
    .map((byte) => CODE_LETTERS[byte % CODE_LETTERS.length])
    .join('')

/** Case, spaces, and hyphens don't matter. */
export function isShareCode(secretKeys: readonly string[], id: string, typed: string): boolean {
  const code = Buffer.from(typed.replace(/[\s-]/g, '').toUpperCase())
  return secretKeys.some((key) => equalsInConstantTime(Buffer.from(codeOf(key, id)), code))
}
