import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Service, startService } from '../../support/service.ts'

let service: Service
let made: Awaited<ReturnType<typeof setUp>>
beforeAll(async () => {
  service = await startService()
  made = await setUp()
})
afterAll(() => service.close())

/** Creates an invite with four tags, added in an order that differs from their names, creation, and last change. */
async function setUp() {
  const { id: organizationId, key } = await service.make.organization()
  const client = service.v1(key)
  const assessment = await service.make.assessment(organizationId)
  const tags: Record<string, string> = {}
  for (const name of ['c', 'a', 'd', 'b']) {
    service.clock.advance(1_000)
    tags[name] = (await client.post('/tags').send({ name })).body.tag.id
  }
  service.clock.advance(1_000)
  await client.patch(`/tags/${tags.a}`).send({ color: '#112233' })
  const tagIds = ['b', 'd', 'c', 'a'].map((name) => tags[name])
  const body = { assessmentId: assessment.id, recipientEmail: 'candidate@example.com', tagIds }
  const { invite } = (await client.post('/invites').send(body)).body
  const untagged = await service.make.invite(assessment)
  return { client, invite, untagged, tags }
}

const list = (query = '', { client, invite } = made) => client.get(`/invites/${invite.id}/tags${query}`)
const namesOf = async (query: string) => (await list(query)).body.tags.map(({ name }: { name: string }) => name).join('')

it('lists the tags as GET /tags does, with pagination', async () => {
  const { status, body, headers } = await list()
  const all = (await made.client.get('/tags')).body.tags
  expect(status).toBe(200)
  expect(Object.keys(body)).toEqual(['tags', 'pagination'])
  expect(body.tags).toHaveLength(4)
  expect(body.tags.map((tag: object) => JSON.stringify(tag)).sort()).toEqual(all.map((tag: object) => JSON.stringify(tag)).sort())
  expect(body.pagination).toEqual({ page: 1, limit: 20, total: 4, totalPages: 1 })
  expect(headers.link).toMatch(/rel="first".*rel="last"/)
})

it.each([
  ['', 'bdca'],
  ['?order=asc', 'bdca'],
  ['?order=desc', 'acdb'],
  ['?sort=position', 'bdca'],
  ['?sort=position&order=desc', 'acdb'],
  ['?sort=name', 'dcba'],
  ['?sort=name&order=asc', 'abcd'],
  ['?sort=created_at', 'bdac'],
  ['?sort=created_at&order=asc', 'cadb'],
  ['?sort=updated_at', 'abdc'],
  ['?limit=1', 'b'],
  ['?limit=2&page=2', 'ca'],
  ['?limit=100&page=2', ''],
])('answers %j in the order %s', async (query, order) => {
  expect(await namesOf(query)).toBe(order)
})

it.each([
  ['?limit=0', 'limit must be a positive integer'],
  ['?limit=101', 'limit must be an integer between 1 and 100'],
  ['?page=0', 'page must be a positive integer'],
  ['?sort=color', 'sort must be one of position, name, created_at, updated_at'],
  ['?order=up', 'order must be one of asc, desc'],
])('answers 400 to %s', async (query, error) => {
  const { status, body } = await list(query)
  expect([status, body]).toEqual([400, { error }])
})

it('returns an empty list for an invite without tags', async () => {
  const { body } = await made.client.get(`/invites/${made.untagged.id}/tags`)
  expect(body).toEqual({ tags: [], pagination: { page: 1, limit: 20, total: 0, totalPages: 0 } })
})

it('omits a deleted tag', async () => {
  const own = await setUp()
  await own.client.delete(`/tags/${own.tags.d}`)
  const { body } = await list('', own)
  expect([body.tags.map(({ name }: { name: string }) => name), body.pagination.total]).toEqual([['b', 'c', 'a'], 3])
})
