import { randomBytes } from 'node:crypto'
import type { ServiceContext } from '../context.ts'
import type { IdpFault } from '../ports/identity-provider.ts'
import { decrypt, encrypt } from '../secrets/encryption.ts'
import { withDraft } from './provider-secrets.ts'
import { type FoundProvider, toIdpClient } from './providers.ts'
import { recordProviderError } from './record-provider-error.ts'

/** Reason for sending a person to an identity provider. */
export type OidcPurpose =
  | { kind: 'signIn' }
  /** To join by a link. */
  | { kind: 'join'; token: string }
  /** Link the identity to the signed-in person. */
  | { kind: 'link'; credentialId: string }
  /** Authenticate again in the open session, to prove that the same person is present. */
  | { kind: 'fresh'; credentialId: string }
  /** To see whether it works. */
  | { kind: 'try'; memberId: string }

/** State of a sign-in at a provider, in the browser's cookie. @property isAgain true for a retry with the provider's new keys. */
export type OidcFlow = {
  providerId: string
  purpose: OidcPurpose
  next: string
  state: string
  nonce: string
  verifier: string
  isAgain: boolean
  endsAt: number
}

/** Milliseconds that somebody may take at the provider. */
export const OIDC_FLOW_MS = 10 * 60_000
const RANDOM_BYTES = 32
const STATE_BYTES = 16

/** @property url of the provider. @property sealed encrypted flow, for a cookie that has the state in its name. */
export type StartedOidcFlow = { url: string; state: string; sealed: string }

/** Starts a sign-in at a provider. Its state is in a cookie only. */
export async function startOidcFlow(
  service: ServiceContext,
  found: FoundProvider,
  options: { purpose: OidcPurpose; next: string; loginHint?: string | undefined; isAgain?: boolean },
): Promise<StartedOidcFlow | IdpFault> {
  const provider = options.purpose.kind === 'try' ? withDraft(service, found) : found
  const client = toIdpClient(service, provider)
  if (!client) return { problem: 'badToken', code: 'secret_unreadable' }
  const { purpose, next, loginHint, isAgain = false } = options
  const endsAt = service.deps.clock().getTime() + OIDC_FLOW_MS
  const state = randomBytes(STATE_BYTES).toString('base64url')
  const [nonce, verifier] = [RANDOM_BYTES, RANDOM_BYTES].map((bytes) => randomBytes(bytes).toString('base64url')) as [
    string,
    string,
  ]
  const flow: OidcFlow = { providerId: provider.id, purpose, next, state, nonce, verifier, isAgain, endsAt }
  const answer = await service.deps.identityProviders.authorizationUrl(client, {
    ...toAuthorizationRequest(service, provider, flow),
    loginHint,
  })
  if (!('problem' in answer)) return { url: answer.url, state, sealed: encryptOidcFlow(service, flow) }
  await recordProviderError(service, provider.id, answer)
  return answer
}

/** Parameters of the authorization request, and what the reply must match. */
export const toAuthorizationRequest = (service: Pick<ServiceContext, 'deps'>, provider: FoundProvider, flow: OidcFlow) => ({
  ...flow,
  redirectUri: callbackUrlOf(service, provider),
  scopes: SCOPES,
  isFresh: flow.purpose.kind === 'fresh',
  acrValues: provider.acrValues,
})

const SCOPES = ['openid', 'email', 'profile']

/** Callback address. It alone tells which provider replied. */
export const callbackUrlOf = ({ deps }: Pick<ServiceContext, 'deps'>, { address }: Pick<FoundProvider, 'address'>): string =>
  deps.links.signInUrl(address, 'callback')

const purposeOf = (state: string): string => `sign-in way ${state}`

const encryptOidcFlow = ({ deps }: ServiceContext, flow: OidcFlow): string =>
  Buffer.from(encrypt(deps.secretKeys, purposeOf(flow.state), JSON.stringify(flow))).toString('base64url')

/** Decrypts the flow with this state; null if it is invalid, expired, or of another provider. */
export function decryptOidcFlow(
  { deps }: ServiceContext,
  sealed: string,
  { state, providerId }: { state: string; providerId: string },
): OidcFlow | null {
  const text = decrypt(deps.secretKeys, purposeOf(state), Buffer.from(sealed, 'base64url'))
  const flow = text === null ? null : (JSON.parse(text) as OidcFlow)
  return flow && flow.providerId === providerId && flow.endsAt > deps.clock().getTime() ? flow : null
}
