import { randomUUID } from 'node:crypto'
import { expect, it, vi } from 'vitest'
import { createApiKey, generateApiKey, revokeApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { DAY_MS } from '../../support/factories.ts'
import { startServiceForFile } from '../../support/service.ts'
import { PATIENT } from '../../support/wait-until.ts'

const service = await startServiceForFile()

const id = randomUUID()
const everyEndpoint = [
  ['get', '/assessments'],
  ['get', `/assessments/${id}`],
  ['get', `/assessments/${id}/questions`],
  ['get', '/members'],
  ['get', '/invites'],
  ['get', `/invites/${id}`],
  ['post', '/invites'],
  ['get', '/tags'],
  ['get', `/tags/${id}`],
  ['post', '/tags'],
  ['patch', `/tags/${id}`],
  ['delete', `/tags/${id}`],
  ['get', '/no-such-path'],
] as const

it.each(everyEndpoint)('answers 401 "API key is required" to %s %s without a key', async (method, path) => {
  const response = await service.http()[method](`/api/v1${path}`)
  expect([response.status, response.body]).toEqual([401, { error: 'API key is required' }])
})

it.each(everyEndpoint)('answers 401 "Invalid API key" to %s %s with an unknown key', async (method, path) => {
  const response = await service.v1(generateApiKey('live'))[method](path)
  expect([response.status, response.body]).toEqual([401, { error: 'Invalid API key' }])
})

it('reads the key only from the header x-api-key', async () => {
  const { key } = await service.make.organization()
  const elsewhere = await service.http().get(`/api/v1/tags?x-api-key=${key}&api_key=${key}`).set('authorization', `Bearer ${key}`)
  expect([elsewhere.status, elsewhere.body]).toEqual([401, { error: 'API key is required' }])
  expect((await service.http().get('/api/v1/tags').set('X-API-Key', key)).status).toBe(200)
})

it.each([
  ['an empty key', () => '', 'API key is required'],
  ['a key of the wrong length', (key: string) => key.slice(0, -1), 'Invalid API key'],
  ['a key in another case', (key: string) => key.toUpperCase(), 'Invalid API key'],
  ['a key with the other mode', (key: string) => key.replace('_live_', '_test_'), 'Invalid API key'],
  ['two keys in one header', (key: string) => `${key}, ${key}`, 'Invalid API key'],
  ['a key of 8,000 characters', () => 'k'.repeat(8_000), 'Invalid API key'],
  ['SQL instead of a key', () => "' OR '1'='1", 'Invalid API key'],
])('answers 401 to %s', async (_name, alter, error) => {
  const { key } = await service.make.organization()
  const response = await service.v1(alter(key)).get('/tags')
  expect([response.status, response.body]).toEqual([401, { error }])
})

it('checks the key before path, parameters, and body', async () => {
  const client = service.v1('ak_live_unknown')
  expect((await client.get('/tags?page=0')).status).toBe(401)
  expect((await client.post('/invites').set('content-type', 'application/json').send('{"broken')).status).toBe(401)
  expect((await client.post('/tags').set('content-type', 'text/plain').send('x')).status).toBe(401)
})

it('answers 401 "API key has expired" from the instant a key expires', async () => {
  const { id: organizationId } = await service.make.organization()
  const expiresAt = new Date(service.clock.now().getTime() + DAY_MS)
  const { key } = await createApiKey(service.system, { organizationId, name: 'For a day', mode: 'live', expiresAt })
  service.clock.set(new Date(expiresAt.getTime() - 1))
  expect((await service.v1(key).get('/tags')).status).toBe(200)
  service.clock.set(expiresAt)
  const response = await service.v1(key).get('/tags')
  expect([response.status, response.body]).toEqual([401, { error: 'API key has expired' }])
})

it('answers 401 "API key has been revoked" after a key is revoked, and accepts the organization\'s other keys', async () => {
  const { id: organizationId, key, apiKeyId } = await service.make.organization()
  const other = await createApiKey(service.system, { organizationId, name: 'Other', mode: 'live' })
  expect((await service.v1(key).get('/tags')).status).toBe(200)
  await revokeApiKey(service.system, apiKeyId)
  // The service caches the key until the notification of its revocation arrives.
  await vi.waitFor(async () => expect((await service.v1(key).get('/tags')).status).toBe(401), PATIENT)
  expect((await service.v1(key).get('/tags')).body).toEqual({ error: 'API key has been revoked' })
  expect((await service.v1(other.key).get('/tags')).status).toBe(200)
})

it('answers "API key has been revoked" for a key that is both revoked and expired', async () => {
  const { id: organizationId } = await service.make.organization()
  const expiresAt = service.clock.now()
  const { key, apiKey } = await createApiKey(service.system, { organizationId, name: 'Gone twice', mode: 'live', expiresAt })
  await revokeApiKey(service.system, apiKey.id)
  expect((await service.v1(key).get('/tags')).body).toEqual({ error: 'API key has been revoked' })
})

it('shows a test key the same live tags as a live key', async () => {
  const { id: organizationId, key } = await service.make.organization()
  const test = await createApiKey(service.system, { organizationId, name: 'Sandbox', mode: 'test' })
  expect(test.key).toMatch(/^ak_test_.{32}$/)
  await service.make.tag(organizationId)
  const [live, sandbox] = [await service.v1(key).get('/tags'), await service.v1(test.key).get('/tags')]
  expect(sandbox.body.tags).toHaveLength(1)
  expect(sandbox.text).toBe(live.text)
})

it('records the last use of a key, at most once a minute', async () => {
  const { key, apiKeyId } = await service.make.organization()
  const readLastUse = async () => (await service.db.apiKey.findUniqueOrThrow({ where: { id: apiKeyId } })).lastUsedAt?.getTime()
  expect(await readLastUse()).toBeUndefined()

  const first = service.clock.now().getTime()
  await service.v1(key).get('/tags')
  await vi.waitFor(async () => expect(await readLastUse()).toBeDefined(), PATIENT)
  expect(await readLastUse()).toBe(first)

  // Proves that the request after 59.999 s was not recorded: otherwise the one a millisecond later would not be.
  service.clock.advance(59_999)
  await service.v1(key).get('/tags')
  service.clock.advance(1)
  await service.v1(key).get('/tags')
  await vi.waitFor(async () => expect(await readLastUse()).not.toBe(first), PATIENT)
  expect(await readLastUse()).toBe(first + 60_000)
})

it('does not record the use of a rejected key', async () => {
  const { id: organizationId } = await service.make.organization()
  const revoked = await createApiKey(service.system, { organizationId, name: 'Revoked', mode: 'live' })
  await revokeApiKey(service.system, revoked.apiKey.id)
  const expired = await createApiKey(service.system, {
    organizationId,
    name: 'Expired',
    mode: 'live',
    expiresAt: service.clock.now(),
  })
  for (const { key } of [revoked, expired]) await service.v1(key).get('/tags')
  const keys = await service.db.apiKey.findMany({ where: { organizationId, name: { in: ['Revoked', 'Expired'] } } })
  expect(keys.map(({ lastUsedAt }) => lastUsedAt)).toEqual([null, null])
})

it('writes no key into a log line or a table', async () => {
  const { id: organizationId, key } = await service.make.organization()
  const unknown = generateApiKey('live')
  const { id: assessmentId } = await service.make.assessment(organizationId)
  await service.v1(key).post('/invites').send({ assessmentId, recipientEmail: 'candidate@example.com' })
  await service.v1(key).get('/nowhere')
  await service.v1(unknown).get('/tags')
  await service.v1(key).post('/tags').send({})

  const log = service.logLines.join('')
  expect(log).toContain(organizationId)
  for (const secret of [key, unknown]) expect(log).not.toContain(secret.slice('ak_live_'.length))

  const tables = await service.db.$queryRaw<{ name: string }[]>`
    SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
    WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'`
  expect(tables.map(({ name }) => name)).toEqual(expect.arrayContaining(['public.api_keys', 'pgboss.job']))
  const secret = key.slice('ak_live_'.length)
  const spellings = [secret, Buffer.from(secret).toString('hex'), Buffer.from(key).toString('base64')]
  for (const { name } of tables) {
    const rows = await service.db.$queryRawUnsafe<{ text: string }[]>(`SELECT t::text AS text FROM ${name} t`)
    const found = rows.filter(({ text }) => spellings.some((spelling) => text.includes(spelling)))
    expect(found, name).toEqual([])
  }
})
