import type { Test } from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unknownId } from '../../support/factories.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
let own: Organization
let foreign: Organization
type Organization = Awaited<ReturnType<typeof setUp>>

beforeAll(async () => {
  service = await startService()
  await service.app.listen({ port: 0, host: '127.0.0.1' }) // one address for all requests, because links contain it
  own = await setUp()
  foreign = await setUp()
})
afterAll(() => service.close())

/** Creates an organization with one related row of each kind. */
async function setUp() {
  const { id: organizationId, key } = await service.make.organization()
  const assessment = await service.make.assessment(organizationId)
  const question = await service.make.question(assessment, { points: 5 })
  const member = await service.make.member(organizationId)
  const tag = await service.make.tag(organizationId)
  const invite = await service.make.invite(assessment, { assignedGraderId: member.id })
  await service.db.inviteTag.create({ data: { organizationId, inviteId: invite.id, tagId: tag.id, position: 0 } })
  const batch = await service.db.inviteBatch.create({
    data: {
      ...{ id: service.deps.newId(), organizationId, assessmentId: assessment.id },
      ...{ terms: {}, unusedColumns: [], createdAt: service.clock.now() },
    },
  })
  return { id: organizationId, key, assessment, question, member, tag, invite, batch, client: service.v1(key) }
}

/** Everything in a response that a client could learn from, except for request counts, times, and the requested id. */
async function answerTo(request: Test, id: string) {
  const { status, text, headers } = await request
  const visible = Object.entries(headers).filter(([name]) => !/^(date|x-request-id|events-cursor|ratelimit-.*)$/.test(name))
  return { status, text, headers: visible.map(([name, value]) => [name, String(value).replaceAll(id, '{id}')]) }
}

/** Every place where a request can name an id, and the kind of row that it names. */
const places: [
  place: string,
  of: 'assessment' | 'member' | 'tag' | 'invite' | 'question' | 'batch',
  send: (id: string) => Test,
][] = [
  ['GET /assessments/{assessmentId}', 'assessment', (id) => own.client.get(`/assessments/${id}`)],
  ['GET /assessments/{assessmentId} with the id of a question', 'question', (id) => own.client.get(`/assessments/${id}`)],
  ['GET /assessments/{assessmentId}/questions', 'assessment', (id) => own.client.get(`/assessments/${id}/questions`)],
  ['GET /invites?assessmentId', 'assessment', (id) => own.client.get(`/invites?assessmentId=${id}`)],
  ['GET /invites?assessment_id', 'assessment', (id) => own.client.get(`/invites?assessment_id=${id}`)],
  ['GET /invites?tagId', 'tag', (id) => own.client.get(`/invites?tagId=${id}`)],
  ['GET /events?inviteId', 'invite', (id) => own.client.get(`/events?inviteId=${id}`)],
  ['GET /invites/{inviteId}', 'invite', (id) => own.client.get(`/invites/${id}`)],
  ['GET /invites/{inviteId}/submission', 'invite', (id) => own.client.get(`/invites/${id}/submission`)],
  ['GET /invites/{inviteId}/submission/report', 'invite', (id) => own.client.get(`/invites/${id}/submission/report`)],
  ['GET /submissions?assessmentId', 'assessment', (id) => own.client.get(`/submissions?assessmentId=${id}`)],
  ['GET /invites/{inviteId}/link', 'invite', (id) => own.client.get(`/invites/${id}/link`)],
  ['GET /invites/{inviteId}/tags', 'invite', (id) => own.client.get(`/invites/${id}/tags`)],
  ['GET /tags/{tagId}', 'tag', (id) => own.client.get(`/tags/${id}`)],
  ['PATCH /tags/{tagId}', 'tag', (id) => own.client.patch(`/tags/${id}`).send({ name: 'Taken over' })],
  ['PATCH /tags/{tagId} to a name in use', 'tag', (id) => own.client.patch(`/tags/${id}`).send({ name: own.tag.name })],
  ['PATCH /tags/{tagId} without a field', 'tag', (id) => own.client.patch(`/tags/${id}`).send({})],
  ['DELETE /tags/{tagId}', 'tag', (id) => own.client.delete(`/tags/${id}`)],
  ['PATCH /invites/{inviteId}', 'invite', (id) => own.client.patch(`/invites/${id}`).send({ recipientName: 'Taken over' })],
  ['PATCH /invites/{inviteId}, assignedGraderId', 'member', (assignedGraderId) => edit({ assignedGraderId })],
  ['PATCH /invites/{inviteId}, tagIds', 'tag', (id) => edit({ tagIds: [own.tag.id, id] })],
  ['GET /invites/{inviteId}/accommodations', 'invite', (id) => own.client.get(`/invites/${id}/accommodations`)],
  [
    'PUT /invites/{inviteId}/accommodations',
    'invite',
    (id) => own.client.put(`/invites/${id}/accommodations`).send({ extraTimePercent: 10 }),
  ],
  ['POST /invites/{inviteId}/retake', 'invite', (id) => own.client.post(`/invites/${id}/retake`)],
  ['GET /invite-batches/{batchId}', 'batch', (id) => own.client.get(`/invite-batches/${id}`)],
  ['GET /invite-batches/{batchId}/rows', 'batch', (id) => own.client.get(`/invite-batches/${id}/rows`)],
  ['POST /invite-batches, assessmentId', 'assessment', (assessmentId) => batch({ assessmentId })],
  ['POST /invite-batches, tagIds', 'tag', (id) => batch({ tagIds: [own.tag.id, id] })],
  ['POST /invite-batches, assignedGraderId', 'member', (assignedGraderId) => batch({ assignedGraderId })],
  ['POST /invites, assessmentId', 'assessment', (assessmentId) => invite({ assessmentId })],
  [
    'POST /invites, assessmentId and an invited address',
    'assessment',
    (assessmentId) => invite({ assessmentId, recipientEmail: foreign.invite.recipientEmail }),
  ],
  ['POST /invites, assignedGraderId', 'member', (assignedGraderId) => invite({ assignedGraderId })],
  ['POST /invites, tagIds', 'tag', (id) => invite({ tagIds: [own.tag.id, id] })],
]
const edit = (fields: object) => own.client.patch(`/invites/${own.invite.id}`).send(fields)
const batch = (fields: object) =>
  own.client
    .post('/invite-batches')
    .send({ assessmentId: own.assessment.id, invites: [{ recipientEmail: 'no address' }], ...fields })
const invite = (fields: object) =>
  own.client.post('/invites').send({ assessmentId: own.assessment.id, recipientEmail: 'never-invited@example.com', ...fields })

describe.each(places)('%s', (_place, of, send) => {
  it("answers another organization's id as it answers an unknown one, except for the id itself", async () => {
    const before = await snapshot()
    const { id } = foreign[of]
    const [theirs, none] = [await answerTo(send(id), id), await answerTo(send(unknownId), unknownId)]
    const withoutId = (answer: typeof theirs, sent: string) => ({ ...answer, text: answer.text.replaceAll(sent, 'the id') })
    expect(withoutId(theirs, id)).toEqual(withoutId(none, unknownId))
    expect(await snapshot()).toEqual(before)
  })
})

/** All rows that requests could change. */
const snapshot = async () => ({
  tags: await service.db.tag.findMany({ orderBy: { id: 'asc' } }),
  invites: await service.db.invite.findMany({ orderBy: { id: 'asc' } }),
  emails: await service.db.inviteEmail.count(),
})

it.each(['assessments', 'members', 'invites', 'tags'] as const)('shows and counts in /%s only its own records', async (name) => {
  const id = { assessments: own.assessment.id, members: own.member.id, invites: own.invite.id, tags: own.tag.id }[name]
  const { body } = await own.client.get(`/${name}`)
  expect(body[name].map((item: { id: string }) => item.id)).toEqual([id])
  expect(body.pagination).toEqual({ page: 1, limit: 20, total: 1, totalPages: 1 })
})

it('shows and counts only its own questions of an assessment', async () => {
  const { body } = await own.client.get(`/assessments/${own.assessment.id}/questions`)
  expect(body.questions.map(({ id }: { id: string }) => id)).toEqual([own.question.id])
  expect(body.pagination.total).toBe(1)
})

it('counts only its own invites and questions of an assessment', async () => {
  const { body } = await own.client.get(`/assessments/${own.assessment.id}`)
  expect(body).toMatchObject({ inviteCount: 1, questionCount: 1, totalPoints: 5 })
})

it.each(['pending', 'expired'])('counts only its own invites with the status %s', async (status) => {
  await service.make.invite(foreign.assessment, { status: 'expired' })
  const { body } = await own.client.get(`/invites?status=${status}`)
  expect(body.pagination.total).toBe(status === 'pending' ? 1 : 0)
})

it("expires only its own organization's invites by a list", async () => {
  const due = { expiresAt: service.clock.now() }
  const [mine, theirs] = [await setUp(), await setUp()]
  const [a, b] = [await service.make.invite(mine.assessment, due), await service.make.invite(theirs.assessment, due)]
  await mine.client.get('/invites')
  const stored = async (id: string) => (await service.db.invite.findUniqueOrThrow({ where: { id } })).status
  expect([await stored(a.id), await stored(b.id)]).toEqual(['expired', 'pending'])
})

it('accepts a tag name that another organization uses', async () => {
  const [one, other] = [await setUp(), await setUp()]
  expect((await one.client.post('/tags').send({ name: other.tag.name })).status).toBe(201)
  expect((await one.client.patch(`/tags/${one.tag.id}`).send({ name: foreign.tag.name })).status).toBe(200)
})

it('accepts an invite address that another organization uses', async () => {
  const [one, other] = [await setUp(), await setUp()]
  const body = { assessmentId: one.assessment.id, recipientEmail: other.invite.recipientEmail }
  const response = await one.client.post('/invites').send(body)
  expect(response.status).toBe(201)
  expect(response.headers).not.toHaveProperty('link')
})

it("keeps another organization's tag and its uses when a tag with the same name is deleted", async () => {
  const one = await setUp()
  const { body } = await one.client.post('/tags').send({ name: foreign.tag.name })
  expect((await one.client.delete(`/tags/${body.tag.id}`)).status).toBe(200)
  expect((await foreign.client.get(`/tags/${foreign.tag.id}`)).status).toBe(200)
  expect(await service.db.inviteTag.count({ where: { tagId: foreign.tag.id } })).toBe(1)
})
