import { Client } from 'pg'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { createApiKey, revokeApiKey } from '../../src/domain/access/api-keys.ts'
import { setTier } from '../../src/domain/access/organizations.ts'
import { ask, openTestDatabase, type ServiceProcess, startProcess, type TestDatabase, waitUntil } from '../support/processes.ts'

const WITHIN_MS = 1_000

let database: TestDatabase
let replicas: ServiceProcess[]
beforeAll(async () => {
  database = await openTestDatabase()
  const env = { DATABASE_URL: database.url, ROLE: 'api', RATE_LIMIT_STANDARD: '1000000', RATE_LIMIT_ENTERPRISE: '2000000' }
  replicas = await Promise.all([startProcess(env), startProcess(env)])
})
afterAll(() => database.db.$disconnect())

const statuses = (key: string) => Promise.all(replicas.map(async (replica) => (await ask(replica, key, '/tags')).status))

/** Waits until the answers are those. @returns the milliseconds since `begin`. */
async function timeUntil(begin: number, answers: () => Promise<unknown[]>, wanted: unknown): Promise<number> {
  await waitUntil(`${wanted} everywhere`, async () => (await answers()).every((answer) => answer === wanted) || undefined)
  return Date.now() - begin
}

/** A live key that both replicas have just looked up, and remember. */
async function makeKnownKey(organizationId: string, name: string) {
  const { key, apiKey } = await createApiKey(database.system, { organizationId, name, mode: 'live' })
  expect([await statuses(key), await statuses(key)]).toEqual([
    [200, 200],
    [200, 200],
  ])
  return { key, id: apiKey.id }
}

it('refuses a key within a second of its being revoked elsewhere', async () => {
  const { id } = await database.make.organization()
  for (let i = 0; i < 5; i++) {
    const known = await makeKnownKey(id, `Key ${i}`)
    const begin = Date.now()
    await revokeApiKey(database.system, known.id)
    expect(await timeUntil(begin, () => statuses(known.key), 401)).toBeLessThan(WITHIN_MS)
  }
})

it('applies the limits of the new tier within a second of its being set elsewhere', async () => {
  const { id, key } = await database.make.organization()
  const limits = () =>
    Promise.all(replicas.map(async (replica) => (await ask(replica, key, '/tags')).headers.get('ratelimit-limit')))
  expect(await limits()).toEqual(['1000000', '1000000'])
  const begin = Date.now()
  await setTier(database.system, id, 'enterprise')
  expect(await timeUntil(begin, limits, '2000000')).toBeLessThan(WITHIN_MS)
})

it('honours keys and revocations while it can not hear of changes, and afterwards', async () => {
  const { id } = await database.make.organization()
  const [first, second] = [await makeKnownKey(id, 'First'), await makeKnownKey(id, 'Second')]
  const cutListeners = await openCutter()

  expect(await cutListeners()).toBe(2)
  const begin = Date.now()
  await revokeApiKey(database.system, first.id)
  expect(await timeUntil(begin, () => statuses(first.key), 401)).toBeLessThan(WITHIN_MS)
  expect(await statuses(second.key)).toEqual([200, 200])

  await waitUntil('both to listen again', async () => (await countListeners()) === 2 || undefined)
  const third = await makeKnownKey(id, 'Third')
  const later = Date.now()
  await revokeApiKey(database.system, third.id)
  expect(await timeUntil(later, () => statuses(third.key), 401)).toBeLessThan(WITHIN_MS)
})

const LISTENERS = `FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'listens for api_keys_changed'`

async function countListeners(): Promise<number> {
  const [row] = await database.db.$queryRawUnsafe<{ count: number }[]>(
    `SELECT count(*)::int AS count ${LISTENERS} AND query <> ''`,
  )
  return row!.count
}

/** How to end the connections over which both replicas hear of changes. */
async function openCutter(): Promise<() => Promise<number | null>> {
  const client = new Client({ connectionString: database.url })
  await client.connect()
  onTestFinished(() => client.end())
  return async () => (await client.query(`SELECT pg_terminate_backend(pid) ${LISTENERS}`)).rowCount
}
