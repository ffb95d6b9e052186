import { createHmac, timingSafeEqual } from 'node:crypto'

/** What a candidate's link refers to. Raising an invite's link version invalidates its earlier links. */
export type InvitationRef = { inviteId: string; linkVersion: number }

/** What the player's reference refers to: the session of a started invite. */
export type SessionRef = { inviteId: string; session: string }

const ID_BYTES = 16
const VERSION_BYTES = 2
/** Of an HMAC-SHA256: 128 bits are beyond guessing, and keep the link short. */
const MAC_BYTES = 16

/**
 * The token in a candidate's link: the invite's id, the link's version and an HMAC over both. It is computed when needed and never
 * stored, so that stored data cannot open an invitation.
 *
 * @param secretKeys newest first; the newest signs.
 */
export function signInvitation(secretKeys: readonly string[], { inviteId, linkVersion }: InvitationRef): string {
  const version = Buffer.alloc(VERSION_BYTES)
  version.writeUInt16BE(linkVersion)
  return sign(secretKeys, 'invitation', Buffer.concat([uuidToBytes(inviteId), version]))
}

/** Verifies the token of a link; null when none of the keys has signed it. */
export function readInvitation(secretKeys: readonly string[], token: string): InvitationRef | null {
  const payload = verify(secretKeys, 'invitation', token, ID_BYTES + VERSION_BYTES)
  return payload && { inviteId: bytesToUuid(payload.subarray(0, ID_BYTES)), linkVersion: payload.readUInt16BE(ID_BYTES) }
}

/** The signed reference with which the player reports on a session. */
export const signSession = (secretKeys: readonly string[], { inviteId, session }: SessionRef): string =>
  sign(secretKeys, 'session', Buffer.concat([uuidToBytes(inviteId), uuidToBytes(session)]))

/** Verifies the reference of a session; null when none of the keys has signed it. */
export function readSession(secretKeys: readonly string[], reference: string): SessionRef | null {
  const payload = verify(secretKeys, 'session', reference, 2 * ID_BYTES)
  return payload && { inviteId: bytesToUuid(payload.subarray(0, ID_BYTES)), session: bytesToUuid(payload.subarray(ID_BYTES)) }
}

/** The CSRF token in the forms of a candidate's page. */
export const signForm = (secretKeys: readonly string[], token: string): string =>
  authenticationCode(secretKeys[0]!, 'form', Buffer.from(token)).toString('base64url')

/** Verifies the CSRF token of a form. */
export const isOwnForm = (secretKeys: readonly string[], token: string, proof: string): boolean =>
  secretKeys.some((key) => isSame(Buffer.from(signForm([key], token)), Buffer.from(proof)))

/** A signature is good for one purpose only. */
type Purpose = 'invitation' | 'session' | 'form'

const sign = (secretKeys: readonly string[], purpose: Purpose, payload: Buffer): string =>
  Buffer.concat([payload, authenticationCode(secretKeys[0]!, purpose, payload)]).toString('base64url')

function verify(secretKeys: readonly string[], purpose: Purpose, text: string, payloadBytes: number): Buffer | null {
  const bytes = Buffer.from(text, 'base64url')
  // One text only for each signature: base64url is lenient about its last characters.
  if (bytes.length !== payloadBytes + MAC_BYTES || bytes.toString('base64url') !== text) return null
  const payload = bytes.subarray(0, payloadBytes)
  const code = bytes.subarray(payloadBytes)
  return secretKeys.some((key) => isSame(authenticationCode(key, purpose, payload), code)) ? payload : null
}

const authenticationCode = (key: string, purpose: Purpose, payload: Buffer): Buffer =>
  createHmac('sha256', key).update(purpose).update(payload).digest().subarray(0, MAC_BYTES)

const isSame = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b)

const uuidToBytes = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex')
const bytesToUuid = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
