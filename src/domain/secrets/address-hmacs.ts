import { authenticationCode, uuidToBytes } from './signed-token.ts'

// What stands for a mail address that must not be kept: an HMAC of it, so that without the secret key nobody finds out whose it is, not even
// by trying all addresses; of the organization as well, so that two organizations' say nothing of each other.

/** Of an address, in whichever case, under each of the secret keys. @param secretKeys newest first. */
export const codesOfAddress = (secretKeys: readonly string[], organizationId: string, address: string): Buffer[] =>
  secretKeys.map((key) => codeOf(key, organizationId, address))

/** By the newest key: what is kept. */
export const codeOfAddress = (secretKeys: readonly string[], organizationId: string, address: string): Buffer =>
  codeOf(secretKeys[0]!, organizationId, address)

const codeOf = (key: string, organizationId: string, address: string): Buffer =>
  authenticationCode(key, 'erased-address', Buffer.concat([uuidToBytes(organizationId), Buffer.from(address.toLowerCase())]))

/** The code as a text that is no address: it has no @. */
export const wordCode = (code: Uint8Array): string => `erased:${Buffer.from(code).toString('base64url')}`
/** Whether it is one of these. */
export const isCodeWord = (text: string): boolean => text.startsWith('erased:')
