import { randomBytes } from 'node:crypto'
import { bytesToUuid, signToken, UUID_BYTES, uuidToBytes, verifyToken } from './signed-token.ts'

/** Purpose of a challenge: to add a passkey, or to sign in, possibly as somebody unknown. */
export type ChallengePurpose = 'enrol' | 'signIn'

const purpose = 'passkey'
const PURPOSES: ChallengePurpose[] = ['enrol', 'signIn']
const TIME_BYTES = 6
const RANDOM_BYTES = 16
const NOBODY = '00000000-0000-0000-0000-000000000000'
/** Milliseconds that a page with one may stay open. Each is good once. */
const LIFETIME_MS = 3_600_000

/**
 * Challenge for an authenticator, base64url: purpose, account, expiry, and 128 random bits. It is signed and not stored, so
 * opening a page leaves no row behind.
 */
export function createChallenge(
  secretKeys: readonly string[],
  { forWhat, credentialId = NOBODY, now }: { forWhat: ChallengePurpose; credentialId?: string | undefined; now: Date },
): string {
  const endsAt = Buffer.alloc(TIME_BYTES)
  endsAt.writeUIntBE(now.getTime() + LIFETIME_MS, 0, TIME_BYTES)
  const kind = Buffer.of(PURPOSES.indexOf(forWhat))
  return signToken(secretKeys, purpose, Buffer.concat([kind, uuidToBytes(credentialId), endsAt, randomBytes(RANDOM_BYTES)]))
}

/** Time at which the challenge expires; null if it is not ours, was made for another purpose or person, or has expired. */
export function readChallenge(
  secretKeys: readonly string[],
  challenge: string,
  { forWhat, credentialId = NOBODY, now }: { forWhat: ChallengePurpose; credentialId?: string | undefined; now: Date },
): Date | null {
  const payload = verifyToken(secretKeys, purpose, challenge, 1 + UUID_BYTES + TIME_BYTES + RANDOM_BYTES)
  if (!payload || PURPOSES[payload[0]!] !== forWhat) return null
  if (bytesToUuid(payload.subarray(1, 1 + UUID_BYTES)) !== credentialId) return null
  const endsAt = new Date(payload.readUIntBE(1 + UUID_BYTES, TIME_BYTES))
  return endsAt > now ? endsAt : null
}
