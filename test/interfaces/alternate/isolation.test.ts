import type { Test } from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unknownId } from '../../support/factories.ts'
import { links } from '../../support/links.ts'
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

const lists = ['/assessments', '/assessment_invites', '/organization_users', '/tags']

/** Creates an organization with one related row of each kind. The names are the same in each organization. */
async function setUp() {
  const { id, key } = await service.make.organization()
  const member = await service.make.member(id, { firstName: 'Same', lastName: 'Name', roles: ['admin', 'grader', 'client'] })
  const tag = await service.make.tag(id, { name: 'Same name', createdById: member.id })
  const assessment = await service.make.assessment(id, { name: 'Same name', createdById: member.id })
  const invite = await service.make.invite(assessment, { assignedGraderId: member.id, recipientEmail: 'same.name@example.com' })
  await links(service.db).tagMember(member, tag)
  await links(service.db).tagAssessment(assessment, tag)
  await links(service.db).addClients(assessment, member)
  await links(service.db).tagInvite(invite, tag)
  return { id, key, member, tag, assessment, invite, client: service.alternate(key) }
}

const idsOf = ({ id, member, tag, assessment, invite }: Organization) => [
  id,
  member.id,
  member.userId,
  tag.id,
  assessment.id,
  invite.id,
]

/** Everything in a response that a client could learn from, except for request counts, times, and the requested id. */
async function answerTo(request: Test, id: string) {
  const { status, text, headers } = await request
  const visible = Object.entries(headers).filter(([name]) => !/^(date|x-request-id|ratelimit-.*|content-length|etag)$/.test(name))
  return { status, text: text.replaceAll(id, '{id}'), headers: visible }
}

const invite = (fields: object) =>
  own.client.post('/assessment_invites').send({
    email: 'same.name@example.com',
    assessment: own.assessment.id,
    question_play_limit: 1,
    answer_record_limit: 1,
    face_photo_required: true,
    id_photo_required: true,
    tags: [],
    assigned_grader: null,
    ...fields,
  })

/** Picks the id of one of the organization's rows, for a place where a request can name an id. */
type PickId = (organization: Organization) => string
const ofAssessment: PickId = ({ assessment }) => assessment.id
const ofInvite: PickId = ({ invite }) => invite.id
const ofMember: PickId = ({ member }) => member.id
const ofTag: PickId = ({ tag }) => tag.id
const ofOrganization: PickId = ({ id }) => id
const places: [place: string, of: PickId, send: (id: string) => Test][] = [
  ['GET /assessments/{id}', ofAssessment, (id) => own.client.get(`/assessments/${id}`)],
  ['GET /assessments/{id}?depth=2', ofAssessment, (id) => own.client.get(`/assessments/${id}?depth=2`)],
  ['GET /assessment_invites/{id}', ofInvite, (id) => own.client.get(`/assessment_invites/${id}`)],
  ['GET /assessment_invites/{id}?depth=2', ofInvite, (id) => own.client.get(`/assessment_invites/${id}?depth=2`)],
  [
    'GET /organizations/{own}/assessment_invites/{id}',
    ofInvite,
    (id) => own.client.get(`/organizations/${own.id}/assessment_invites/${id}`),
  ],
  ['GET /organization_users/{id}', ofMember, (id) => own.client.get(`/organization_users/${id}`)],
  ['GET /organization_users/{id}?depth=2', ofMember, (id) => own.client.get(`/organization_users/${id}?depth=2`)],
  ['GET /tags/{id}', ofTag, (id) => own.client.get(`/tags/${id}`)],
  ['GET /tags/{id}?depth=2', ofTag, (id) => own.client.get(`/tags/${id}?depth=2`)],
  ['PUT /tags/{id}', ofTag, (id) => own.client.put(`/tags/${id}`)],
  ['OPTIONS /tags/{id}', ofTag, (id) => own.client.options(`/tags/${id}`)],
  ['GET /assessments?created_by', ofMember, (id) => own.client.get(`/assessments?created_by=${id}`)],
  ['GET /assessments?tags', ofTag, (id) => own.client.get(`/assessments?tags=${id}`)],
  ['GET /organization_users?tags', ofTag, (id) => own.client.get(`/organization_users?tags=${id}`)],
  ['GET /tags?created_by', ofMember, (id) => own.client.get(`/tags?created_by=${id}`)],
  ['GET /assessments?organization', ofOrganization, (id) => own.client.get(`/assessments?organization=${id}`)],
  [
    'GET /assessment_invites?organization',
    ofOrganization,
    (id) => own.client.get(`/assessment_invites?organization=${id}&depth=2`),
  ],
  [
    'GET /organization_users?organization',
    ofOrganization,
    (id) => own.client.get(`/organization_users?organization=${id}&search=same`),
  ],
  ['GET /tags?organization', ofOrganization, (id) => own.client.get(`/tags?organization=${id}&page=last`)],
  [
    'GET /organizations/{id}/assessment_invites',
    ofOrganization,
    (id) => own.client.get(`/organizations/${id}/assessment_invites`),
  ],
  [
    'POST /organizations/{id}/assessment_invites',
    ofOrganization,
    (id) => own.client.post(`/organizations/${id}/assessment_invites`).send({}),
  ],
  ['POST /assessment_invites, assessment', ofAssessment, (assessment) => invite({ assessment })],
  ['POST /assessment_invites, assessment among other errors', ofAssessment, (assessment) => invite({ assessment, tags: 'x' })],
  ['POST /assessment_invites, assigned_grader', ofMember, (assigned_grader) => invite({ assigned_grader })],
  ['POST /assessment_invites, tags', ofTag, (id) => invite({ tags: [own.tag.id, id] })],
  ['POST /assessment_invites, tags and a missing field', ofTag, (id) => invite({ tags: [id], email: undefined })],
]

it.each(places)("answers %s the same for another organization's id and for an unknown one", async (_place, of, send) => {
  const [toForeign, toUnknown] = [await answerTo(send(of(foreign)), of(foreign)), await answerTo(send(unknownId), unknownId)]
  expect(toForeign).toEqual(toUnknown)
  for (const id of idsOf(foreign)) expect(toForeign.text).not.toContain(id)
})

it('finds nothing by the id of an object of another kind', async () => {
  const ids = [own.assessment.id, own.invite.id, own.member.id, own.member.userId, own.tag.id, own.id]
  for (const path of lists) {
    const known = (await own.client.get(path)).body.results[0].id
    for (const id of ids.filter((id) => id !== known)) expect((await own.client.get(`${path}/${id}`)).status).toBe(404)
  }
})

describe.each(lists)('GET %s', (path) => {
  it.each(['', 'search=same', 'search=name&page_size=100', 'page=last', `depth=2`])(
    "shows only the key's organization (%s)",
    async (query) => {
      const separator = query === '' ? '' : `?${query}`
      const { body, text } = await own.client.get(`${path}${separator}`)
      expect([body.count, body.results.length]).toEqual([1, 1])
      for (const id of idsOf(foreign)) expect(text).not.toContain(id)
    },
  )

  it('finds only its own records by a name that another organization uses too', async () => {
    const query = {
      '/assessments': 'name=Same%20name',
      '/tags': 'name=Same%20name',
      '/organization_users': 'first_name=same&is_admin=true',
    }[path]
    const { body } = await own.client.get(`${path}?${query ?? 'search=same.name@example.com'}`)
    expect(body.count).toBe(1)
  })
})

it('changes no data of another organization', async () => {
  const read = () => Promise.all(lists.map(async (path) => (await foreign.client.get(`${path}?depth=2`)).body))
  const before = await read()
  for (const [, of, send] of places) await send(of(foreign))
  expect(await read()).toEqual(before)
  expect((await own.client.get('/assessment_invites')).body.count).toBe(1)
})

it('shows an account that belongs to two organizations to each as its own member', async () => {
  const { id: organizationId } = await service.make.organization()
  const { user, ...member } = own.member
  const other = await service.db.member.create({ data: { ...member, id: service.deps.newId(), organizationId } })
  const { text, body } = await own.client.get(`/organization_users/${member.id}?depth=2`)
  expect(body.user.id).toBe(user.id)
  for (const id of [other.id, organizationId]) expect(text).not.toContain(id)
})
