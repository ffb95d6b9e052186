import { afterEach, expect, it, vi } from 'vitest'
import { changeApiKey, createApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { startServiceForFile, startServiceForTest } from '../../support/service.ts'

const STANDARD = 5
const ENTERPRISE = 8

const service = await startServiceForFile({ RATE_LIMIT_STANDARD: String(STANDARD), RATE_LIMIT_ENTERPRISE: String(ENTERPRISE) })
afterEach(() => {
  vi.useRealTimers()
})

const send = (key: string, count: number) => Promise.all(Array.from({ length: count }, () => service.v1(key).get('/tags')))
const countByStatus = (responses: { status: number }[]) => Object.groupBy(responses, ({ status }) => String(status))

it.each([
  ['standard', STANDARD],
  ['enterprise', ENTERPRISE],
] as const)('accepts exactly the limit of the %s tier out of three times as many simultaneous requests', async (tier, limit) => {
  const { key } = await service.make.organization({ tier })
  const answers = countByStatus(await send(key, 3 * limit))
  expect(Object.keys(answers).sort()).toEqual(['200', '429'])
  expect(answers['200']).toHaveLength(limit)
  expect(answers['429']).toHaveLength(2 * limit)
})

it('allows 100 requests a minute in the standard tier and 1000 in the enterprise tier unless configured', async () => {
  const unconfigured = await startServiceForTest({ RATE_LIMIT_STANDARD: '', RATE_LIMIT_ENTERPRISE: '' })
  for (const [tier, limit] of [
    ['standard', '100'],
    ['enterprise', '1000'],
  ] as const) {
    const { key } = await unconfigured.make.organization({ tier })
    expect((await unconfigured.v1(key).get('/tags')).headers['ratelimit-limit']).toBe(limit)
  }
})

it('answers 429 with the documented message and the seconds to wait', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const { key } = await service.make.organization()
  await send(key, STANDARD)
  vi.setSystemTime(Date.now() + 20_000)
  const { status, body, headers } = await service.v1(key).get('/tags')
  expect([status, body]).toEqual([429, { error: 'Rate limit exceeded. Please try again later.' }])
  expect(headers).toMatchObject({
    'retry-after': '40',
    'ratelimit-limit': '5',
    'ratelimit-remaining': '0',
    'ratelimit-reset': '40',
  })
})

it('counts down in the RateLimit headers of every response', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const { key } = await service.make.organization()
  for (const remaining of ['4', '3', '2', '1', '0']) {
    const { headers } = await service.v1(key).get('/tags')
    expect(headers).toMatchObject({ 'ratelimit-limit': '5', 'ratelimit-remaining': remaining, 'ratelimit-reset': '60' })
    expect(headers).not.toHaveProperty('retry-after')
  }
})

it('starts a new window a minute after the first request of the previous one', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const { key } = await service.make.organization()
  const start = Date.now()
  await send(key, STANDARD)
  vi.setSystemTime(start + 59_999)
  expect((await service.v1(key).get('/tags')).status).toBe(429)
  vi.setSystemTime(start + 60_000)
  expect(countByStatus(await send(key, STANDARD + 1))).toMatchObject({ 200: { length: STANDARD }, 429: { length: 1 } })
})

it('counts all keys of an organization together', async () => {
  const { id: organizationId, key } = await service.make.organization()
  const other = await createApiKey(service.system, { organizationId, name: 'Other', mode: 'live' })
  await send(key, STANDARD - 1)
  expect((await service.v1(other.key).get('/tags')).status).toBe(200)
  expect((await service.v1(other.key).get('/tags')).status).toBe(429)
  expect((await service.v1(key).get('/tags')).status).toBe(429)
})

it('counts the test keys of an organization separately', async () => {
  const { id: organizationId, key } = await service.make.organization()
  const test = await createApiKey(service.system, { organizationId, name: 'Trials', mode: 'test' })
  await send(test.key, STANDARD + 1)
  expect((await service.v1(test.key).get('/tags')).status).toBe(429)
  expect((await service.v1(key).get('/tags')).headers['ratelimit-remaining']).toBe(String(STANDARD - 1))
})

it("reserves requests beyond a key's own limit for other keys, and reports the remaining ones", async () => {
  const { id: organizationId, key } = await service.make.organization()
  const flood = await createApiKey(service.system, { organizationId, name: 'Sync', mode: 'live' })
  await changeApiKey(service.system, flood.apiKey.id, { requestsPerMinute: 2 })
  const answers = await send(flood.key, 5 * STANDARD)
  expect(countByStatus(answers)).toMatchObject({ 200: { length: 2 }, 429: { length: 5 * STANDARD - 2 } })
  const over = await service.v1(flood.key).get('/tags')
  expect(over.headers).toMatchObject({ 'ratelimit-limit': '2', 'ratelimit-remaining': '0' })
  expect(over.headers['retry-after']).toBe(over.headers['ratelimit-reset'])
  const answered = (await send(key, STANDARD)).filter(({ status }) => status === 200)
  expect(answered).toHaveLength(STANDARD - 2)
  expect(Math.min(...answered.map(({ headers }) => Number(headers['ratelimit-remaining'])))).toBe(0)
  await changeApiKey(service.system, flood.apiKey.id, { requestsPerMinute: null })
  expect((await service.v1(flood.key).get('/tags')).headers).toMatchObject({ 'ratelimit-limit': '5', 'ratelimit-remaining': '0' })
})

it("reports the organization's limit while it leaves a key fewer requests than its own", async () => {
  const { id: organizationId, key } = await service.make.organization()
  const own = await createApiKey(service.system, { organizationId, name: 'Sync', mode: 'live' })
  await changeApiKey(service.system, own.apiKey.id, { requestsPerMinute: 3 })
  const readHeaders = async () => {
    const { headers } = await service.v1(own.key).get('/tags')
    return [headers['ratelimit-limit'], headers['ratelimit-remaining']]
  }
  expect(await readHeaders()).toEqual(['3', '2'])
  await send(key, 3)
  expect(await readHeaders()).toEqual(['5', '0'])
})

it("does not count one organization's requests against another", async () => {
  const [busy, quiet] = [await service.make.organization(), await service.make.organization()]
  await send(busy.key, 2 * STANDARD)
  const { status, headers } = await service.v1(quiet.key).get('/tags')
  expect([status, headers['ratelimit-remaining']]).toEqual([200, String(STANDARD - 1)])
})

it('counts rejected requests with any error', async () => {
  const { key } = await service.make.organization()
  const client = service.v1(key)
  const refused = [
    await client.get('/tags?page=0'),
    await client.get('/nowhere'),
    await client.post('/tags').send({}),
    await client.post('/tags').set('content-type', 'application/json').send('{'),
    await client.get('/invites/none'),
  ]
  expect(refused.map(({ status }) => status)).toEqual([400, 404, 400, 400, 404])
  expect((await client.get('/tags')).status).toBe(429)
})

it('does nothing for a request over the limit', async () => {
  const { id: organizationId, key } = await service.make.organization()
  await send(key, STANDARD)
  expect((await service.v1(key).post('/tags').send({ name: 'Too much' })).status).toBe(429)
  expect((await service.v1(key).post('/tags').set('content-type', 'application/json').send('{')).status).toBe(429)
  expect((await service.v1(key).get('/nowhere')).status).toBe(429)
  expect(await service.db.tag.count({ where: { organizationId } })).toBe(0)
})

it('does not count requests without a valid key', async () => {
  const { key } = await service.make.organization()
  for (let i = 0; i < 2 * STANDARD; i++) expect((await service.v1('ak_live_unknown').get('/tags')).status).toBe(401)
  const { headers } = await service.v1(key).get('/tags')
  expect(headers['ratelimit-remaining']).toBe(String(STANDARD - 1))
})
