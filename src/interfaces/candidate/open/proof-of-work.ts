import { type Challenge, createChallenge, type Payload, randomInt, verifySolution } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import { authenticationCode } from '../../../domain/secrets/signed-token.ts'

// Proof of work of ALTCHA, protocol version 2. The service knows the counter, so it checks a solution without deriving a key.

/**
 * A derivation of 5,000 iterations takes about 2 ms, here and in a browser; after 300 to 600 of them, the solution is found: about a second in a
 * browser.
 */
const EFFORT = { iterations: 5_000, minimum: 300, maximum: 600 }
const LIFETIME_MS = 600_000
/** First hexadecimal digits of a signature: 128 bits. */
const ID_LENGTH = 32
/** Most characters of a solution. */
const MAX_LENGTH = 4_000

const secretsOf = (key: string) => ({
  hmacSignatureSecret: authenticationCode(key, 'proof-of-work', Buffer.from('challenge')).toString('hex'),
  hmacKeySignatureSecret: authenticationCode(key, 'proof-of-work', Buffer.from('key')).toString('hex'),
})

/** A challenge for the form of one open link. It is not stored. @param secretKeys newest first; the newest signs. */
export const createProofChallenge = (
  secretKeys: readonly string[],
  { linkId, now, effort = EFFORT }: { linkId: string; now: Date; effort?: typeof EFFORT },
): Promise<Challenge> =>
  createChallenge({
    algorithm: 'PBKDF2/SHA-256',
    cost: effort.iterations,
    counter: randomInt(effort.maximum, effort.minimum),
    // By our clock: the library has its own.
    data: { link: linkId, until: now.getTime() + LIFETIME_MS },
    deriveKey,
    ...secretsOf(secretKeys[0]!),
  })

/** Identifies the solved challenge. @returns null if the solution is invalid, expired, or for another link. */
export async function readProof(
  secretKeys: readonly string[],
  text: string,
  { linkId, now }: { linkId: string; now: Date },
): Promise<string | null> {
  const payload = parse(text)
  const signature = payload?.challenge.signature
  const { link, until } = payload?.challenge.parameters.data ?? {}
  if (!payload || !signature || link !== linkId || typeof until !== 'number' || until <= now.getTime()) return null
  for (const key of secretKeys) {
    const { verified } = await verifySolution({ ...payload, deriveKey, ...secretsOf(key) }).catch(() => ({ verified: false }))
    if (verified) return signature.slice(0, ID_LENGTH)
  }
  return null
}

/** @returns null for an invalid text. */
function parse(text: string): Payload | null {
  if (text === '' || text.length > MAX_LENGTH) return null
  try {
    const payload = JSON.parse(text)
    return typeof payload?.challenge?.parameters === 'object' && payload.challenge.parameters ? payload : null
  } catch {
    return null
  }
}
