import { createHmac, timingSafeEqual } from 'node:crypto'

/** What a candidate's link stands for. Raising an invite's link version makes its earlier links worthless. */
export type InvitationRef = { inviteId: string; linkVersion: number }

const ID_BYTES = 16
const VERSION_BYTES = 2
const MAC_BYTES = 16
const TOKEN_LENGTH = Math.ceil(((ID_BYTES + VERSION_BYTES + MAC_BYTES) * 4) / 3)

/**
 * The secret part of a candidate's link: the invite's id, the link's version and an HMAC-SHA256 (128 bits of it) over both, in
 * base64url. It is computed when needed and stored nowhere, so that nothing at rest opens an invitation.
 *
 * @param secretKeys newest first; the newest signs.
 */
export function signInvitation(secretKeys: readonly string[], { inviteId, linkVersion }: InvitationRef): string {
  const payload = Buffer.alloc(ID_BYTES + VERSION_BYTES)
  payload.write(inviteId.replaceAll('-', ''), 'hex')
  payload.writeUInt16BE(linkVersion, ID_BYTES)
  return Buffer.concat([payload, authenticationCode(secretKeys[0]!, payload)]).toString('base64url')
}

/** Reads a link's secret part; null when none of the keys has signed it. */
export function readInvitation(secretKeys: readonly string[], token: string): InvitationRef | null {
  if (token.length !== TOKEN_LENGTH) return null
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.toString('base64url') !== token) return null
  const payload = bytes.subarray(0, ID_BYTES + VERSION_BYTES)
  const code = bytes.subarray(ID_BYTES + VERSION_BYTES)
  if (!secretKeys.some((key) => timingSafeEqual(authenticationCode(key, payload), code))) return null
  const hex = payload.toString('hex', 0, ID_BYTES)
  const inviteId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return { inviteId, linkVersion: payload.readUInt16BE(ID_BYTES) }
}

const authenticationCode = (key: string, payload: Buffer) =>
  createHmac('sha256', key).update('invitation').update(payload).digest().subarray(0, MAC_BYTES)
