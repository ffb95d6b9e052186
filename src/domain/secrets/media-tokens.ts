import { bytesToUuid, signToken, UUID_BYTES, uuidToBytes, verifyToken } from './signed-token.ts'

/** Link to a recording that works without signing in, for an organization's own systems. */
export type MediaLink = { mediaId: string; expiresAt: Date }

/** Validity of a link. */
export const LINKED_FOR_MS = 15 * 60_000

const TIME_BYTES = 6

/**
 * The secret part of a recording's link: its id and until when, signed.
 *
 * @param secretKeys newest first; the newest signs.
 */
export function signMediaLink(secretKeys: readonly string[], { mediaId, expiresAt }: MediaLink): string {
  const time = Buffer.alloc(TIME_BYTES)
  time.writeUIntBE(expiresAt.getTime(), 0, TIME_BYTES)
  return signToken(secretKeys, 'media', Buffer.concat([uuidToBytes(mediaId), time]))
}

/** Reads the secret part of a media link; null if none of the keys signed it. */
export function readMediaLink(secretKeys: readonly string[], token: string): MediaLink | null {
  const payload = verifyToken(secretKeys, 'media', token, UUID_BYTES + TIME_BYTES)
  if (payload === null) return null
  return {
    mediaId: bytesToUuid(payload.subarray(0, UUID_BYTES)),
    expiresAt: new Date(payload.readUIntBE(UUID_BYTES, TIME_BYTES)),
  }
}
