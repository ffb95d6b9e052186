import { createHmac, timingSafeEqual } from 'node:crypto'

/** A signature is valid for one purpose only. */
export type Purpose =
  | 'invitation'
  | 'session'
  | 'form'
  | 'account-link'
  | 'media'
  | 'play'
  | 'share'
  | 'share-code'
  | 'share-access'
  | 'bounce'
  | 'passkey'
  | 'unsubscribe'
  | 'erased-address'
  | 'mailbox'
  | 'fingerprint'
  | 'registration'
  | 'proof-of-work'

export const UUID_BYTES = 16
/** First bytes of an HMAC-SHA256: 128 bits can't be guessed and keep the link short. */
const MAC_BYTES = 16

/** The payload and its signature, as text for an address. @param secretKeys newest first; the newest signs. */
export const signToken = (secretKeys: readonly string[], purpose: Purpose, payload: Buffer): string =>
  Buffer.concat([payload, authenticationCode(secretKeys[0]!, purpose, payload)]).toString('base64url')

/** The payload of a token; null when none of the keys has signed it for this purpose. */
export function verifyToken(secretKeys: readonly string[], purpose: Purpose, text: string, payloadBytes: number): Buffer | null {
  const bytes = Buffer.from(text, 'base64url')
  // One text only for each signature: base64url is lenient about its last characters.
  if (bytes.length !== payloadBytes + MAC_BYTES || bytes.toString('base64url') !== text) return null
  const payload = bytes.subarray(0, payloadBytes)
  const code = bytes.subarray(payloadBytes)
  return secretKeys.some((key) => equalsInConstantTime(authenticationCode(key, purpose, payload), code)) ? payload : null
}

export const authenticationCode = (key: string, purpose: Purpose, payload: Buffer): Buffer =>
  createHmac('sha256', key).update(purpose).update(payload).digest().subarray(0, MAC_BYTES)

/** Compares in the same time wherever they differ. */
export const equalsInConstantTime = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b)

export const uuidToBytes = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex')
export const bytesToUuid = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
