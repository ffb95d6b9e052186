import { authenticationCode, equalsInConstantTime, uuidToBytes } from './signed-token.ts'

/** 64 bits of the signature, in digits that mail servers keep apart in either case. */
const CODE_BYTES = 8
const CODE_LENGTH = 13
const BOUNCE_ADDRESS = /^bounce\+([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([0-9a-v]{13})@([^@]+)$/

/**
 * Envelope sender, to which bounces are sent. It identifies the mail and can't be forged. The local part has 63 of 64 allowed
 * characters.
 *
 * @param secretKeys newest first; the newest signs.
 */
export const signBounceAddress = (secretKeys: readonly string[], emailId: string, domain: string): string =>
  `bounce+${emailId}.${codeOf(secretKeys[0]!, emailId)}@${domain}`

/** The id of the mail that an address is for; null when none of the keys has signed it. */
export function readBounceAddress(secretKeys: readonly string[], address: string, domain: string): string | null {
  const [, emailId, code = '', host] = BOUNCE_ADDRESS.exec(address.toLowerCase()) ?? []
  if (emailId === undefined || host !== domain.toLowerCase()) return null
  const isSigned = secretKeys.some((key) => equalsInConstantTime(Buffer.from(codeOf(key, emailId)), Buffer.from(code)))
  return isSigned ? emailId : null
}

const codeOf = (key: string, emailId: string): string =>
  authenticationCode(key, 'bounce', uuidToBytes(emailId))
    .subarray(0, CODE_BYTES)
    .readBigUInt64BE()
    .toString(32)
    .padStart(CODE_LENGTH, '0')
