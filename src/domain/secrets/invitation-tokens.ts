import {
  authenticationCode,
  bytesToUuid,
  equalsInConstantTime,
  signToken,
  UUID_BYTES,
  uuidToBytes,
  verifyToken,
} from './signed-token.ts'

/** Reference in a candidate's link. Raising an invite's link version revokes earlier links. */
export type InvitationRef = { inviteId: string; linkVersion: number }

/** Reference for an external player: the session of a started invite. */
export type SessionRef = { inviteId: string; session: string }

const VERSION_BYTES = 2

/**
 * The token in a candidate's link: the invite's id, the link's version and an HMAC over both. It is computed when needed and never
 * stored, so that stored data cannot open an invitation.
 *
 * @param secretKeys newest first; the newest signs.
 */
export function signInvitation(secretKeys: readonly string[], { inviteId, linkVersion }: InvitationRef): string {
  const version = Buffer.alloc(VERSION_BYTES)
  version.writeUInt16BE(linkVersion)
  return signToken(secretKeys, 'invitation', Buffer.concat([uuidToBytes(inviteId), version]))
}

/** Verifies the token of a link; null if none of the keys signed it. */
export function readInvitation(secretKeys: readonly string[], token: string): InvitationRef | null {
  const payload = verifyToken(secretKeys, 'invitation', token, UUID_BYTES + VERSION_BYTES)
  return payload && { inviteId: bytesToUuid(payload.subarray(0, UUID_BYTES)), linkVersion: payload.readUInt16BE(UUID_BYTES) }
}

/** The signed reference with which the player reports on a session. */
export const signSession = (secretKeys: readonly string[], { inviteId, session }: SessionRef): string =>
  signToken(secretKeys, 'session', Buffer.concat([uuidToBytes(inviteId), uuidToBytes(session)]))

/** Verifies the reference of a session; null if none of the keys signed it. */
export function readSession(secretKeys: readonly string[], reference: string): SessionRef | null {
  const payload = verifyToken(secretKeys, 'session', reference, 2 * UUID_BYTES)
  return payload && { inviteId: bytesToUuid(payload.subarray(0, UUID_BYTES)), session: bytesToUuid(payload.subarray(UUID_BYTES)) }
}

/** The CSRF token in the forms of a candidate's page. */
export const signForm = (secretKeys: readonly string[], token: string): string =>
  authenticationCode(secretKeys[0]!, 'form', Buffer.from(token)).toString('base64url')

/** Verifies the CSRF token of a form. */
export const isFormSignatureValid = (secretKeys: readonly string[], token: string, proof: string): boolean =>
  secretKeys.some((key) => equalsInConstantTime(Buffer.from(signForm([key], token)), Buffer.from(proof)))
