import type { ServerResponse } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { ask, openTestDatabase, startProcess } from '../support/processes.ts'
import { type Received, startReceiver, verify } from '../support/receiver.ts'
import { scaled } from '../support/scale.ts'
import { waitUntil } from '../support/wait-until.ts'
import { TO_LOOPBACK } from '../support/webhooks.ts'

/** Deliveries of a killed process are repeated after its lease of 30 s. A busy machine may take longer. */
const RECOVERY_MS = 300_000
const ENDPOINTS = 5
/** Maximum number of concurrent attempts for one healthy endpoint, see webhooks/concurrency.ts. */
const AT_ONCE = 32

/** Starts a service and an organization with several webhooks to one receiver. @returns functions that add events and wait for deliveries. */
async function start(behavior: (response: ServerResponse, message: Received) => void) {
  const receiver = await startReceiver(behavior)
  const { url, db, make } = await openTestDatabase()
  onTestFinished(() => db.$disconnect())
  const { id: organizationId, key } = await make.organization()
  const env = { ...TO_LOOPBACK, DATABASE_URL: url, RATE_LIMIT_STANDARD: '1000000' }
  const launch = () => startProcess(env)
  const first = await launch()
  const secrets: Record<string, string> = {}
  for (let i = 0; i < ENDPOINTS; i++) {
    const path = `/hook/${i}`
    const answer = await ask(first, key, '/webhooks', { url: `http://127.0.0.1:${receiver.port}${path}` })
    secrets[path] = ((await answer.json()) as { secret: string }).secret
  }
  const addEvents = (count: number) => db.$executeRaw`
    INSERT INTO events (id, organization_id, type, mode, actor_type, data, created_at)
    SELECT gen_random_uuid(), ${organizationId}::uuid, 'invite.revoked', 'live', 'system', jsonb_build_object('n', n), now()
    FROM generate_series(1, ${count}::int) n`
  const allDelivered = (count: number) =>
    waitUntil(
      'all events to be delivered',
      async () => ((await db.webhookDelivery.count({ where: { state: 'delivered' } })) === count ? true : undefined),
      RECOVERY_MS,
    )
  return { receiver, db, launch, first, secrets, addEvents, allDelivered }
}

const messageOf = ({ path, id }: Received) => `${path} ${id}`

it('loses no delivery over random kills, and repeats only those in progress, as the same message', async () => {
  const kills = scaled(2, 20)
  const events = scaled(200, 2_000) / ENDPOINTS
  const deliveries = events * ENDPOINTS
  const { receiver, launch, first, secrets, addEvents, allDelivered } = await start((response) =>
    setTimeout(() => response.writeHead(204).end(), 20 + Math.random() * 50),
  )
  const { received } = receiver
  await addEvents(events)
  let service = first
  for (let life = 1; life <= kills; life++) {
    const reached = received.length + Math.max(1, Math.floor((deliveries - received.length) / (kills + 1)))
    await receiver.waitFor(reached)
    service.kill('SIGKILL')
    await service.exited
    service = await launch()
  }
  await allDelivered(deliveries)
  const distinct = new Map(received.map((message) => [messageOf(message), message]))
  const repeats = received.length - distinct.size
  process.stdout.write(`${deliveries} deliveries, ${kills} kills, ${deliveries - distinct.size} lost, ${repeats} repeated\n`)
  expect(distinct.size).toBe(deliveries)
  expect(repeats).toBeLessThanOrEqual(kills * ENDPOINTS * AT_ONCE)
  for (const message of received) {
    expect(message.body).toBe(distinct.get(messageOf(message))!.body)
    verify(secrets[message.path]!, message)
  }
})

it('attempts each delivery from one of several processes', async () => {
  const events = scaled(40, 400)
  const { receiver, db, launch, addEvents, allDelivered } = await start((response) =>
    setTimeout(() => response.writeHead(204).end(), 5 + Math.random() * 20),
  )
  await launch()
  await addEvents(events)
  await allDelivered(events * ENDPOINTS)
  expect(receiver.received).toHaveLength(events * ENDPOINTS)
  expect(new Set(receiver.received.map(messageOf)).size).toBe(events * ENDPOINTS)
  expect(await db.webhookAttempt.count()).toBe(events * ENDPOINTS)
})

it('continues a replay that a kill interrupts', async () => {
  const events = 10_000 // more than one transaction replays
  const { db, launch, first, addEvents } = await start((response) => void response.writeHead(204).end())
  const head = async () => (await db.eventSequence.findUniqueOrThrow({ where: { id: 1 } })).position
  await db.webhookEndpoint.updateMany({ data: { state: 'disabled' } })
  await addEvents(events)
  await waitUntil('the feed', async () => ((await head()) === BigInt(events) ? true : undefined))
  const [endpoint] = await db.webhookEndpoint.findMany({ take: 1 })
  const id = endpoint!.id
  await db.webhookEndpoint.update({ where: { id }, data: { replayPosition: 0n, replayUntil: await head() } })
  const made = () => db.webhookDelivery.count({ where: { endpointId: id } })
  await waitUntil('the replay to begin', async () => ((await made()) > 0 ? true : undefined))
  first.kill('SIGKILL')
  await first.exited
  await launch()
  await waitUntil('the replay to end', async () => {
    const { replayPosition } = await db.webhookEndpoint.findUniqueOrThrow({ where: { id } })
    return replayPosition === null ? true : undefined
  })
  expect(await made()).toBe(events)
})
