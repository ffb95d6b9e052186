import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { Provider } from 'oidc-provider'
import { addCleanup } from './endings.ts'

/** The user who signs in to the provider. */
export type Person = { sub: string; email?: string; email_verified?: boolean; given_name?: string; family_name?: string }
type Key = { kid: string; privateKey: CryptoKey; jwk: object }

export const CLIENT = { clientId: 'assessments', clientSecret: 'a-secret-of-the-client-0123456789' }

async function makeKey(kid: string): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' } }
}

export type Idp = {
  issuer: string
  /** Sets the user for further sign-ins. */
  person: Person
  /** Additional or replaced ID token claims; undefined removes a claim. */
  claims: Record<string, unknown>
  /** Changes an ID token before it is sent. */
  tamper: ((token: string, claims: JWTPayload) => Promise<string>) | undefined
  /** Answers a request instead of the provider, if it returns true. */
  behave: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined
  /** Replaces the signing key. */
  rotateKeys: () => Promise<void>
  sign: (claims: JWTPayload, options?: { typ?: string; key?: Key }) => Promise<string>
  makeKey: (kid: string) => Promise<Key>
  /** Paths of the requests that it received. */
  asked: string[]
  close: () => Promise<void>
}

/**
 * Starts an identity provider on loopback. It is certified software, but its ID tokens are signed again with the test's clock and claims. It
 * signs {@link Idp.person} in without asking, or denies access if their `sub` is empty.
 */
export async function startIdp({ now, redirectUri }: { now: () => Date; redirectUri: string }): Promise<Idp> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let key = await makeKey('first')
  let count = 0
  const signWith: Idp['sign'] = (claims, { typ = 'JWT', key: other = key } = {}) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: other.kid, typ }).sign(other.privateKey)
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const provider = new Provider(issuer, {
    jwks: { keys: [await exportJWK(privateKey)] },
    clients: [
      {
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
        redirect_uris: [redirectUri],
        require_auth_time: true,
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    cookies: { keys: ['of the test'] },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true } },
    conformIdTokenClaims: false,
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['given_name', 'family_name'] },
    pkce: { required: () => true },
    interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_ctx: unknown, accountId: string) => ({ accountId, claims: () => ({ ...idp.person, sub: accountId }) }),
    async loadExistingGrant(ctx) {
      const { oidc } = ctx
      const grant = new provider.Grant({ clientId: oidc.client!.clientId, accountId: oidc.session!.accountId! })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  })
  provider.use(async (ctx, next) => {
    await next()
    const body = ctx.body as { id_token?: string } | undefined
    if (ctx.path === '/jwks') ctx.body = { keys: [key.jwk] }
    if (ctx.path !== '/token' || !body?.id_token) return
    const said = JSON.parse(Buffer.from(body.id_token.split('.')[1]!, 'base64url').toString()) as JWTPayload
    const seconds = Math.floor(now().getTime() / 1000)
    const { at_hash: _, ...rest } = said
    const claims = { ...rest, iat: seconds, exp: seconds + 3600, auth_time: seconds, ...idp.claims }
    const token = await signWith(claims)
    body.id_token = idp.tamper ? await idp.tamper(token, claims) : token
  })
  const answer = provider.callback()
  server.on('request', async (request, response) => {
    idp.asked.push(request.url ?? '')
    if (idp.behave?.(request, response)) return
    if (!request.url?.startsWith('/interaction/')) return void answer(request, response)
    const result = idp.person.sub === '' ? { error: 'access_denied' } : { login: { accountId: idp.person.sub } }
    await provider.interactionFinished(request, response, result)
  })
  const close = async () => {
    if (!server.listening) return
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
  addCleanup(close)
  const idp: Idp = {
    issuer,
    person: { sub: 'nobody' },
    claims: {},
    tamper: undefined,
    behave: undefined,
    rotateKeys: async () => {
      key = await makeKey(`rotated-${++count}`)
    },
    sign: signWith,
    makeKey,
    asked: [],
    close,
  }
  return idp
}

/** Follows the provider's redirects from an address like a new browser. @returns the address at which the redirects leave the provider. */
export async function passThrough(idp: Idp, address: string): Promise<string> {
  const cookies = new Map<string, string>()
  let at = address
  while (at.startsWith(idp.issuer)) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(at, { redirect: 'manual', headers: { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    const next = response.headers.get('location')
    if (!next) throw new Error(`The provider answered ${response.status}: ${await response.text()}`)
    at = new URL(next, at).href
  }
  return at
}
