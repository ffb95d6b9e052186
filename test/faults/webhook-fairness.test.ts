import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MAX_ENDPOINTS } from '../../src/domain/webhooks/endpoints.ts'
import { ask, openTestDatabase, startProcess } from '../support/processes.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { LONG, scaled } from '../support/scale.ts'
import { waitUntil } from '../support/wait-until.ts'
import { TO_LOOPBACK } from '../support/webhooks.ts'

/** Response time of the flooding organization's endpoints, in milliseconds, so that each attempt takes long. */
const ANSWER_MS = 400
const REPLAYED = scaled(3_000, 100_000)
const PROBES = scaled(4, 60)
/** Maximum number of concurrent attempts, see webhooks/sending-worker.ts. */
const MAX_CONCURRENT = 50

/** Starts a service with an organization that can replay its events to the maximum number of endpoints, and a neighbor with one endpoint. */
async function start() {
  const { url, db, make } = await openTestDatabase()
  onTestFinished(() => db.$disconnect())
  const service = await startProcess({ ...TO_LOOPBACK, DATABASE_URL: url, RATE_LIMIT_STANDARD: '1000000' })
  const underWay = new Map<string, number>()
  let mostUnderWay = 0
  const slow = await startReceiver((response, { path }) => {
    const count = (underWay.get(path) ?? 0) + 1
    underWay.set(path, count)
    mostUnderWay = Math.max(mostUnderWay, count)
    setTimeout(() => {
      underWay.set(path, underWay.get(path)! - 1)
      response.writeHead(204).end()
    }, ANSWER_MS)
  })
  const quick = await startReceiver()

  const join = async () => {
    const organization = await make.organization()
    const { id: assessmentId } = await make.assessment(organization.id)
    const subscribe = async ({ port }: Receiver, path: string): Promise<string> => {
      const answer = await ask(service, organization.key, '/webhooks', { url: `http://127.0.0.1:${port}${path}` })
      return ((await answer.json()) as { webhook: { id: string } }).webhook.id
    }
    const invite = async () => {
      const body = { assessmentId, recipientEmail: `${crypto.randomUUID()}@example.com`, sendEmail: false }
      const answer = await ask(service, organization.key, '/invites', body)
      return ((await answer.json()) as { invite: { id: string } }).invite.id
    }
    return { ...organization, subscribe, invite }
  }
  const [flooder, neighbor] = [await join(), await join()]
  await db.$executeRaw`
    INSERT INTO events (id, organization_id, type, mode, actor_type, data, created_at)
    SELECT gen_random_uuid(), ${flooder.id}::uuid, 'invite.revoked', 'live', 'system', jsonb_build_object('n', n), now()
    FROM generate_series(1, ${REPLAYED / MAX_ENDPOINTS}::int) n`
  const unnumbered = () => db.event.count({ where: { position: null } })
  await waitUntil('the events to be in the feed', async () => (await unnumbered()) === 0 || undefined)
  const endpoints: string[] = []
  for (let i = 0; i < MAX_ENDPOINTS; i++) endpoints.push(await flooder.subscribe(slow, `/${i}`))
  await neighbor.subscribe(quick, '/neighbor')
  const flood = async () => {
    for (const id of endpoints) {
      const answer = await ask(service, flooder.key, `/webhooks/${id}/replay`, { fromCursor: '0' })
      expect(answer.status).toBe(200)
    }
    await waitUntil('the flood to reach its receiver', () => slow.received.length > 100 || undefined)
  }
  return { flooder, neighbor, slow, quick, flood, mostUnderWay: () => mostUnderWay }
}

/** Creates an invite, and waits for its webhook. @returns the wait, and the number of the flood's messages that arrived meanwhile. */
async function probe(invite: () => Promise<string>, receiver: Receiver, flood: Receiver) {
  const [since, before] = [performance.now(), flood.received.length]
  const inviteId = await invite()
  await waitUntil('the webhook', () => receiver.received.some(({ event }) => event.data.inviteId === inviteId) || undefined)
  return { ms: Math.round(performance.now() - since), overtakenBy: flood.received.length - before }
}

const p95 = (values: number[]) => [...values].sort((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1]!

describe('webhook delivery while one organization replays its events to 20 slow endpoints', () => {
  it('delivers new events before the backlog, and gives each endpoint its fair share of concurrency', async () => {
    const { flooder, neighbor, slow, quick, flood, mostUnderWay } = await start()
    const waits = { quiet: [] as number[], neighbor: [] as number[], flooder: [] as number[] }
    for (let i = 0; i < PROBES / 2; i++) waits.quiet.push((await probe(neighbor.invite, quick, slow)).ms)
    await flood()
    for (let i = 0; i < PROBES; i++) {
      const others = await probe(neighbor.invite, quick, slow)
      const own = await probe(flooder.invite, slow, slow)
      waits.neighbor.push(others.ms)
      waits.flooder.push(own.ms)
      expect(others.overtakenBy).toBeLessThan(REPLAYED / 10)
      expect(own.overtakenBy).toBeLessThan(REPLAYED / 10)
      await sleep(scaled(0, 250))
    }
    const measured = {
      quiet: p95(waits.quiet),
      neighbor: p95(waits.neighbor),
      flooder: p95(waits.flooder),
      delivered: slow.received.length,
    }
    process.stdout.write(`${REPLAYED} deliveries replayed; p95 in ms: ${JSON.stringify(measured)}\n`)
    expect(slow.received.length).toBeLessThan(REPLAYED)
    expect(mostUnderWay()).toBeLessThan(MAX_CONCURRENT / 2)
    // A busy machine delays events without a flood, too.
    if (LONG) expect(measured.neighbor).toBeLessThan(Math.max(2_000, 4 * measured.quiet))
  })
})
