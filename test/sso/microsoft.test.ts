import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { expect, it } from 'vitest'
import type { AuthorizationRequest, IdpClient } from '../../src/domain/ports/identity-provider.ts'
import { createIdentityProviders } from '../../src/sso/identity-providers.ts'

const HOST = 'https://login.microsoftonline.com'
const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const client: IdpClient = {
  id: 'microsoft',
  issuer: `${HOST}/common/v2.0`,
  clientId: 'ours',
  clientSecret: 'secret',
  clientAuth: 'client_secret_basic',
}
const way: AuthorizationRequest = {
  redirectUri: 'https://assessments.example.com/callback',
  state: 'state',
  nonce: 'nonce',
  verifier: 'v'.repeat(43),
  scopes: ['openid'],
  acrValues: [],
}

/** Redeems a token of Microsoft's multi-tenant endpoint, whose metadata has an issuer pattern and whose tokens name their tenant's issuer. */
async function redeem(claims: JWTPayload, { isForged = false } = {}) {
  const [own, strangers] = [await generateKeyPair('RS256'), await generateKeyPair('RS256')]
  const seconds = Math.floor(Date.now() / 1000)
  const said = {
    iss: `${HOST}/${TENANT}/v2.0`,
    tid: TENANT,
    sub: 'of-ours',
    aud: 'ours',
    nonce: 'nonce',
    iat: seconds,
    exp: seconds + 60,
  }
  const token = await new SignJWT({ ...said, ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'first' })
    .sign(isForged ? strangers.privateKey : own.privateKey)
  const answers: Record<string, object> = {
    '/common/v2.0/.well-known/openid-configuration': {
      issuer: `${HOST}/{tenantid}/v2.0`,
      authorization_endpoint: `${HOST}/common/oauth2/v2.0/authorize`,
      token_endpoint: `${HOST}/common/oauth2/v2.0/token`,
      jwks_uri: `${HOST}/common/discovery/v2.0/keys`,
      id_token_signing_alg_values_supported: ['RS256'],
    },
    '/common/oauth2/v2.0/token': { token_type: 'Bearer', access_token: 'unused', id_token: token },
    '/common/discovery/v2.0/keys': { keys: [{ ...(await exportJWK(own.publicKey)), kid: 'first', alg: 'RS256', use: 'sig' }] },
  }
  const providers = createIdentityProviders(
    { hosts: new Set(), networks: [] },
    { clock: () => new Date(), log: { warn() {} }, fetch: async (url) => Response.json(answers[new URL(url).pathname]) },
  )
  return providers.redeem(client, way, `${way.redirectUri}?code=code&state=state`)
}

it("accepts a token of any tenant, and makes the tenant's issuer part of the identity", async () => {
  expect(await redeem({})).toMatchObject({ token: { issuer: `${HOST}/${TENANT}/v2.0`, subject: 'of-ours', emailVerified: null } })
})

it.each([
  ['of one tenant that names another', { tid: 'another' }, {}],
  ['of another issuer', { iss: `https://evil.example/${TENANT}/v2.0` }, {}],
  ['with the pattern instead of a tenant', { iss: `${HOST}/{tenantid}/v2.0` }, {}],
  ['signed by a stranger', {}, { isForged: true }],
])('rejects a token %s', async (_what, claims, how) => {
  expect(await redeem(claims, how)).toMatchObject({ problem: 'badToken' })
})
