import { Client } from 'pg'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { createApiKey, revokeApiKey } from '../../src/domain/api-keys/api-keys.ts'
import { setTier } from '../../src/domain/organization/organizations.ts'
import { ask, openTestDatabase, type ServiceProcess, startProcess, type TestDatabase } from '../support/processes.ts'
import { waitUntil } from '../support/wait-until.ts'

/** A notification takes milliseconds, and without one the answers never change. The limit leaves time for a busy machine. */
const WITHIN_MS = 10_000

let database: TestDatabase
let replicas: ServiceProcess[]
beforeAll(async () => {
  database = await openTestDatabase()
  const env = { DATABASE_URL: database.url, ROLE: 'api', RATE_LIMIT_STANDARD: '1000000', RATE_LIMIT_ENTERPRISE: '2000000' }
  replicas = await Promise.all([startProcess(env), startProcess(env)])
})
afterAll(() => database.db.$disconnect())

const statuses = (key: string) => Promise.all(replicas.map(async (replica) => (await ask(replica, key, '/tags')).status))

/** Waits until all answers equal the wanted one. */
const waitForAll = (answers: () => Promise<unknown[]>, wanted: unknown) =>
  waitUntil(`${wanted} everywhere`, async () => (await answers()).every((answer) => answer === wanted) || undefined, WITHIN_MS)

/** Creates a live key that both replicas have in their cache. */
async function createCachedKey(organizationId: string, name: string) {
  const { key, apiKey } = await createApiKey(database.system, { organizationId, name, mode: 'live' })
  expect([await statuses(key), await statuses(key)]).toEqual([
    [200, 200],
    [200, 200],
  ])
  return { key, id: apiKey.id }
}

it('rejects a key within a second of its revocation in another process', async () => {
  const { id } = await database.make.organization()
  for (let i = 0; i < 5; i++) {
    const known = await createCachedKey(id, `Key ${i}`)
    await revokeApiKey(database.system, known.id)
    await waitForAll(() => statuses(known.key), 401)
  }
})

it("applies a new tier's limits within a second of the change in another process", async () => {
  const { id, key } = await database.make.organization()
  const limits = () =>
    Promise.all(replicas.map(async (replica) => (await ask(replica, key, '/tags')).headers.get('ratelimit-limit')))
  expect(await limits()).toEqual(['1000000', '1000000'])
  await setTier(database.system, id, 'enterprise')
  await waitForAll(limits, '2000000')
})

it('honors keys and revocations while notifications are cut off, and afterwards', async () => {
  const { id } = await database.make.organization()
  const [first, second] = [await createCachedKey(id, 'First'), await createCachedKey(id, 'Second')]
  const cutListeners = await prepareCut()

  expect(await cutListeners()).toBe(2)
  await revokeApiKey(database.system, first.id)
  await waitForAll(() => statuses(first.key), 401)
  expect(await statuses(second.key)).toEqual([200, 200])

  await waitUntil('both to listen again', async () => (await countListeners()) === 2 || undefined)
  const third = await createCachedKey(id, 'Third')
  await revokeApiKey(database.system, third.id)
  await waitForAll(() => statuses(third.key), 401)
})

const LISTENERS = `FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'listens for api_keys_changed'`

async function countListeners(): Promise<number> {
  const [row] = await database.db.$queryRawUnsafe<{ count: number }[]>(
    `SELECT count(*)::int AS count ${LISTENERS} AND query <> ''`,
  )
  return row!.count
}

/** Returns a function that ends the connections on which both replicas listen for notifications. */
async function prepareCut(): Promise<() => Promise<number | null>> {
  const client = new Client({ connectionString: database.url })
  await client.connect()
  onTestFinished(() => client.end())
  return async () => (await client.query(`SELECT pg_terminate_backend(pid) ${LISTENERS}`)).rowCount
}
