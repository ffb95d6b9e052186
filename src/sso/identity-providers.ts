import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Allowance } from '../domain/networks/allowance.ts'
import type { AuthorizationRequest, IdentityProviders, IdpClient, IdpFault, IdToken } from '../domain/ports/identity-provider.ts'
import type { Log } from '../domain/ports/log-events.ts'
import { createFetch, type Fetch, Unreachable } from './fetch.ts'
import { ProviderFault } from './provider-fault.ts'
import { createLogoutReader } from './read-logout.ts'
import { readTextRecords } from './text-records.ts'

/** Milliseconds for which a provider's metadata, and its failure to answer, are cached. */
const CACHE_MS = 3_600_000
const FAILURE_CACHE_MS = 10_000
const MAX_CACHED = 1_000
/** Most seconds since the last sign-in at the provider if a fresh one is required. */
const MAX_AUTH_AGE_SECONDS = 300
/** Clock tolerance for times in tokens. */
const TOLERANCE_SECONDS = 60
/** Clock skew beyond which a token is refused: one of the clocks is wrong. */
const MAX_SKEW_SECONDS = 180

type Library = typeof import('openid-client')
type Configuration = import('openid-client').Configuration
type OidcDeps = { fetch: Fetch; clock: () => Date; library: Library }

/** Talks to identity providers with `openid-client`, loaded on first use. ID token signatures are checked even on direct connections (ASVS 6.8.2). */
export function createIdentityProviders(
  allowance: Allowance,
  { clock, log, fetch = createFetch(allowance) }: { clock: () => Date; log: Pick<Log, 'warn'>; fetch?: Fetch },
): IdentityProviders {
  const readLogout = createLogoutReader()
  const known = new LRUCache<string, Promise<Configuration>>({ max: MAX_CACHED, ttl: CACHE_MS })

  const find = (asks: OidcDeps, client: IdpClient): Promise<Configuration> => {
    const key = keyOf(client, skewOf(asks))
    const found = known.get(key)
    if (found) return found
    const asked = discover(asks, client)
    known.set(key, asked)
    asked.catch(() => known.set(key, asked, { ttl: FAILURE_CACHE_MS }))
    return asked
  }
  const ask = async <T>(
    client: IdpClient,
    work: (asks: OidcDeps, config: Configuration) => Promise<T>,
  ): Promise<T | IdpFault> => {
    const asks = { fetch, clock, library: await import('openid-client') }
    try {
      return await work(asks, await find(asks, client))
    } catch (error) {
      const fault = toFault(error)
      if (fault.problem === 'newKeys') known.delete(keyOf(client, skewOf(asks)))
      log.warn({ providerId: client.id, ...fault }, 'an identity provider sent an invalid response')
      return fault
    }
  }

  return {
    authorizationUrl: (client, way) =>
      ask(client, async ({ library }, config) => ({
        url: library.buildAuthorizationUrl(config, await authorizationParams(library, way)).href,
      })),
    redeem: (client, way, callbackUrl) =>
      ask(client, async (asks, config) => ({ token: await redeem(asks, config, way, new URL(callbackUrl)) })),
    readLogout: (client, token) =>
      ask(client, async (asks, config) => ({ logout: await readLogout(asks, client, config, token) })),
    endSessionUrl: (client) =>
      ask(client, async ({ library }, config) => ({
        url: config.serverMetadata().end_session_endpoint ? library.buildEndSessionUrl(config, {}).href : null,
      })),
    textRecords: readTextRecords,
  }
}

/** Seconds, rounded to minutes, that the service's clock differs from the system's, which the library uses. */
const skewOf = ({ clock }: OidcDeps): number => Math.round((clock().getTime() - Date.now()) / 60_000) * 60

const keyOf = ({ id, issuer, clientId, clientAuth, clientSecret }: IdpClient, skew: number): string =>
  createHash('sha256')
    .update(JSON.stringify([id, issuer, clientId, clientAuth, clientSecret, skew]))
    .digest('base64')

async function discover(asks: OidcDeps, { issuer, clientId, clientAuth, clientSecret }: IdpClient): Promise<Configuration> {
  const { library, fetch } = asks
  const auth =
    clientAuth === 'client_secret_post' ? library.ClientSecretPost(clientSecret) : library.ClientSecretBasic(clientSecret)
  const url = new URL(issuer)
  const metadata = { [library.clockSkew]: skewOf(asks), [library.clockTolerance]: TOLERANCE_SECONDS }
  // The client refuses http unless the operator allowed the host.
  const insecure = url.protocol === 'http:' ? [library.allowInsecureRequests] : []
  const config = await library.discovery(url, clientId, metadata, auth, {
    [library.customFetch]: fetch as never,
    execute: [...insecure, library.enableNonRepudiationChecks],
  })
  return config
}

const authorizationParams = async (library: Library, way: AuthorizationRequest): Promise<Record<string, string>> => ({
  redirect_uri: way.redirectUri,
  scope: way.scopes.join(' '),
  response_type: 'code',
  state: way.state,
  nonce: way.nonce,
  code_challenge: await library.calculatePKCECodeChallenge(way.verifier),
  code_challenge_method: 'S256',
  ...(way.loginHint && { login_hint: way.loginHint }),
  ...(way.isFresh && { max_age: '0' }),
  ...(way.acrValues.length > 0 && { acr_values: way.acrValues.join(' ') }),
})

async function redeem(
  { library, clock }: OidcDeps,
  config: Configuration,
  way: AuthorizationRequest,
  url: URL,
): Promise<IdToken> {
  const answer = await library.authorizationCodeGrant(config, url, {
    expectedState: way.state,
    expectedNonce: way.nonce,
    pkceCodeVerifier: way.verifier,
    idTokenExpected: true,
    ...(way.isFresh && { maxAge: MAX_AUTH_AGE_SECONDS }),
  })
  const claims = answer.claims()!
  if (Math.abs(clock().getTime() / 1000 - claims.iat) > MAX_SKEW_SECONDS)
    throw new ProviderFault({ problem: 'clock', code: 'iat' })
  return {
    issuer: claims.iss,
    subject: claims.sub,
    email: textOf(claims.email),
    emailVerified: typeof claims.email_verified === 'boolean' ? claims.email_verified : parseBooleanText(claims.email_verified),
    givenName: textOf(claims.given_name) ?? '',
    familyName: textOf(claims.family_name) ?? '',
    sid: textOf(claims.sid),
    amr: [claims.amr ?? []].flat().map(String),
    acr: textOf(claims.acr),
    authTime: typeof claims.auth_time === 'number' ? new Date(claims.auth_time * 1000) : null,
    claims,
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** Some providers send booleans as text. */
const parseBooleanText = (value: unknown): boolean | null => (value === 'true' ? true : value === 'false' ? false : null)

/** Maps errors of the library and the connection. Other errors are rethrown: they are not the provider's fault. */
function toFault(error: unknown): IdpFault {
  if (error instanceof ProviderFault) return error.fault
  const chain = causesOf(error)
  const unreachable = chain.find((one) => one instanceof Unreachable)
  if (unreachable) return { problem: 'idpUnreachable', code: unreachable.code }
  const { code = '', error: refusal } = (chain.find((one) => 'code' in one && typeof one.code === 'string') ?? {}) as {
    code?: string
    error?: string
  }
  if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR') return { problem: 'idpDenied', code: refusal ?? code }
  if (code === 'OAUTH_RESPONSE_BODY_ERROR') return { problem: 'badToken', code: refusal ?? code }
  if (chain.some((one) => 'code' in one && one.code === 'OAUTH_KEY_SELECTION_FAILED'))
    return { problem: 'newKeys', code: 'OAUTH_KEY_SELECTION_FAILED' }
  if (code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED') return { problem: 'clock', code }
  if (code.startsWith('OAUTH_RESPONSE_IS_NOT') || code.startsWith('OAUTH_PARSE')) return { problem: 'idpUnreachable', code }
  if (/^(OAUTH|ERR|ERR_JW[A-Z]*)_/.test(code)) return { problem: 'badToken', code }
  throw error
}

function causesOf(error: unknown): Error[] {
  const chain: Error[] = []
  for (let at = error; at instanceof Error && !chain.includes(at); at = at.cause) chain.push(at)
  return chain
}
