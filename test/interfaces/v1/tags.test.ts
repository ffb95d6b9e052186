import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { unknownId } from '../../support/factories.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
let organizationId: string
let client: ReturnType<Service['v1']>
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())
beforeEach(async () => {
  const organization = await service.make.organization()
  organizationId = organization.id
  client = service.v1(organization.key)
})

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const create = async (fields: object) => {
  const { status, body } = await client.post('/tags').send(fields)
  expect(status).toBe(201)
  return body.tag
}
const count = () => service.db.tag.count({ where: { organizationId } })

/** Fields that creation and change reject, each with its error. */
const badFields: [object, string][] = [
  [{ name: '' }, 'name must not be blank, nor contain NUL characters or unpaired surrogates'],
  [{ name: ' \t\n\u00a0' }, 'name must not be blank, nor contain NUL characters or unpaired surrogates'],
  [{ name: 'a\u0000' }, 'name must not be blank, nor contain NUL characters or unpaired surrogates'],
  [{ name: 'a\ud800' }, 'name must not be blank, nor contain NUL characters or unpaired surrogates'],
  [{ name: 'x'.repeat(101) }, 'name must be at most 100 characters long'],
  [{ name: null }, 'name must be a string'],
  [{ name: 5 }, 'name must be a string'],
  [{ name: ['a'] }, 'name must be a string'],
  ...['', 'red', '#fff', '#12345G', '#1234567', '2563EB', ' #2563EB', '#2563EB\n', '#２５６３EB'].map(
    (color): [object, string] => [{ color }, 'color must be a hex color of the form #RRGGBB'],
  ),
  [{ color: null }, 'color must be a string'],
  [{ color: 0x2563eb }, 'color must be a string'],
  [{ description: 'x'.repeat(1_001) }, 'description must be at most 1000 characters long'],
  [{ description: '\u0000' }, 'description must not contain NUL characters or unpaired surrogates'],
  [{ description: null }, 'description must be a string'],
  [{ description: {} }, 'description must be a string'],
]

describe('POST /tags', () => {
  it('answers 201 with exactly the documented fields under the key tag', async () => {
    const now = service.clock.now().toISOString()
    const { status, body } = await client
      .post('/tags')
      .send({ name: 'Engineering', color: '#25a3eB', description: 'Roles\nin engineering ✓' })
    const tag = { name: 'Engineering', color: '#25a3eB', description: 'Roles\nin engineering ✓', createdAt: now, updatedAt: now }
    expect([status, body]).toEqual([201, { tag: { id: expect.stringMatching(uuid), ...tag } }])
  })

  it('uses #6B7280 and an empty description by default', async () => {
    expect(await create({ name: 'Plain' })).toMatchObject({ color: '#6B7280', description: '' })
  })

  it.each([
    ['  Spaced out \n', 'Spaced out'],
    ['x'.repeat(100), 'x'.repeat(100)],
    [`  ${'🎓'.repeat(100)}  `, '🎓'.repeat(100)],
    ['1', '1'],
    ["'; DROP TABLE tags; --", "'; DROP TABLE tags; --"],
  ])('accepts the name %j, trimmed', async (name, kept) => {
    const { id } = await create({ name })
    expect((await client.get(`/tags/${id}`)).body.tag.name).toBe(kept)
  })

  it('answers 400 without a name', async () => {
    for (const body of [{}, { color: '#000000', description: 'Nameless' }]) {
      const response = await client.post('/tags').send(body)
      expect([response.status, response.body]).toEqual([400, { error: 'name is required' }])
    }
  })

  it.each(badFields)('answers 400 to %j', async (fields, error) => {
    const { status, body } = await client.post('/tags').send({ name: 'Fine', ...fields })
    expect([status, body]).toEqual([400, { error }])
    expect(await count()).toBe(0)
  })

  it.each([
    ['Design', 'Design'],
    ['Design', 'dESIGN'],
    ['Design', ' design '],
    ['ÄRZTE', 'ärzte'],
    ['Ω', 'ω'],
  ])('answers 409 if a tag is named %s and the new one %j', async (first, second) => {
    const { name } = await create({ name: first })
    const { status, body } = await client.post('/tags').send({ name: second })
    expect([status, body]).toEqual([409, { error: 'A tag with this name already exists' }])
    expect(name).toBe(first)
    expect(await count()).toBe(1)
  })

  it('ignores unknown fields', async () => {
    const tag = await create({ name: 'Fine', id: unknownId, createdAt: '1999-01-01T00:00:00Z', organizationId: unknownId })
    expect([tag.id === unknownId, tag.createdAt]).toEqual([false, service.clock.now().toISOString()])
  })
})

describe('GET /tags', () => {
  it('shows exactly the documented fields, in a list and on their own', async () => {
    const tag = await create({ name: 'Engineering' })
    expect(Object.keys(tag)).toEqual(['id', 'name', 'color', 'description', 'createdAt', 'updatedAt'])
    expect((await client.get('/tags')).body).toEqual({ tags: [tag], pagination: { page: 1, limit: 20, total: 1, totalPages: 1 } })
    const { status, body } = await client.get(`/tags/${tag.id}`)
    expect([status, body]).toEqual([200, { tag }])
  })
})

describe('PATCH /tags/{tagId}', () => {
  const changes = { name: 'Changed', color: '#000000', description: 'Changed too' }

  it.each(Object.entries(changes))('changes only %s', async (field, value) => {
    const before = await create({ name: 'Before', color: '#FFFFFF', description: 'As it was' })
    service.clock.advance(1_000)
    const { status, body } = await client.patch(`/tags/${before.id}`).send({ [field]: value })
    const tag = { ...before, [field]: value, updatedAt: service.clock.now().toISOString() }
    expect([status, body]).toEqual([200, { tag }])
    expect((await client.get(`/tags/${before.id}`)).body).toEqual({ tag })
  })

  it('changes everything at once, trims the name, and empties the description', async () => {
    const { id } = await create({ name: 'Before', description: 'As it was' })
    const { body } = await client.patch(`/tags/${id}`).send({ name: ' After ', color: '#000000', description: '' })
    expect(body.tag).toMatchObject({ name: 'After', color: '#000000', description: '' })
  })

  it.each([[{}], [{ colour: '#000000' }], [undefined]])('answers 400 to %j: at least one field is required', async (change) => {
    const { id } = await create({ name: 'Unchanged' })
    const { status, body } = await client.patch(`/tags/${id}`).send(change)
    expect([status, body]).toEqual([
      400,
      { error: expect.stringMatching(/^At least one of name, color, description is required/) },
    ])
  })

  it.each(badFields)('answers 400 to %j and changes nothing', async (fields, error) => {
    const tag = await create({ name: 'Unchanged' })
    const { status, body } = await client.patch(`/tags/${tag.id}`).send({ description: 'New', ...fields })
    expect([status, body]).toEqual([400, { error }])
    expect((await client.get(`/tags/${tag.id}`)).body).toEqual({ tag })
  })

  it("answers 409 to another tag's name in any case", async () => {
    await create({ name: 'Taken' })
    const free = await create({ name: 'Free' })
    const { status, body } = await client.patch(`/tags/${free.id}`).send({ name: 'tAKEN', color: '#000000' })
    expect([status, body]).toEqual([409, { error: 'A tag with this name already exists' }])
    expect((await client.get(`/tags/${free.id}`)).body).toEqual({ tag: free })
  })

  it("accepts another case of the tag's own name", async () => {
    const { id } = await create({ name: 'design' })
    expect((await client.patch(`/tags/${id}`).send({ name: 'DESIGN' })).body.tag.name).toBe('DESIGN')
  })
})

describe('DELETE /tags/{tagId}', () => {
  it('answers 200 with the deleted tag, which is gone afterwards', async () => {
    const tag = await create({ name: 'Short-lived', description: 'Until now' })
    const { status, body } = await client.delete(`/tags/${tag.id}`)
    expect([status, body]).toEqual([200, { tag }])
    expect((await client.get(`/tags/${tag.id}`)).body).toEqual({ error: 'Tag not found' })
    expect((await client.delete(`/tags/${tag.id}`)).status).toBe(404)
    expect((await client.get('/tags')).body.tags).toEqual([])
  })

  it('accepts a request with a JSON content type and no body', async () => {
    const tag = await create({ name: 'Short-lived' })
    expect((await client.delete(`/tags/${tag.id}`).set('content-type', 'application/json')).status).toBe(200)
  })

  it('frees the name', async () => {
    const { id } = await create({ name: 'Reused' })
    await client.delete(`/tags/${id}`)
    expect((await create({ name: 'reused' })).id).not.toBe(id)
  })

  it('removes the tag from every assessment, invite, and member, and keeps their other tags', async () => {
    const [gone, kept] = [await create({ name: 'Gone' }), await create({ name: 'Kept' })]
    const assessment = await service.make.assessment(organizationId)
    const { id: memberId } = await service.make.member(organizationId)
    const { id: inviteId } = await service.make.invite(assessment)
    for (const [position, { id: tagId }] of [gone, kept].entries()) {
      const row = { organizationId, tagId, position }
      await service.db.assessmentTag.create({ data: { ...row, assessmentId: assessment.id } })
      await service.db.inviteTag.create({ data: { ...row, inviteId } })
      await service.db.memberTag.create({ data: { ...row, memberId } })
    }
    expect((await client.delete(`/tags/${gone.id}`)).status).toBe(200)
    const { db } = service
    const where = { organizationId }
    const left = [
      await db.assessmentTag.findMany({ where }),
      await db.inviteTag.findMany({ where }),
      await db.memberTag.findMany({ where }),
    ]
    expect(left.map((rows) => rows.map(({ tagId }) => tagId))).toEqual([[kept.id], [kept.id], [kept.id]])
    expect(await db.invite.count({ where: { id: inviteId } })).toBe(1)
  })
})

describe.each(['get', 'patch', 'delete'] as const)('%s /tags/{tagId}', (method) => {
  it.each([unknownId, 'none', '1', `${unknownId}0`, '%00', "'", 'x'.repeat(200), 'x'.repeat(2_000)])(
    'answers 404 "Tag not found" for the id %s',
    async (id) => {
      const request = client[method](`/tags/${id}`)
      const { status, body } = method === 'patch' ? await request.send({ name: 'Anything' }) : await request
      expect([status, body]).toEqual([404, { error: id.length > 200 ? 'Not found' : 'Tag not found' }])
    },
  )
})
