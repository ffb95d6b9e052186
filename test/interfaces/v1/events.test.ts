import { describe, expect, it } from 'vitest'
import { deleteExpiredEvents } from '../../../src/domain/events/delete-expired-events.ts'
import { detectRestore } from '../../../src/domain/events/detect-restore.ts'
import { candidateOf } from '../../support/candidate.ts'
import { type FeedItem, readFeed, waitForNumbering } from '../../support/events.ts'
import { DAY_MS, unknownId } from '../../support/factories.ts'
import { startServiceForFile, startServiceForTest } from '../../support/service.ts'

const service = await startServiceForFile()

/** Creates an organization with an invite that has this many events. */
async function setUp(count = 0, of = service) {
  const { id: organizationId, key } = await of.make.organization()
  const assessment = await of.make.assessment(organizationId)
  const invite = await of.make.invite(assessment)
  const client = of.v1(key)
  const happen = async (times: number, id = invite.id) => {
    for (let i = 0; i < times; i++) await client.post(`/invites/${id}/extend`).send({ expiresInDays: 60 })
    await waitForNumbering(of)
  }
  await happen(count)
  const get = async (query = '') =>
    (await client.get(`/events${query}`)).body as { events: FeedItem[]; cursor: string; hasMore: boolean }
  return { organizationId, key, client, assessment, invite, happen, get }
}

const positionsOf = (events: FeedItem[]) => events.map(({ position }) => position)

describe('a page of the feed', () => {
  it('has exactly these fields, and the oldest event first', async () => {
    const { invite, assessment, get, organizationId } = await setUp(2)
    const { apiKeys } = await service.db.organization.findUniqueOrThrow({
      where: { id: organizationId },
      include: { apiKeys: true },
    })
    const answer = await get()
    expect(Object.keys(answer)).toEqual(['events', 'cursor', 'hasMore'])
    expect(answer.events[0]).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-/),
      type: 'invite.extended',
      position: expect.any(Number),
      createdAt: service.clock.now().toISOString(),
      actor: { type: 'api_key', id: apiKeys[0]!.id },
      data: { inviteId: invite.id, assessmentId: assessment.id, status: 'pending', expiresAt: expect.any(String) },
    })
    expect(Object.keys(answer.events[0]!)).toEqual(['id', 'type', 'position', 'createdAt', 'actor', 'data'])
    expect(positionsOf(answer.events)).toEqual(positionsOf(answer.events).toSorted((a, b) => a - b))
  })

  it('continues after the previous page, and shows whether there are more', async () => {
    const { get } = await setUp(5)
    const all = (await get()).events
    const first = await get('?limit=2')
    const second = await get(`?limit=2&cursor=${first.cursor}`)
    const third = await get(`?limit=2&cursor=${second.cursor}`)
    expect([first, second, third].map(({ hasMore }) => hasMore)).toEqual([true, true, false])
    expect([first, second, third].flatMap(({ events }) => events)).toEqual(all)
    expect(await get(`?cursor=${third.cursor}`)).toEqual({ events: [], cursor: third.cursor, hasMore: false })
  })

  it('has no more pages after the last event', async () => {
    const { get } = await setUp(2)
    expect(await get('?limit=2')).toMatchObject({ hasMore: false, events: [{}, {}] })
  })

  it("has a cursor that advances with other organizations' events", async () => {
    const quiet = await setUp(1)
    const before = await quiet.get()
    await setUp(3)
    const after = await quiet.get(`?cursor=${before.cursor}`)
    expect(after.events).toEqual([])
    expect(Number(after.cursor)).toBeGreaterThanOrEqual(Number(before.cursor) + 3)
  })
})

describe('the filters of the feed', () => {
  it('select events by type, by invite, and by both', async () => {
    const { client, get, assessment, invite, happen } = await setUp(1)
    const other = await service.make.invite(assessment)
    await client.post(`/invites/${other.id}/revoke`).send({})
    await client.post(`/invites/${invite.id}/revoke`).send({})
    await happen(0)
    const typesOf = async (query: string) =>
      (await get(query)).events.map(({ type, data }) => `${type} ${data.inviteId === invite.id}`)
    expect(await typesOf('?type=invite.revoked')).toEqual(['invite.revoked false', 'invite.revoked true'])
    expect(await typesOf('?type=invite.revoked,invite.extended')).toEqual([
      'invite.extended true',
      'invite.revoked false',
      'invite.revoked true',
    ])
    expect(await typesOf('?type=invite.revoked&type=invite.extended')).toHaveLength(3)
    expect(await typesOf(`?inviteId=${invite.id}`)).toEqual(['invite.extended true', 'invite.revoked true'])
    expect(await typesOf(`?inviteId=${invite.id.toUpperCase()}&type=invite.revoked,invite.revoked`)).toEqual([
      'invite.revoked true',
    ])
    expect(await typesOf(`?inviteId=${unknownId}`)).toEqual([])
    expect(await typesOf('?type=email.failed')).toEqual([])
  })

  it('keep the page size, and continue on the next page', async () => {
    const { key, client, assessment, happen, get } = await setUp(3)
    const other = await service.make.invite(assessment)
    await happen(3, other.id)
    await client.post(`/invites/${other.id}/revoke`).send({})
    const query = { type: 'invite.extended,invite.revoked', limit: '2' }
    const { events } = await readFeed(service, key, query)
    expect(events).toHaveLength(7)
    expect(events).toEqual((await get('')).events)
  })

  it.each([
    ['cursor=x', 'cursor is not valid'],
    ['cursor=', 'cursor is not valid'],
    ['cursor=-1', 'cursor is not valid'],
    ['cursor=1.5', 'cursor is not valid'],
    [`cursor=${'9'.repeat(19)}`, 'cursor is not valid'],
    ['limit=0', 'limit must be a positive integer'],
    ['limit=101', 'limit must be an integer between 1 and 100'],
    ['mode=x', 'mode must be one of live, test, all'],
    ['inviteId=x', 'inviteId must be a UUID'],
    ['type=invite.created,x', /^type\.1 must be one of invite\.created, /],
  ])('reject an invalid value: %s', async (query, message) => {
    const { client } = await setUp()
    const { status, body } = await client.get(`/events?${query}`)
    expect([status, body]).toEqual([400, { error: typeof message === 'string' ? message : expect.stringMatching(message) }])
  })
})

it('accepts a hundred types at most', async () => {
  const { client } = await setUp()
  const ask = (count: number) => client.get(`/events?type=${'invite.created,'.repeat(count)}`)
  expect((await ask(100)).status).toBe(200)
  expect(await ask(101)).toMatchObject({ status: 400, body: { error: 'type must have at most 100 items' } })
})

describe('the feed (410 cursor_gone)', () => {
  const gone = {
    status: 410,
    body: { error: 'The events behind this cursor are no longer kept. List everything again, and go on from its Events-Cursor' },
  }

  it('rejects a cursor whose later events were deleted; without a cursor the feed begins with the oldest stored event', async () => {
    const own = await startServiceForTest()
    const { client, assessment, get, happen } = await setUp(3, own)
    const [, second, third] = (await get()).events
    own.clock.advance(90 * DAY_MS)
    await happen(1, (await own.make.invite(assessment)).id)
    await deleteExpiredEvents(own.system, 90)
    expect((await get()).events).toHaveLength(4) // exactly at the retention limit
    own.clock.advance(1)
    await deleteExpiredEvents(own.system, 90)
    expect(await client.get(`/events?cursor=${second!.position}`)).toMatchObject(gone)
    expect(await client.get('/events?cursor=0')).toMatchObject({ ...gone, headers: { 'x-error-code': 'cursor_gone' } })
    expect((await get(`?cursor=${third!.position}`)).events).toHaveLength(1)
    expect((await get()).events).toHaveLength(1)
  })

  it('rejects a cursor beyond the end of the feed', async () => {
    const { client, get } = await setUp(1)
    const { cursor } = await get()
    const error = expect.stringMatching(/^The feed of events has not reached this cursor: .* List everything again/)
    expect(await client.get(`/events?cursor=${BigInt(cursor) + 1_000n}`)).toMatchObject({ status: 410, body: { error } })
  })

  it('rejects a cursor of events that a restored backup has lost, and accepts one if the backup has them', async () => {
    const own = await startServiceForTest()
    const { client, assessment, get, happen } = await setUp(2, own)
    const { cursor: atBackup } = await get()
    const ofLostEvents = BigInt(atBackup) + 2n
    await own.db.eventSequence.updateMany({ data: { database: 'the one that was backed up' } })
    await detectRestore(own.system)
    await detectRestore(own.system)
    await happen(3, (await own.make.invite(assessment)).id)
    expect(await client.get(`/events?cursor=${ofLostEvents}`)).toMatchObject(gone)
    const { events, cursor } = await get(`?cursor=${atBackup}`)
    expect(events).toHaveLength(3)
    expect(await get(`?cursor=${cursor}`)).toEqual({ events: [], cursor, hasMore: false })
    expect((await get()).events).toHaveLength(5)
  })
})

describe('the Events-Cursor header', () => {
  it('is on every list of v1', async () => {
    const { client, assessment, invite, get } = await setUp(1)
    const lists = ['/assessments', `/assessments/${assessment.id}/questions`, '/members', '/invites', '/tags']
    const ofInvite = ['emails', 'tags'].map((list) => `/invites/${invite.id}/${list}`)
    for (const path of [...lists, ...ofInvite]) {
      const { status, headers } = await client.get(path)
      expect([status, headers['events-cursor']], path).toEqual([200, expect.stringMatching(/^\d+$/)])
      expect((await client.get(`/events?cursor=${headers['events-cursor']}`)).status).toBe(200)
    }
    expect((await client.get(`/invites/${invite.id}`)).headers).not.toHaveProperty('events-cursor')
    expect(Number((await get()).cursor)).toBeGreaterThan(0)
  })

  it('keeps a reader in step with a list that changes while its pages are read', async () => {
    const { key, client, assessment } = await setUp()
    for (let i = 0; i < 20; i++) await service.make.invite(assessment)
    const copy = new Map<string, string>()
    let changes = 0
    /** Creates an invite, accepts another, and revokes a third between two pages. */
    const change = async () => {
      const recipientEmail = `late-${++changes}@example.com`
      const created = await client.post('/invites').send({ assessmentId: assessment.id, recipientEmail, sendEmail: false })
      const invites = await service.db.invite.findMany({
        where: { assessmentId: assessment.id, status: 'pending' },
        orderBy: { id: 'asc' },
      })
      await candidateOf(service, invites[changes]!).press('accept')
      await client.post(`/invites/${invites.at(-2 - changes)!.id}/revoke`).send({})
      expect(created.status).toBe(201)
    }
    let cursor: string | undefined
    for (let page = 1, totalPages = 1; page <= totalPages; page++) {
      const { body, headers } = await client.get(`/invites?limit=5&page=${page}`)
      cursor ??= headers['events-cursor']
      for (const { id, status } of body.invites) copy.set(id, status)
      totalPages = body.pagination.totalPages
      await change()
    }
    const { events } = await readFeed(service, key, { cursor: cursor! })
    for (const { data } of events) copy.set(data.inviteId, data.status)
    const present = await service.db.invite.findMany({ where: { assessmentId: assessment.id } })
    expect(copy).toEqual(new Map(present.map(({ id, status }) => [id, status])))
    expect(changes).toBeGreaterThanOrEqual(4)
  })
})
