import { isIP } from 'node:net'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { SecondFactor } from '../../generated/prisma/client.ts'
import type { ServiceContext } from '../context.ts'
import { createChallenge, readChallenge } from '../secrets/passkey-challenges.ts'
import { uuidToBytes } from '../secrets/signed-token.ts'

// Passkeys, see WebAuthn level 3. One with user verification (fingerprint or PIN) counts as two factors. The authenticator's make is not
// checked (no attestation).

/** EdDSA, ES256, RS256: what authenticators have. */
const ALGORITHMS = [-8, -7, -257]
const TIMEOUT_MS = 5 * 60_000
/** As much as an answer of a browser may have: a few times what any has. */
const MAX_ANSWER_LENGTH = 20_000

/** A passkey as it is stored with its person. */
export type Passkey = SecondFactor & { webauthnId: string; publicKey: Uint8Array<ArrayBuffer>; counter: bigint }
export type PasskeyOptions = Record<string, unknown>
type Proven = { challenge: string; endsAt: Date }
export type NewPasskey = Proven & Pick<Passkey, 'webauthnId' | 'publicKey' | 'counter' | 'transports' | 'isSynced'>

/** Host of the passkeys; null for an IP address, for which browsers create no passkeys. */
export function relyingParty({ deps }: ServiceContext): { id: string; origin: string } | null {
  const { hostname, origin } = new URL(deps.site.publicUrl)
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? { id: hostname, origin } : null
}

/** Options for creating a passkey. @param existingPasskeys passkeys of the person; their authenticators refuse a second one. */
export function creationOptions(
  { deps }: ServiceContext,
  rp: { id: string },
  { person, existingPasskeys }: { person: { id: string; email: string; name: string }; existingPasskeys: readonly Passkey[] },
): PasskeyOptions {
  return {
    challenge: createChallenge(deps.secretKeys, { forWhat: 'enrol', credentialId: person.id, now: deps.clock() }),
    rp: { id: rp.id, name: rp.id },
    user: { id: userHandleOf(person.id), name: person.email, displayName: person.name || person.email },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    excludeCredentials: existingPasskeys.map(describe),
    attestation: 'none',
    timeout: TIMEOUT_MS,
  }
}

/** Options for signing in. @param passkeys passkeys of a known person; empty: any passkey for this host. */
export const requestOptions = (
  { deps }: ServiceContext,
  rp: { id: string },
  { credentialId, passkeys = [] }: { credentialId?: string | undefined; passkeys?: readonly Passkey[] } = {},
): PasskeyOptions => ({
  challenge: createChallenge(deps.secretKeys, { forWhat: 'signIn', credentialId, now: deps.clock() }),
  rpId: rp.id,
  allowCredentials: passkeys.map(describe),
  userVerification: 'required',
  timeout: TIMEOUT_MS,
})

const describe = ({ webauthnId, transports }: Passkey) => ({ type: 'public-key', id: webauthnId, transports })

const userHandleOf = (credentialId: string): string => uuidToBytes(credentialId).toString('base64url')

/** Parses a browser's answer; null if it is malformed. */
function readAnswer(text: string): { id: string; response: Record<string, unknown> } | null {
  if (text.length > MAX_ANSWER_LENGTH) return null
  try {
    const { id, response } = JSON.parse(text) ?? {}
    return typeof id === 'string' && typeof response === 'object' && response !== null ? JSON.parse(text) : null
  } catch {
    return null
  }
}

/** Passkey id in a WebAuthn response; null if it is unreadable. */
export const passkeyIdOf = (text: string): string | null => readAnswer(text)?.id ?? null

/** The passkey that was made for the person; null when the answer does not show one. */
export async function verifyCreation(service: ServiceContext, credentialId: string, text: string): Promise<NewPasskey | null> {
  const rp = relyingParty(service)
  const answer = readAnswer(text) as RegistrationResponseJSON | null
  if (!rp || !answer) return null
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const expectation = expecting(service, { forWhat: 'enrol', credentialId })
  const { registrationInfo } = await orNull(
    verifyRegistrationResponse({
      response: answer,
      expectedChallenge: expectation.isOurs,
      expectedOrigin: rp.origin,
      expectedRPID: rp.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    }),
  )
  const proven = expectation.proven()
  if (!registrationInfo || !proven) return null
  const { credential, credentialBackedUp: isSynced } = registrationInfo
  const { id: webauthnId, publicKey, counter, transports = [] } = credential
  return { ...proven, webauthnId, publicKey: new Uint8Array(publicKey), counter: BigInt(counter), transports, isSynced }
}

/**
 * Verifies a passkey's answer. Null for another host, page, or passkey, without user verification, or with a counter that went
 * back, as a copied passkey's does.
 *
 * @param credentialId account that was asked; undefined if the person is not known yet.
 * @returns the challenge and the authenticator's counter.
 */
export async function verifyPasskey(
  service: ServiceContext,
  passkey: Passkey,
  text: string,
  credentialId: string | undefined,
): Promise<(Proven & { counter: bigint }) | null> {
  const rp = relyingParty(service)
  const answer = readAnswer(text) as AuthenticationResponseJSON | null
  if (!rp || !answer || answer.id !== passkey.webauthnId) return null
  const { userHandle } = answer.response
  if (userHandle && userHandle !== userHandleOf(passkey.credentialId)) return null
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const expectation = expecting(service, { forWhat: 'signIn', credentialId })
  const { verified = false, authenticationInfo } = await orNull(
    verifyAuthenticationResponse({
      response: answer,
      expectedChallenge: expectation.isOurs,
      expectedOrigin: rp.origin,
      expectedRPID: rp.id,
      requireUserVerification: true,
      credential: { id: passkey.webauthnId, publicKey: passkey.publicKey, counter: Number(passkey.counter) },
    }),
  )
  const proven = expectation.proven()
  return verified && authenticationInfo && proven ? { ...proven, counter: BigInt(authenticationInfo.newCounter) } : null
}

/** Looks at the challenge within an answer, and keeps it. */
function expecting({ deps }: ServiceContext, forWhom: { forWhat: 'enrol' | 'signIn'; credentialId: string | undefined }) {
  let proven: Proven | null = null
  return {
    isOurs: (challenge: string): boolean => {
      const endsAt = readChallenge(deps.secretKeys, challenge, { ...forWhom, now: deps.clock() })
      proven = endsAt && { challenge, endsAt }
      return endsAt !== null
    },
    proven: () => proven,
  }
}

/** The library throws for invalid responses, with details that are not revealed. */
const orNull = <T extends object>(verifying: Promise<T>): Promise<Partial<T>> => verifying.catch(() => ({}))

/** Warns of passkeys that were made for another host than the service has now: they work again where it gets that one back. */
export async function warnOfOtherHosts(service: ServiceContext): Promise<void> {
  const { hostname: host } = new URL(service.deps.site.publicUrl)
  const passkeys = await service.db.secondFactor.count({ where: { kind: 'passkey', NOT: { rpId: host } } })
  if (passkeys > 0)
    service.deps.log.warn({ host, passkeys }, 'the host of PUBLIC_URL has changed: passkeys for the previous host no longer work')
}
