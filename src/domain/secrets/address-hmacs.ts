import { authenticationCode, uuidToBytes } from './signed-token.ts'

// HMAC of a mail address that must not be stored. Without the secret key nobody can find the address, even by trying all. It
// includes the organization, so that the codes of two organizations can't be compared.

/** Codes of an address in any case, one for each secret key. @param secretKeys newest first. */
export const hmacsOfAddress = (secretKeys: readonly string[], organizationId: string, address: string): Buffer[] =>
  secretKeys.map((key) => codeOf(key, organizationId, address))

/** HMAC under the newest key, for storing. */
export const hmacOfAddress = (secretKeys: readonly string[], organizationId: string, address: string): Buffer =>
  codeOf(secretKeys[0]!, organizationId, address)

const codeOf = (key: string, organizationId: string, address: string): Buffer =>
  authenticationCode(key, 'erased-address', Buffer.concat([uuidToBytes(organizationId), Buffer.from(address.toLowerCase())]))

/** The code as a text that is no address: it has no @. */
export const formatHmac = (code: Uint8Array): string => `erased:${Buffer.from(code).toString('base64url')}`
export const isFormattedHmac = (text: string): boolean => text.startsWith('erased:')
