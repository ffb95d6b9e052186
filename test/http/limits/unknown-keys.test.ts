import { EventEmitter } from 'node:events'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createApiKey, generateApiKey, revokeApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { type Service, startService } from '../../support/service.ts'
import { waitUntil } from '../../support/wait-until.ts'

const LIMIT = 5

/** Number of queries for API keys. */
let lookUps = 0
const original: (...values: unknown[]) => unknown = pg.Client.prototype.query
vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...values: unknown[]) {
  const [first] = values
  const text = typeof first === 'string' ? first : (first as { text: string }).text
  if (/^SELECT.* FROM "public"."api_keys"/s.test(text)) lookUps++
  return original.apply(this, values)
})

let service: Service
let address = ''
beforeAll(async () => {
  service = await startService({ RATE_LIMIT_UNKNOWN_KEYS: String(LIMIT), TRUST_PROXY: 'true' })
  await service.app.listen({ port: 0, host: '127.0.0.1' }) // so that concurrent requests share one server
})
afterAll(() => service.close())
let count = 0
beforeEach(() => {
  lookUps = 0
  address = `192.0.2.${++count}` // each test uses its own network
})

const ask = (key: string, from = address) => service.v1(key).get('/tags').set('X-Forwarded-For', from)
const statusOf = async (key: string, from = address) => (await ask(key, from)).status
const unknown = () => generateApiKey('live')
const isWithinAMinute = (seconds: number) => seconds >= 1 && seconds <= 60
/** Uses up the network's limit of unknown keys. */
const useUp = async (from = address) => {
  for (let i = 0; i < LIMIT; i++) expect(await statusOf(unknown(), from)).toBe(401)
}

describe('a network with too many unknown keys', () => {
  it('gets 429 with Retry-After in the envelope of each interface', async () => {
    await useUp()
    const v1 = await ask(unknown())
    expect([v1.status, v1.body]).toEqual([429, { error: 'Rate limit exceeded. Please try again later.' }])
    expect(Number(v1.headers['retry-after'])).toSatisfy(isWithinAMinute)
    const alternate = await service.alternate(unknown()).get('/tags').set('X-Forwarded-For', address)
    const seconds = Number(alternate.headers['retry-after'])
    expect(seconds).toSatisfy(isWithinAMinute)
    expect([alternate.status, alternate.body]).toEqual([
      429,
      { detail: `Request was throttled. Expected available in ${seconds} second${seconds === 1 ? '' : 's'}.` },
    ])
  })

  it('is served with a valid key, even on the first use of the key', async () => {
    const [known, fresh] = [await service.make.organization(), await service.make.organization()]
    expect(await statusOf(known.key)).toBe(200)
    await useUp()
    for (const { key } of [known, fresh, fresh]) expect(await statusOf(key)).toBe(200)
    expect(await statusOf(unknown())).toBe(429)
  })

  it("isn't charged for requests with valid keys", async () => {
    const { key } = await service.make.organization()
    for (let i = 0; i < 2 * LIMIT; i++) expect(await statusOf(key)).toBe(200)
    await useUp()
  })

  it('is charged for malformed keys', async () => {
    for (let i = 0; i < LIMIT; i++) expect(await statusOf('malformed')).toBe(401)
    expect(await statusOf('malformed')).toBe(429)
  })

  it.each(['missing', 'expired', 'revoked'])("isn't charged for keys that are %s, which always get 401", async (what) => {
    const { id: organizationId } = await service.make.organization()
    const expiresAt = what === 'expired' ? service.clock.now() : null
    const made = await createApiKey(service.system, { organizationId, name: what, mode: 'live', expiresAt })
    if (what === 'revoked') await revokeApiKey(service.system, made.apiKey.id)
    for (let i = 0; i < 2 * LIMIT; i++) expect(await statusOf(what === 'missing' ? '' : made.key)).toBe(401)
    await useUp()
  })
})

describe('the network of a client', () => {
  it.each([
    ['a single IPv4 address', '198.51.100.1', '198.51.100.2'],
    ["the client's address if proxies have appended theirs", '198.51.100.3, 10.0.0.1', '198.51.100.4, 10.0.0.1'],
    ['the first half of an IPv6 address', '2001:db8:0:1::1', '2001:db8:0:2::1'],
  ])('is %s', async (_what, one, other) => {
    await useUp(one)
    expect([await statusOf(unknown(), one), await statusOf(unknown(), other)]).toEqual([429, 401])
  })

  it.each([
    ['2001:db8:1:1::1', '2001:0DB8:1:1:ffff:0:0:9'],
    ['2001:db8::1', '2001:db8:0:0:1::'],
    ['::1', '::2'],
    ['::ffff:203.0.113.1', '203.0.113.1'],
    ['fe80::1%eth0', 'fe80::2%eth1'],
  ])('is the same for %s and %s', async (one, other) => {
    await useUp(one)
    expect(await statusOf(unknown(), other)).toBe(429)
  })

  it('is counted even if a proxy sends a name of 5,000 characters', async () => {
    const name = 'x'.repeat(5_000)
    await useUp(name)
    expect(await statusOf(unknown(), name)).toBe(429)
  })
})

describe('the key lookup', () => {
  it('queries the database for no malformed key', async () => {
    const { key } = await service.make.organization()
    for (const bad of [
      'x',
      'ak_live_',
      key.slice(0, -1),
      `${key}x`,
      key.toUpperCase(),
      key.replace('live', 'demo'),
      `${key}, ${key}`,
    ])
      expect(await statusOf(bad)).toBeOneOf([401, 429])
    expect(lookUps).toBe(0)
  })

  it('finds hundreds of unknown keys in one query at a time, and serves known keys meanwhile', async () => {
    const [known, fresh] = [await service.make.organization(), await service.make.organization()]
    await settleCache(known)
    let arrived = 0
    service.app.server.on('request', () => arrived++)
    const { countHeld, letGo } = await lockApiKeys()
    const unknowns = Array.from({ length: 200 }, () => statusOf(unknown()))
    const good = statusOf(fresh.key)
    await waitUntil('the requests to arrive', () => arrived === 201 || undefined)
    expect(await statusOf(known.key)).toBe(200)
    expect(await waitUntil('a look-up', async () => (await countHeld()) || undefined)).toBe(1)
    await letGo()

    expect(await good).toBe(200)
    const statuses = await Promise.all(unknowns)
    expect(statuses.filter((status) => status === 401)).toHaveLength(LIMIT)
    expect(statuses.filter((status) => status === 429)).toHaveLength(200 - LIMIT)
  })
})

/** Waits until a key stays in the cache: pending writes are done, and notifications of earlier changes have arrived. */
async function settleCache({ key, apiKeyId: id }: { key: string; apiKeyId: string }): Promise<void> {
  expect(await statusOf(key)).toBe(200)
  await waitUntil(
    'the use to be recorded',
    async () => (await service.db.apiKey.findUnique({ where: { id } }))?.lastUsedAt ?? undefined,
  )
  const marker = service.make.unique('marker')
  let hasArrived = false
  const emit = vi.spyOn(pg.Client.prototype, 'emit')
  emit.mockImplementation(function (this: pg.Client, event: string | symbol, ...values: unknown[]) {
    hasArrived ||= event === 'notification' && (values[0] as pg.Notification).payload === marker
    return EventEmitter.prototype.emit.call(this, event, ...values)
  })
  await service.db.$queryRaw`SELECT pg_notify('api_keys_changed', ${marker})::text`
  await waitUntil('the notification', () => hasArrived || undefined)
  emit.mockRestore()
  expect(await statusOf(key)).toBe(200)
}

/** Locks the table of API keys, so that lookups wait. `countHeld` counts them, `letGo` releases them. */
async function lockApiKeys() {
  const client = new pg.Client({ connectionString: service.databaseUrl })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('BEGIN')
  await client.query('LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE')
  const readHeld = () => service.db.$queryRaw<object[]>`
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  return {
    countHeld: async () => (await readHeld()).length,
    letGo: async () => void (await client.query('COMMIT')),
  }
}
