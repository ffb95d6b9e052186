import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, it } from 'vitest'
import { type FeedItem, readFeed } from '../support/events.ts'
import { startProcess } from '../support/processes.ts'
import { LONG, scaled } from '../support/scale.ts'
import { type Service, startServiceForTest } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

const TRANSACTIONS = scaled(1_000, 10_000)
const MAX_DELAY_MS = scaled(200, 2_000)
const CONNECTIONS = 8
/** Share of transactions that fail. */
const FAILING = 0.05

type Committed = { id: string; at: number }

/** Records events of one organization in transactions that stay open for a random time after the insertion. */
async function write(service: Service, organizationId: string, committed: Committed[]): Promise<void> {
  let left = TRANSACTIONS
  const work = async () => {
    const client = new pg.Client(service.databaseUrl)
    await client.connect()
    while (left-- > 0) {
      const events = 1 + Math.floor(Math.random() * 3)
      const ids = Array.from({ length: events }, () => service.deps.newId())
      await client.query('BEGIN')
      await client.query(
        `INSERT INTO events (id, organization_id, type, mode, invite_id, actor_type, data, created_at)
         SELECT id, $1, 'invite.resent', 'live', $1, 'system', jsonb_build_object('inviteId', $1::uuid, 'assessmentId', $1::uuid, 'status', 'pending'), now()
         FROM unnest($2::uuid[]) id`,
        [organizationId, ids],
      )
      // Most transactions are quick, some are very slow.
      await sleep(Math.random() ** 3 * MAX_DELAY_MS)
      const fails = Math.random() < FAILING
      await client.query(fails ? 'ROLLBACK' : 'COMMIT')
      if (!fails) committed.push(...ids.map((id) => ({ id, at: performance.now() })))
    }
    await client.end()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work))
}

/** Reads the feed until the writers are done, and then to its end. */
async function follow(service: Service, key: string, seen: Map<string, number>, isOver: () => boolean): Promise<string[]> {
  const ids: string[] = []
  for (let cursor = '0'; ; ) {
    const wasOver = isOver()
    const { body } = await service.v1(key).get(`/events?limit=${1 + Math.floor(Math.random() * 100)}&cursor=${cursor}`)
    for (const { id } of body.events as FeedItem[]) {
      ids.push(id)
      if (!seen.has(id)) seen.set(id, performance.now())
    }
    cursor = body.cursor
    if (wasOver && !body.hasMore) return ids
    if (!body.hasMore) await sleep(10)
  }
}

it(`shows the events of ${TRANSACTIONS} concurrent transactions to two readers, each once and in the same order`, async () => {
  const service = await startServiceForTest()
  await startProcess({ DATABASE_URL: service.databaseUrl, ROLE: 'api' }) // a second process that assigns positions
  const { id, key } = await service.make.organization()
  const committed: Committed[] = []
  const seen = new Map<string, number>()
  let isWritten = false
  const readers = [0, 1].map(() => follow(service, key, seen, () => isWritten))
  await write(service, id, committed)
  await waitUntil(
    'the sequencing of events',
    async () => (await service.db.event.count({ where: { position: null } })) === 0 || undefined,
  )
  isWritten = true
  const [one, other] = (await Promise.all(readers)) as [string[], string[]]
  expect(one).toHaveLength(committed.length)
  expect(new Set(one)).toEqual(new Set(committed.map((event) => event.id)))
  expect(other).toEqual(one)
  const rows = await service.db.event.findMany({ orderBy: { position: 'asc' }, select: { position: true } })
  expect(rows.map(({ position }) => Number(position))).toEqual(rows.map((_, i) => i + 1))
  if (LONG) {
    const delays = committed.map((event) => seen.get(event.id)! - event.at).sort((a, b) => a - b)
    const at = (part: number) => Math.round(delays[Math.floor(delays.length * part)]!)
    process.stdout.write(`ms from commit to visible: p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)}, longest ${at(1 - 1e-9)}\n`)
  }
})

it("delays only a transaction's own events while it is open", async () => {
  const service = await startServiceForTest()
  const { id: organizationId, key } = await service.make.organization()
  const assessment = await service.make.assessment(organizationId)
  const [slow, quick] = [await service.make.invite(assessment), await service.make.invite(assessment)]
  const revoke = ({ id }: { id: string }) => service.v1(key).post(`/invites/${id}/revoke`).send({})
  const held = new pg.Client(service.databaseUrl)
  await held.connect()
  await held.query('BEGIN')
  await held.query(
    `INSERT INTO events (id, organization_id, type, mode, invite_id, actor_type, data, created_at)
     VALUES ($1, $2, 'invite.resent', 'live', $3, 'system', $4, now())`,
    [service.deps.newId(), organizationId, slow.id, { inviteId: slow.id, assessmentId: assessment.id, status: 'pending' }],
  )
  await revoke(quick)
  const before = await readFeed(service, key)
  expect(before.events.map(({ data }) => data.inviteId)).toEqual([quick.id])
  await held.query('COMMIT')
  await held.end()
  const after = await readFeed(service, key, { cursor: before.cursor })
  expect(after.events.map(({ data }) => data.inviteId)).toEqual([slow.id])
})

it('sequences events committed by a process that was then killed', async () => {
  const service = await startServiceForTest({ ROLE: 'api' })
  const { id: organizationId, key } = await service.make.organization()
  const invite = await service.make.invite(await service.make.assessment(organizationId))
  const other = await startProcess({ DATABASE_URL: service.databaseUrl, ROLE: 'api' })
  const answer = await fetch(`${other.url}/api/v1/invites/${invite.id}/revoke`, { method: 'POST', headers: { 'x-api-key': key } })
  expect(answer.status).toBe(200)
  other.kill('SIGKILL')
  await other.exited
  expect((await readFeed(service, key)).events.map(({ type }) => type)).toEqual(['invite.revoked'])
})
