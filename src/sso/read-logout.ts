import { LRUCache } from 'lru-cache'
import type { IdpClient, LogoutToken } from '../domain/ports/identity-provider.ts'
import { Fault } from './fault.ts'
import type { Fetch } from './fetch.ts'

/** Seconds since a token was made, at most, and that the clocks may differ. */
const MOST_AGE_SECONDS = 120
const TOLERANCE_SECONDS = 60
const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
/** Never one that is made with a secret, which would be ours. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
/** As headers say it: the standard only recommends the first, and providers leave it out. */
const TYPES = [undefined, 'logout+jwt', 'application/logout+jwt', 'jwt']
const KNOWN_KEY_SETS = 1_000

type Jose = typeof import('jose')
type Keys = ReturnType<Jose['createRemoteJWKSet']>
type Asks = { fetch: Fetch; clock: () => Date }
type Configuration = { serverMetadata: () => { issuer: string; jwks_uri?: string } }

/**
 * Reads logout tokens by `jose`, which is loaded when it is first needed. Keys are asked for by the way out to identity providers, at most once in half a
 * minute however many tokens name one that is not known.
 */
export function createLogoutReader() {
  const known = new LRUCache<string, Keys>({ max: KNOWN_KEY_SETS })

  return async (asks: Asks, client: IdpClient, config: Configuration, token: string): Promise<LogoutToken> => {
    const jose = await import('jose')
    const { issuer, jwks_uri: address } = config.serverMetadata()
    if (!address) throw new Fault({ problem: 'badToken', code: 'no_keys' })
    const fetch = (url: string, asked: object) => asks.fetch(url, asked)
    const keys = known.get(address) ?? jose.createRemoteJWKSet(new URL(address), { [jose.customFetch]: fetch as never })
    known.set(address, keys)
    const { payload, protectedHeader } = await jose.jwtVerify(token, keys, {
      issuer,
      audience: client.clientId,
      algorithms: ALGORITHMS,
      maxTokenAge: MOST_AGE_SECONDS,
      clockTolerance: TOLERANCE_SECONDS,
      currentDate: asks.clock(),
      requiredClaims: ['jti', 'iat', 'events'],
    })
    const { sub = null, sid, jti, events, nonce } = payload
    const isLogout = typeof events === 'object' && events !== null && Object.hasOwn(events, EVENT) && nonce === undefined
    const isTyped = TYPES.includes(protectedHeader.typ?.toLowerCase())
    const session = typeof sid === 'string' && sid !== '' ? sid : null
    if (!isLogout || !isTyped || !jti || (session === null && !sub))
      throw new Fault({ problem: 'badToken', code: 'not_a_logout_token' })
    return { issuer, subject: sub || null, sid: session, jti }
  }
}
