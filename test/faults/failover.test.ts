import { expect, it, onTestFinished } from 'vitest'
import { createDb, openPool } from '../../src/db/client.ts'
import { migrate } from '../../src/db/migrate.ts'
import { factories, systemOn } from '../support/factories.ts'
import { socketOf } from '../support/line.ts'
import { ask, startProcess } from '../support/processes.ts'
import { startReceiver } from '../support/receiver.ts'
import { startReplicated } from '../support/replica.ts'
import { followFeed, keepInviting } from '../support/stubborn-clients.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { waitUntil } from '../support/wait-until.ts'
import { TO_LOOPBACK } from '../support/webhooks.ts'

/** Starts a primary with standbys, and services that reach the primary through a proxy, which can be redirected to another server. */
async function setUp({ standbys = 1, processes = 1 } = {}) {
  const replicated = await startReplicated({ replicas: standbys })
  onTestFinished(replicated.dispose)
  await migrate(replicated.url)
  const db = createDb(openPool(replicated.url, { max: 2 }))
  const make = factories(systemOn(db))
  const { id: organizationId, key } = await make.organization()
  const { id: assessmentId } = await make.assessment(organizationId)
  await db.$disconnect()
  const proxy = await startTcpProxy({ path: socketOf(replicated.url) })
  onTestFinished(proxy.cut)
  const settings = {
    ...TO_LOOPBACK,
    DATABASE_URL: `postgresql://postgres@127.0.0.1:${proxy.port}/assessments`,
    DATABASE_READ_URL: replicated.readUrls.join(),
    RATE_LIMIT_STANDARD: '1000000',
  }
  const services = await Promise.all(Array.from({ length: processes }, () => startProcess(settings)))
  const urls = services.map(({ url }) => url)
  /** Promotes a standby, and redirects new connections to it. */
  async function promote(which = 0) {
    await replicated.onReplica('SELECT pg_promote()', which)
    proxy.redirect({ path: socketOf(replicated.readUrls[which]!) })
  }
  return { replicated, proxy, services, promote, access: { urls, key, assessmentId } }
}

const GAPS = 'SELECT "after"::text, until::text FROM missing_event_positions'
const EVENTS = 'SELECT id, position::int8::text FROM events WHERE position IS NOT NULL ORDER BY position'

/** Expects the reader to have seen every event of the new primary, without contradictions. */
async function expectOneHistory(
  on: (sql: string) => Promise<{ id: string; position: string }[]>,
  reader: ReturnType<typeof followFeed>,
) {
  const events = await on(EVENTS)
  await waitUntil('the reader', () => reader.cursor() >= BigInt(events.at(-1)!.position) || undefined)
  await reader.stop()
  expect(reader.contradictions).toEqual([])
  const known = new Set(reader.eventIds.values())
  expect(events.filter(({ id }) => !known.has(id))).toEqual([])
}

it('loses no acknowledged write when a synchronous standby takes over, with no 500, no double invite, and one gap', async () => {
  const { replicated, proxy, services, promote, access } = await setUp({ standbys: 2, processes: 2 })
  await replicated.onPrimary(`ALTER SYSTEM SET synchronous_standby_names = '2 (*)'`)
  await replicated.onPrimary('SELECT pg_reload_conf()')
  const reader = followFeed(access)
  const clients = keepInviting(access)
  await clients.made(20)
  proxy.swallow()
  await waitUntil('each service to reject requests', () => clients.refused().length >= 6 || undefined)
  await promote()
  await replicated.follow(replicated.readUrls[0], 1)
  proxy.pass()
  await clients.made(20)
  await clients.stop()

  const refused = clients.refused()
  expect(new Set(refused.map(({ status, retryAfter }) => `${status} ${retryAfter}`))).toEqual(new Set(['503 5']))
  const [{ count }] = await replicated.onReplica('SELECT count(*)::int FROM invites')
  const ids = (await replicated.onReplica('SELECT id FROM invites')).map(({ id }) => id)
  expect(new Set(ids)).toEqual(new Set(clients.acknowledged.map(({ id }) => id)))
  expect(count).toBe(clients.acknowledged.length)
  await waitUntil('all events to be sequenced', async () => {
    const [{ waiting }] = await replicated.onReplica('SELECT count(*)::int AS waiting FROM events WHERE position IS NULL')
    return waiting === 0 || undefined
  })
  expect(await replicated.onReplica(GAPS)).toHaveLength(1)
  await expectOneHistory(replicated.onReplica, reader)
  for (const service of services) {
    expect(service.log().filter(({ msg }) => msg.startsWith('request failed'))).toEqual([])
    expect(service.log().filter(({ msg }) => msg.startsWith('the database is unreachable')).length).toBeLessThanOrEqual(1)
  }
  const pause = clients.longestPause().toFixed(1)
  process.stdout.write(`${count} invites, ${refused.length} answered 503, ${pause} s without writes\n`)

  // One server of DATABASE_READ_URL is the primary now, so lists come from the other, which lacks changes while its replay is paused.
  const total = async () =>
    ((await (await ask(services[0]!, access.key, '/invites')).json()) as { pagination: { total: number } }).pagination.total
  const promoted = performance.now()
  await waitUntil('a list to be read from the other standby', async () => {
    await replicated.onReplica('SELECT pg_wal_replay_pause()', 1)
    const before = await total()
    const response = await ask(services[0]!, access.key, '/invites', {
      assessmentId: access.assessmentId,
      recipientEmail: `${crypto.randomUUID()}@example.com`,
    })
    expect(response.status).toBe(201)
    const isOfReplica = (await total()) === before
    await replicated.onReplica('SELECT pg_wal_replay_resume()', 1)
    return isOfReplica || undefined
  })
  process.stdout.write(`lists from the other standby after ${((performance.now() - promoted) / 1_000).toFixed(1)} s\n`)
})

it('reuses no position if a standby without the latest events takes over, and shows readers one gap and webhooks the rest', async () => {
  const { replicated, proxy, services, promote, access } = await setUp()
  const receiver = await startReceiver()
  const webhook = await ask(services[0]!, access.key, '/webhooks', { url: `http://127.0.0.1:${receiver.port}/` })
  expect(webhook.status).toBe(201)
  const reader = followFeed(access)
  const clients = keepInviting(access)
  await clients.made(10)
  await replicated.follow(undefined)
  await waitUntil('the standby to fall behind', async () => {
    const [{ streams }] = await replicated.onPrimary('SELECT count(*)::int AS streams FROM pg_stat_replication')
    return streams === 0 || undefined
  })
  const [{ behind }] = await replicated.onReplica('SELECT position::text AS behind FROM event_sequence')
  await waitUntil('the reader to read events that will be lost', () => reader.cursor() > BigInt(behind) + 10n || undefined)
  const lost = reader.cursor()
  await proxy.cut()
  await promote()
  await proxy.mend()
  await clients.made(20)
  await clients.stop()

  expect(clients.refused().filter(({ status }) => status !== 503)).toEqual([])
  await waitUntil('all events to be sequenced', async () => {
    const [{ waiting }] = await replicated.onReplica('SELECT count(*)::int AS waiting FROM events WHERE position IS NULL')
    return waiting === 0 || undefined
  })
  const gaps = await replicated.onReplica(GAPS)
  expect(gaps).toHaveLength(1)
  expect(BigInt(gaps[0].after)).toBeLessThan(lost)
  expect(BigInt(gaps[0].until)).toBeGreaterThan(lost)
  expect(reader.listings()).toBeGreaterThan(0)
  await reader.stop()
  expect(reader.contradictions).toEqual([])

  const events: { id: string }[] = await replicated.onReplica(EVENTS)
  const delivered = () => new Set(receiver.received.map(({ event }) => event.id))
  await waitUntil('the webhook to receive all events', () => events.every(({ id }) => delivered().has(id)) || undefined)
  const twice = Map.groupBy(receiver.received, ({ event }) => event.position)
  for (const [position, messages] of twice)
    expect([position, new Set(messages.map(({ event }) => event.id)).size]).toEqual([position, 1])
})
