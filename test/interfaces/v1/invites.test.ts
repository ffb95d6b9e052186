import { describe, expect, it } from 'vitest'
import { DAY_MS, unknownId } from '../../support/factories.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

const statuses = ['pending', 'accepted', 'started', 'completed', 'expired', 'revoked'] as const

type Shown = { id: string; status: string }
const idsOf = (body: { invites: Shown[] }) => body.invites.map(({ id }) => id)

/** Creates an invite with a distinct value in every field. */
async function makeInvite() {
  const { id: organizationId, key } = await service.make.organization()
  const assessment = await service.make.assessment(organizationId, { name: 'Spoken English' })
  const grader = await service.make.member(organizationId, { firstName: 'Grace', lastName: 'Grader' })
  const invite = await service.make.invite(assessment, {
    recipientEmail: 'Candidate@example.com',
    recipientName: 'Sam Rivera',
    status: 'revoked',
    questionReplayLimit: 2,
    answerRecordLimit: 3,
    screenRecording: true,
    webcamMonitoring: false,
    requireIdCapture: true,
    customMessage: 'We look forward to hearing you.\n✓',
    assignedGraderId: grader.id,
    sentAt: new Date('2026-03-02T09:30:00.123Z'),
    expiresAt: new Date('2099-04-01T09:30:00.123Z'),
    acceptedAt: new Date('2026-03-03T09:30:00.000Z'),
    startedAt: new Date('2026-03-04T09:30:00.000Z'),
    completedAt: new Date('2026-03-05T09:30:00.000Z'),
    revokedAt: new Date('2026-03-06T09:30:00.000Z'),
  })
  const summary = {
    id: invite.id,
    assessmentId: assessment.id,
    assessmentName: 'Spoken English',
    recipientEmail: 'Candidate@example.com',
    recipientName: 'Sam Rivera',
    status: 'revoked',
    questionReplayLimit: 2,
    answerRecordLimit: 3,
    sentAt: '2026-03-02T09:30:00.123Z',
    expiresAt: '2099-04-01T09:30:00.123Z',
    acceptedAt: '2026-03-03T09:30:00.000Z',
    startedAt: '2026-03-04T09:30:00.000Z',
    completedAt: '2026-03-05T09:30:00.000Z',
  }
  return { key, invite, grader, summary }
}

describe('an invite', () => {
  it('has exactly the summary form in a list', async () => {
    const { key, summary } = await makeInvite()
    const { status, body } = await service.v1(key).get('/invites')
    expect(status).toBe(200)
    expect(body).toEqual({ invites: [summary], pagination: { page: 1, limit: 20, total: 1, totalPages: 1 } })
  })

  it('has exactly the detail form, unwrapped, on its own', async () => {
    const { key, summary, invite, grader } = await makeInvite()
    const { status, body } = await service.v1(key).get(`/invites/${invite.id}`)
    expect([status, body]).toEqual([
      200,
      {
        ...summary,
        assignedGrader: { id: grader.id, firstName: 'Grace', lastName: 'Grader', email: grader.email },
        proctoringSettings: { screenRecording: true, webcamMonitoring: false, requireIdCapture: true },
        customMessage: 'We look forward to hearing you.\n✓',
        revokedAt: '2026-03-06T09:30:00.000Z',
      },
    ])
  })

  it('has null for missing values, and an empty custom message', async () => {
    const { id, key } = await service.make.organization()
    const invite = await service.make.invite(await service.make.assessment(id))
    const { body } = await service.v1(key).get(`/invites/${invite.id}`)
    const nothing = { recipientName: null, acceptedAt: null, startedAt: null, completedAt: null }
    expect(body).toMatchObject({ ...nothing, assignedGrader: null, customMessage: '', revokedAt: null })
    expect((await service.v1(key).get('/invites')).body.invites[0]).toMatchObject(nothing)
  })

  it.each([unknownId, 'none', `${unknownId}0`, '%00', "' OR 1=1", 'x'.repeat(200)])(
    'is rejected with 404 "Invite not found" for the id %s',
    async (id) => {
      const { key } = await service.make.organization()
      const { status, body } = await service.v1(key).get(`/invites/${encodeURI(id)}`)
      expect([status, body]).toEqual([404, { error: 'Invite not found' }])
    },
  )
})

describe('the filters of GET /invites', () => {
  async function makeInvites() {
    const { id, key } = await service.make.organization()
    const [one, other] = [await service.make.assessment(id), await service.make.assessment(id)]
    const ofOne = []
    for (const status of statuses) ofOne.push(await service.make.invite(one, { status }))
    const ofOther = await service.make.invite(other, { status: 'pending' })
    const list = async (query: string) => (await service.v1(key).get(`/invites?order=asc&sort=sent_at&${query}`)).body
    return { key, one, other, ofOne, ofOther, list }
  }

  it.each(['assessmentId', 'assessment_id'])('return only the invites of an assessment (%s)', async (name) => {
    const { one, other, ofOne, ofOther, list } = await makeInvites()
    expect(idsOf(await list(`${name}=${one.id}`)).sort()).toEqual(ofOne.map(({ id }) => id).sort())
    const few = await list(`${name}=${other.id}`)
    expect(idsOf(few)).toEqual([ofOther.id])
    expect(few.pagination).toEqual({ page: 1, limit: 20, total: 1, totalPages: 1 })
    expect(idsOf(await list(`${name}=${other.id.toUpperCase()}`))).toEqual([ofOther.id])
  })

  it.each(statuses)('return only the invites with the status %s', async (status) => {
    const { one, ofOne, list } = await makeInvites()
    const wanted = ofOne.find((invite) => invite.status === status)!
    const body = await list(`status=${status}&assessmentId=${one.id}`)
    expect(body.invites).toMatchObject([{ id: wanted.id, status }])
    expect(body.pagination.total).toBe(1)
    const total = status === 'pending' ? 2 : 1
    expect((await list(`status=${status}`)).pagination.total).toBe(total)
  })

  it('combine with pages and orders', async () => {
    const { one, ofOne, list } = await makeInvites()
    const body = await list(`assessmentId=${one.id}&limit=4&page=2`)
    const inOrder = ofOne.toSorted((a, b) => (a.id < b.id ? -1 : 1)) // all were sent at the same instant
    expect(idsOf(body)).toEqual(inOrder.slice(4).map(({ id }) => id))
    expect(body.pagination).toEqual({ page: 2, limit: 4, total: ofOne.length, totalPages: 2 })
  })

  it('return an empty list, with status 200, for an unknown assessment', async () => {
    const { list } = await makeInvites()
    expect(await list(`assessmentId=${unknownId}`)).toEqual({
      invites: [],
      pagination: { page: 1, limit: 20, total: 0, totalPages: 0 },
    })
  })

  it.each([
    ['assessmentId=none', 'assessmentId must be a UUID'],
    ['assessmentId=', 'assessmentId must be a UUID'],
    ['assessment_id=1', 'assessment_id must be a UUID'],
    [`assessmentId=${unknownId}&assessmentId=${unknownId}`, 'assessmentId must be sent once, not several times'],
    ['status=open', 'status must be one of pending, accepted, started, completed, expired, revoked'],
    ['status=Pending', 'status must be one of pending, accepted, started, completed, expired, revoked'],
    ['status=', 'status must be one of pending, accepted, started, completed, expired, revoked'],
    ['status=pending&status=expired', 'status must be sent once, not several times'],
  ])('answer 400 to %s', async (query, error) => {
    const { key } = await service.make.organization()
    const { status, body } = await service.v1(key).get(`/invites?${query}`)
    expect([status, body]).toEqual([400, { error }])
  })
})

describe('the expiry of an invite', () => {
  async function makeExpiring(status: (typeof statuses)[number]) {
    const { id, key } = await service.make.organization()
    const assessment = await service.make.assessment(id)
    const expiresAt = new Date(service.clock.now().getTime() + DAY_MS)
    const invite = await service.make.invite(assessment, { status, expiresAt })
    const neighbour = await service.make.invite(assessment, { status: 'expired', expiresAt: service.clock.now() })
    const read = async () => (await service.v1(key).get(`/invites/${invite.id}`)).body.status
    const filter = async (status: string) => {
      const { body } = await service.v1(key).get(`/invites?status=${status}`)
      expect(body.pagination.total).toBe(body.invites.length)
      return idsOf(body).sort()
    }
    const sorted = async () =>
      (await service.v1(key).get('/invites?sort=status&order=asc')).body.invites.map((i: Shown) => i.status)
    return { invite, neighbour, expiresAt, read, filter, sorted, key }
  }

  it.each(['pending', 'accepted'] as const)(
    'is visible when a %s invite is read at the exact instant, before any list',
    async (status) => {
      const { expiresAt, read } = await makeExpiring(status)
      service.clock.set(new Date(expiresAt.getTime() - 1))
      expect(await read()).toBe(status)
      service.clock.set(expiresAt)
      expect(await read()).toBe('expired')
    },
  )

  it.each(['pending', 'accepted'] as const)(
    'is visible in filter and count of %s invites at the exact instant',
    async (status) => {
      const { invite, neighbour, expiresAt, filter } = await makeExpiring(status)
      service.clock.set(new Date(expiresAt.getTime() - 1))
      expect([await filter(status), await filter('expired')]).toEqual([[invite.id], [neighbour.id]])
      service.clock.set(expiresAt)
      expect([await filter(status), await filter('expired')]).toEqual([[], [invite.id, neighbour.id].sort()])
    },
  )

  it.each(['pending', 'accepted'] as const)('is visible in the order of %s invites at the exact instant', async (status) => {
    const { key, invite, expiresAt, sorted } = await makeExpiring(status)
    const assessment = await service.db.assessment.findFirstOrThrow({ where: { invites: { some: { id: invite.id } } } })
    await service.make.invite(assessment, { status: 'completed' })
    service.clock.set(new Date(expiresAt.getTime() - 1))
    expect(await sorted()).toEqual([status, 'completed', 'expired'].sort())
    service.clock.set(expiresAt)
    expect(await sorted()).toEqual(['completed', 'expired', 'expired'])
    expect((await service.v1(key).get('/invites')).body.pagination.total).toBe(3)
  })

  it.each(['started', 'completed', 'revoked'] as const)('does not affect a %s invite', async (status) => {
    const { invite, neighbour, expiresAt, read, filter } = await makeExpiring(status)
    service.clock.set(expiresAt)
    expect(await read()).toBe(status)
    expect([await filter(status), await filter('expired')]).toEqual([[invite.id], [neighbour.id]])
    expect(await read()).toBe(status)
  })

  it('leaves the timestamps of the invite unchanged', async () => {
    const { key, invite, expiresAt } = await makeExpiring('accepted')
    const read = async () => (await service.v1(key).get(`/invites/${invite.id}`)).body
    const before = await read()
    service.clock.set(expiresAt)
    await service.v1(key).get('/invites')
    expect(await read()).toEqual({ ...before, status: 'expired' })
  })
})
