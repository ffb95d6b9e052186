// Types shared with the client of identity providers (src/sso). OpenID Connect Core 1.0.

/** Client authentication at a provider. */
export const CLIENT_AUTHS = ['client_secret_basic', 'client_secret_post'] as const
export type ClientAuth = (typeof CLIENT_AUTHS)[number]

/** Identity provider with the service's credentials there. */
export type IdpClient = { id: string; issuer: string; clientId: string; clientAuth: ClientAuth; clientSecret: string }

/**
 * Providers that the operator may offer to all organizations. The ids are stored, and the names are used in URLs, also while not offered.
 */
export const OPERATOR_PROVIDERS = [
  { id: '00000000-0000-4000-8000-000000000001', address: 'google', name: 'Google' },
  { id: '00000000-0000-4000-8000-000000000002', address: 'microsoft', name: 'Microsoft' },
] as const
/** A provider that the operator's settings offer. @property address its name in addresses. */
export type OperatorProvider = IdpClient & { name: string; address: string }

/**
 * Authorization request.
 *
 * @property state identifies the browser's sign-in; nonce: of the ID token; verifier: of PKCE.
 * @property isRecentlyAuthenticated true if the person has to sign in again there.
 */
export type AuthorizationRequest = {
  redirectUri: string
  state: string
  nonce: string
  verifier: string
  scopes: readonly string[]
  acrValues: readonly string[]
  loginHint?: string | undefined
  isFresh?: boolean
}

/**
 * Problem with a provider's answer: it is unreachable or no OpenID Connect; it refused; its clock differs from ours; it signed with a new
 * key; the token is invalid.
 */
export type IdpProblem = 'idpUnreachable' | 'idpDenied' | 'clock' | 'newKeys' | 'badToken'

/** @property code code of the library's or the connection's error, for the person who configures the provider. */
export type IdpFault = { problem: IdpProblem; code: string }

/** Claims of a verified ID token. @property authTime when the person signed in at the provider, if the token says. */
export type IdToken = {
  issuer: string
  subject: string
  email: string | null
  /** Null where it does not say so, as Entra does not. */
  emailVerified: boolean | null
  givenName: string
  familyName: string
  sid: string | null
  amr: string[]
  acr: string | null
  authTime: Date | null
  /** All claims by name. */
  claims: Readonly<Record<string, unknown>>
}

/** Session that the provider signed out; without `sid`, all sessions of the person. @property jti unique id of the token, accepted once. */
export type LogoutToken = { issuer: string; subject: string | null; sid: string | null; jti: string }

/** Client of identity providers. Errors in their replies are returned, not thrown. */
export type IdentityProviders = {
  authorizationUrl: (client: IdpClient, request: AuthorizationRequest) => Promise<{ url: string } | IdpFault>
  /** @param callbackUrl with all parameters of the provider's redirect. */
  redeem: (client: IdpClient, request: AuthorizationRequest, callbackUrl: string) => Promise<{ token: IdToken } | IdpFault>
  /** Never throws: an invalid or expired token, or one for another client, is a fault. OpenID Connect Back-Channel Logout 1.0, 2.6. */
  readLogout: (client: IdpClient, token: string) => Promise<{ logout: LogoutToken } | IdpFault>
  /** Sign-out page of the provider; null if it has none. */
  endSessionUrl: (client: IdpClient) => Promise<{ url: string | null } | IdpFault>
  /** TXT records of a name, possibly none. @throws Error if no name server answers. */
  textRecords: (name: string) => Promise<string[]>
}
