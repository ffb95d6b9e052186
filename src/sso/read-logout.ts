import { createLruCache } from '../domain/concurrency/lru-cache.ts'
import type { IdpClient, LogoutToken } from '../domain/ports/identity-provider.ts'
import type { Fetch } from './fetch.ts'
import { ProviderFault } from './provider-fault.ts'

/** Seconds: the token's maximum age, and the clock tolerance. */
const MAX_AGE_SECONDS = 120
const TOLERANCE_SECONDS = 60
const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
/** No symmetric algorithms. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
/** Values of the `typ` header. The standard only recommends one, and some providers omit it. */
const TYPES = [undefined, 'logout+jwt', 'application/logout+jwt', 'jwt']
const MAX_KEY_SETS = 1_000

type Jose = typeof import('jose')
type Keys = ReturnType<Jose['createRemoteJWKSet']>
type LogoutDeps = { fetch: Fetch; clock: () => Date }
type Configuration = { serverMetadata: () => { issuer: string; jwks_uri?: string } }

/**
 * Reads logout tokens with `jose`, loaded on first use. Unknown key ids trigger a request for the provider's keys at most once in 30 s.
 */
export function createLogoutReader() {
  const known = createLruCache<Keys>(MAX_KEY_SETS)

  return async (asks: LogoutDeps, client: IdpClient, config: Configuration, token: string): Promise<LogoutToken> => {
    const jose = await import('jose')
    const { issuer, jwks_uri: address } = config.serverMetadata()
    if (!address) throw new ProviderFault({ problem: 'badToken', code: 'no_keys' })
    const fetch = (url: string, asked: object) => asks.fetch(url, asked)
    const keys = known.get(address) ?? jose.createRemoteJWKSet(new URL(address), { [jose.customFetch]: fetch as never })
    known.set(address, keys)
    const { payload, protectedHeader } = await jose.jwtVerify(token, keys, {
      issuer,
      audience: client.clientId,
      algorithms: ALGORITHMS,
      maxTokenAge: MAX_AGE_SECONDS,
      clockTolerance: TOLERANCE_SECONDS,
      currentDate: asks.clock(),
      requiredClaims: ['jti', 'iat', 'events'],
    })
    const { sub = null, sid, jti, events, nonce } = payload
    const isLogout = typeof events === 'object' && events !== null && Object.hasOwn(events, EVENT) && nonce === undefined
    const isTyped = TYPES.includes(protectedHeader.typ?.toLowerCase())
    const session = typeof sid === 'string' && sid !== '' ? sid : null
    if (!isLogout || !isTyped || !jti || (session === null && !sub))
      throw new ProviderFault({ problem: 'badToken', code: 'not_a_logout_token' })
    return { issuer, subject: sub || null, sid: session, jti }
  }
}
