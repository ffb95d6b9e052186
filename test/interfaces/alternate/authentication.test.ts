import { describe, expect, it, vi } from 'vitest'
import { createApiKey, generateApiKey, revokeApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { DAY_MS, unknownId } from '../../support/factories.ts'
import { startServiceForFile } from '../../support/service.ts'
import { PATIENT } from '../../support/wait-until.ts'

const service = await startServiceForFile()

const PREFIX = '/api/alternate'
const everyEndpoint = [
  ['get', '/assessment_invites'],
  ['post', '/assessment_invites'],
  ['get', `/assessment_invites/${unknownId}`],
  ['get', '/assessments'],
  ['get', `/assessments/${unknownId}`],
  ['get', '/organization_users'],
  ['get', `/organization_users/${unknownId}`],
  ['get', '/tags'],
  ['get', `/tags/${unknownId}`],
  ['get', `/organizations/${unknownId}/assessment_invites`],
  ['post', `/organizations/${unknownId}/assessment_invites`],
  ['get', `/organizations/${unknownId}/assessment_invites/${unknownId}`],
] as const
const missing = { detail: 'Authentication credentials were not provided.' }
const challenge = 'Api-Key realm="api"'

it.each(everyEndpoint)('answers 401 with a challenge to %s %s without a key', async (method, path) => {
  const { status, body, headers } = await service.http()[method](`${PREFIX}${path}`)
  expect([status, body, headers['www-authenticate']]).toEqual([401, missing, challenge])
})

it.each(everyEndpoint)('answers 401 with a challenge to %s %s with an unknown key', async (method, path) => {
  const { status, body, headers } = await service.alternate(generateApiKey('live'))[method](path)
  expect([status, body, headers['www-authenticate']]).toEqual([401, { detail: 'Invalid API key.' }, challenge])
})

it('treats an empty key as a missing one', async () => {
  const { status, body } = await service.alternate('').get('/tags')
  expect([status, body]).toEqual([401, missing])
})

it.each(['X-SERVICE-DOCS-API-KEY', 'x-service-docs-api-key', 'X-Service-Docs-Api-Key'])(
  'reads the key from the header written %s',
  async (header) => {
    const { key } = await service.make.organization()
    expect((await service.http().get(`${PREFIX}/tags`).set(header, key)).status).toBe(200)
  },
)

it('reads the key from no other header and from no parameter', async () => {
  const { key } = await service.make.organization()
  const { status, body } = await service
    .http()
    .get(`${PREFIX}/tags?api_key=${key}`)
    .set('x-api-key', key)
    .set('authorization', `Api-Key ${key}`)
  expect([status, body]).toEqual([401, missing])
})

it('answers 401 "API key has expired." from the instant a key expires', async () => {
  const { id: organizationId } = await service.make.organization()
  const expiresAt = new Date(service.clock.now().getTime() + DAY_MS)
  const { key } = await createApiKey(service.system, { organizationId, name: 'For a day', mode: 'live', expiresAt })
  service.clock.set(new Date(expiresAt.getTime() - 1))
  expect((await service.alternate(key).get('/tags')).status).toBe(200)
  service.clock.set(expiresAt)
  const { status, body, headers } = await service.alternate(key).get('/tags')
  expect([status, body, headers['www-authenticate']]).toEqual([401, { detail: 'API key has expired.' }, challenge])
})

it('answers 401 "API key has been revoked." after a key is revoked', async () => {
  const { key, apiKeyId } = await service.make.organization()
  expect((await service.alternate(key).get('/tags')).status).toBe(200)
  await revokeApiKey(service.system, apiKeyId)
  // The service caches the key until the notification of its revocation arrives.
  await vi.waitFor(async () => expect((await service.alternate(key).get('/tags')).status).toBe(401), PATIENT)
  const { status, body, headers } = await service.alternate(key).get('/tags')
  expect([status, body, headers['www-authenticate']]).toEqual([401, { detail: 'API key has been revoked.' }, challenge])
})

it('accepts the same key, live or test, on both interfaces', async () => {
  const { id: organizationId, key } = await service.make.organization()
  const test = await createApiKey(service.system, { organizationId, name: 'Sandbox', mode: 'test' })
  for (const each of [key, test.key]) {
    expect([(await service.alternate(each).get('/tags')).status, (await service.v1(each).get('/tags')).status]).toEqual([
      200, 200,
    ])
  }
})

describe('the organization in the path', () => {
  const forbidden = { detail: 'You do not have permission to perform this action.' }

  it.each(['', `/${unknownId}`])("answers 403 to another organization's id (assessment_invites%s)", async (suffix) => {
    const [own, other] = [await service.make.organization(), await service.make.organization()]
    for (const id of [other.id, unknownId, 'none', own.id.slice(0, -1), `${own.id}0`]) {
      const { status, body, headers } = await service.alternate(own.key).get(`/organizations/${id}/assessment_invites${suffix}`)
      expect([status, body, headers['www-authenticate']]).toEqual([403, forbidden, undefined])
    }
  })

  it('answers 403 before the body or a filter is read', async () => {
    const { key } = await service.make.organization()
    const path = `/organizations/${unknownId}/assessment_invites`
    const responses = [
      await service.alternate(key).post(path).set('content-type', 'text/plain').send('x'),
      await service.alternate(key).get(`${path}?page=0&depth=x`),
      await service.alternate(key).put(path),
    ]
    expect(responses.map(({ status, body }) => [status, body])).toEqual(responses.map(() => [403, forbidden]))
  })

  it("serves the same invites for the key's own organization, its id in either case", async () => {
    const { id, key } = await service.make.organization()
    const invite = await service.make.invite(await service.make.assessment(id))
    const unscoped = await service.alternate(key).get(`/assessment_invites/${invite.id}`)
    for (const organization of [id, id.toUpperCase()]) {
      const path = `/organizations/${organization}/assessment_invites`
      const [one, list] = [await service.alternate(key).get(`${path}/${invite.id}`), await service.alternate(key).get(path)]
      expect([one.status, one.body]).toEqual([200, unscoped.body])
      expect([list.status, list.body.results]).toEqual([200, [unscoped.body]])
    }
  })
})

describe('the key', () => {
  const refused = async (request: PromiseLike<{ status: number; body: unknown }>) => {
    const { status, body } = await request
    expect([status, body]).toEqual([401, missing])
  }
  const send = (method: 'get' | 'post' | 'put' | 'delete' | 'options', path: string) => service.http()[method](`${PREFIX}${path}`)

  it('is checked before the path', () => refused(send('get', '/no-such-path')))
  it('is checked before the method', () => refused(send('delete', '/tags')))
  it('is checked before its permissions', () => refused(send('options', '/tags')))
  it('is checked before the media type', () =>
    refused(send('post', '/assessment_invites').set('content-type', 'text/plain').send('x')))
  it('is checked before the body', () =>
    refused(send('post', '/assessment_invites').set('content-type', 'application/json').send('{"broken')))
  it('is checked before the size of the body', () =>
    refused(send('post', '/assessment_invites').send({ email: 'x'.repeat(70_000) })))
  it('is checked before the filters', () => refused(send('get', '/assessments?audience=nobody&tags=x')))
  it('is checked before the page', () => refused(send('get', '/tags?page=0')))
  it('is checked before the organization in the path', () =>
    refused(send('get', `/organizations/${unknownId}/assessment_invites`)))
})
