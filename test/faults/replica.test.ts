import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDb, type Db, openPool } from '../../src/db/client.ts'
import { migrate } from '../../src/db/migrate.ts'
import { type Factories, factories, systemOn } from '../support/factories.ts'
import { ask, type ServiceProcess, startProcess } from '../support/processes.ts'
import { type Replicated, startReplicated } from '../support/replica.ts'
import { SECRET_KEY } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

const IS_READ = 'lists are read from the replica again'
const IS_NOT_READ = 'lists cannot be read from the replica'

let replicated: Replicated
let db: Db
let make: Factories
let service: ServiceProcess

beforeAll(async () => {
  replicated = await startReplicated()
  await migrate(replicated.url)
  db = createDb(openPool(replicated.url, { max: 4 }))
  make = factories(systemOn(db))
  service = await launch(replicated.readUrl)
  await service.waitForLog(IS_READ)
})
afterAll(async () => {
  service?.kill('SIGTERM')
  await service?.exited
  await db?.$disconnect()
  await replicated?.dispose()
})

const launch = (readUrl: string) =>
  startProcess({
    DATABASE_URL: replicated.url,
    DATABASE_READ_URL: readUrl,
    SECRET_KEY,
    RATE_LIMIT_STANDARD: '1000000',
  })
const times = (message: string) => service.log().filter(({ msg }) => msg === message).length

type Row = { id: string }
type Event = { type: string; data: { inviteId: string } }
type List = { ids: string[]; total: number; cursor: string }

async function makeOrganization(from = service) {
  const { id, key } = await make.organization()
  const assessment = await make.assessment(id)
  const read = async <Body>(resource: string) => {
    const response = await ask(from, key, resource)
    expect([resource, response.status]).toEqual([resource, 200])
    return { body: (await response.json()) as Body, cursor: response.headers.get('events-cursor')! }
  }
  return {
    assessment,
    async invite(): Promise<string> {
      const body = { assessmentId: assessment.id, recipientEmail: `${crypto.randomUUID()}@example.com` }
      const response = await ask(from, key, '/invites', body)
      expect(response.status).toBe(201)
      return ((await response.json()) as { invite: Row }).invite.id
    },
    async list(): Promise<List> {
      const { body, cursor } = await read<{ invites: Row[]; pagination: { total: number } }>('/invites?limit=100')
      return { ids: body.invites.map(({ id }) => id), total: body.pagination.total, cursor }
    },
    /** Returns the ids of invites whose creation the feed reports after the cursor. */
    async createdAfter(cursor: string): Promise<string[]> {
      const { body } = await read<{ events: Event[] }>(`/events?cursor=${cursor}&limit=100`)
      return body.events.filter(({ type }) => type === 'invite.created').map(({ data }) => data.inviteId)
    },
    get: async (id: string) => (await read<Row>(`/invites/${id}`)).body,
    async alternate(): Promise<number> {
      const headers = { 'x-service-docs-api-key': key }
      const response = await fetch(`${from.url}/api/alternate/assessment_invites`, { headers })
      expect(response.status).toBe(200)
      return ((await response.json()) as { count: number }).count
    },
  }
}

describe('a replica', () => {
  it('serves the lists of both interfaces, and the feed reports what a list lacks', async () => {
    const organization = await makeOrganization()
    await waitUntil('the organization to be replicated', async () => (await organization.list()).total === 0 || undefined)
    await replicated.onReplica('SELECT pg_wal_replay_pause()')
    const late = times(IS_NOT_READ)
    const id = await organization.invite()
    expect(await organization.get(id)).toMatchObject({ id })
    const list = await organization.list()
    expect([list.total, await organization.alternate(), times(IS_NOT_READ)]).toEqual([0, 0, late])
    expect(await waitUntil('its event', async () => (await organization.createdAfter(list.cursor))[0])).toBe(id)

    await waitUntil('the replica to lag too far', () => times(IS_NOT_READ) > late || undefined)
    expect([(await organization.list()).total, await organization.alternate()]).toEqual([1, 1])
    const read = times(IS_READ)
    await replicated.onReplica('SELECT pg_wal_replay_resume()')
    await waitUntil('the replica to be read again', () => times(IS_READ) > read || undefined)
  })

  it('leaves no gap between a list and the feed after its cursor while invites are created', async () => {
    const organization = await makeOrganization()
    const made: string[] = []
    const lists: (List & { madeBefore: number })[] = []
    let isOver = false
    const making = (async () => {
      for (let i = 0; i < 40; i++) made.push(await organization.invite())
      isOver = true
    })()
    while (!isOver) lists.push({ madeBefore: made.length, ...(await organization.list()) })
    await making
    const last = made.at(-1)!
    await waitUntil('all events', async () => (await organization.createdAfter('0')).includes(last) || undefined)
    for (const { ids, cursor } of lists) {
      const known = new Set([...ids, ...(await organization.createdAfter(cursor))])
      expect(made.filter((id) => !known.has(id))).toEqual([])
    }
    expect(lists.length).toBeGreaterThan(1)
  })

  it('leaves reads that need a write to the primary: due invites expire in the list', async () => {
    const organization = await makeOrganization()
    const { id } = await make.invite(organization.assessment, { status: 'pending', expiresAt: new Date(Date.now() - 1_000) })
    await waitUntil('the list to contain it', async () => (await organization.list()).total === 1 || undefined)
    expect((await db.invite.findUniqueOrThrow({ where: { id } })).status).toBe('expired')
  })

  it('is read only if it is a replica of this database', async () => {
    const other = await launch(replicated.url)
    const { reason } = await other.waitForLog(IS_NOT_READ)
    expect(reason).toBe('it is no replica: it takes changes itself')
    const organization = await makeOrganization(other)
    await organization.invite()
    expect((await organization.list()).total).toBe(1)
  })

  it('may terminate all idle connections without failing later lists', async () => {
    const organization = await makeOrganization()
    await replicated.onReplica(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`)
    await organization.invite()
    await waitUntil('the list to contain the invite', async () => (await organization.list()).total === 1 || undefined)
  })

  it('is replaced by the primary if lost, even for requests in progress', async () => {
    const organization = await makeOrganization()
    await organization.invite()
    await waitUntil('the list to contain it', async () => (await organization.list()).total === 1 || undefined)
    const lost = times(IS_NOT_READ)
    const stopping = replicated.stopReplica()
    while (times(IS_NOT_READ) === lost) expect((await organization.list()).total).toBe(1)
    await stopping
    expect((await organization.list()).total).toBe(1)
  })
})
