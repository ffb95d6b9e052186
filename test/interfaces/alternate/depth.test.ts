import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { links } from '../../support/links.ts'
import { type Service, startService } from '../../support/service.ts'

type View = Record<string, unknown> & { id: string }
type World = Awaited<ReturnType<typeof setUp>>

let service: Service
let world: World
beforeAll(async () => {
  service = await startService()
  world = await setUp()
})
afterAll(() => service.close())

/** Creates an organization with rows that refer to each other, and rows that refer to nothing. */
async function setUp() {
  const { make, db, deps } = service
  const { id: organizationId, name, key } = await make.organization({ tier: 'enterprise' })
  const creator = await make.member(organizationId)
  const [tag, other] = [await make.tag(organizationId, { createdById: creator.id, icon: 'star' }), await make.tag(organizationId)]
  const [english, german] = [await make.language('en'), await make.language('de')]
  const client = await make.member(organizationId, {
    roles: ['client'],
    department: 'Secret department',
    avatarUrl: 'https://secret.example/a',
  })
  const instruction = await db.instruction.create({ data: { id: deps.newId(), organizationId, title: 'First', body: 'Speak.' } })
  const category = await db.category.create({ data: { id: deps.newId(), organizationId, name: 'Sales' } })
  const assessment = await make.assessment(organizationId, { instructionId: instruction.id, createdById: creator.id })
  await make.question(assessment, { script: 'Secret question' })
  const join = links(db)
  await join.tagMember(client, other, tag)
  await join.addGradingLanguages(client, german, english)
  await join.tagAssessment(assessment, tag, other)
  await join.addClients(assessment, client, creator)
  await join.addLanguages(assessment, english, german)
  await join.addCategories(assessment, category)
  const invite = await make.invite(assessment, {
    assignedGraderId: client.id,
    createdById: creator.id,
    customMessage: 'Secret message',
  })
  await join.tagInvite(invite, other, tag)
  // An invite with the same references, which must not be expanded twice, and an assessment without references.
  const twin = await make.invite(assessment, { assignedGraderId: client.id })
  await join.tagInvite(twin, tag)
  const bare = await make.assessment(organizationId)
  await make.invite(bare)
  const get = async (path: string): Promise<View> => {
    const { status, body } = await service.alternate(key).get(path)
    expect(status).toBe(200)
    return body
  }
  const shared = {
    organization: { id: organizationId, name },
    user: { id: client.userId, first_name: 'Ada', last_name: 'Member', email: client.email },
    instruction: { id: instruction.id, title: 'First', body: 'Speak.' },
    category: { id: category.id, name: 'Sales' },
    english: { id: english.id, code: 'en', name: 'en' },
    german: { id: german.id, code: 'de', name: 'de' },
  }
  return { key, get, organizationId, tag, other, client, creator, assessment, bare, invite, twin, ...shared }
}

const paths = () => [
  { list: '/assessments', ids: [world.assessment.id, world.bare.id] },
  { list: '/organization_users', ids: [world.creator.id, world.client.id] },
  { list: '/tags', ids: [world.tag.id, world.other.id] },
  { list: '/assessment_invites', ids: [world.invite.id, world.twin.id] },
]

/** Reads the resource from its own endpoint, with one level of depth less. */
const own = (path: string, id: unknown, depth: number) => world.get(`${path}/${id}?depth=${depth - 1}`)
const eachOwn = (path: string, ids: unknown, depth: number) => Promise.all((ids as string[]).map((id) => own(path, id, depth)))

describe.each([1, 2])('depth=%i', (depth) => {
  it('expands the organization of a tag', async () => {
    const plain = await world.get(`/tags/${world.tag.id}`)
    expect(await world.get(`/tags/${world.tag.id}?depth=${depth}`)).toEqual({ ...plain, organization: world.organization })
  })

  it('expands organization, account, tags, and languages of a user', async () => {
    const plain = await world.get(`/organization_users/${world.client.id}`)
    expect(await world.get(`/organization_users/${world.client.id}?depth=${depth}`)).toEqual({
      ...plain,
      organization: world.organization,
      user: world.user,
      tags: await eachOwn('/tags', plain.tags, depth),
      grading_languages: [world.german, world.english],
    })
  })

  it('expands organization, tags, clients, instruction, languages, and categories of an assessment', async () => {
    const plain = await world.get(`/assessments/${world.assessment.id}`)
    expect(await world.get(`/assessments/${world.assessment.id}?depth=${depth}`)).toEqual({
      ...plain,
      organization: world.organization,
      tags: await eachOwn('/tags', plain.tags, depth),
      clients: await eachOwn('/organization_users', plain.clients, depth),
      instruction: world.instruction,
      languages: [world.english, world.german],
      categories: [world.category],
    })
  })

  it('expands organization, assessment, grader, and tags of an invite', async () => {
    const plain = await world.get(`/assessment_invites/${world.invite.id}`)
    const nested = {
      ...plain,
      organization: world.organization,
      assessment: await own('/assessments', plain.assessment, depth),
      assigned_grader: await own('/organization_users', plain.assigned_grader, depth),
      tags: await eachOwn('/tags', plain.tags, depth),
    }
    expect(await world.get(`/assessment_invites/${world.invite.id}?depth=${depth}`)).toEqual(nested)
    expect(
      await world.get(`/organizations/${world.organizationId}/assessment_invites/${world.invite.id}?depth=${depth}`),
    ).toEqual(nested)
  })

  it('keeps null and empty values', async () => {
    const { bare } = world
    const empty = { tags: [], clients: [], languages: [], categories: [], instruction: null, created_by: '' }
    expect(await world.get(`/assessments/${bare.id}?depth=${depth}`)).toMatchObject(empty)
    const { results } = await world.get(`/assessment_invites?depth=${depth}&page=last&page_size=1`)
    expect(results).toMatchObject([
      { assessment: { id: bare.id }, assigned_grader: null, user: null, tags: [], assessment_session: null },
    ])
  })

  it('shows each item of a list as its own endpoint does', async () => {
    for (const { list, ids } of paths()) {
      const { results, ...envelope } = await world.get(`${list}?depth=${depth}`)
      const { results: plain, next: _next, ...plainEnvelope } = await world.get(list)
      expect(envelope).toMatchObject(plainEnvelope)
      expect((results as View[]).map(({ id }) => id)).toEqual((plain as View[]).map(({ id }) => id))
      for (const id of ids)
        expect((results as View[]).find((item) => item.id === id)).toEqual(await world.get(`${list}/${id}?depth=${depth}`))
    }
  })

  it('shows no column that no endpoint shows', async () => {
    const { key } = world
    for (const { list, ids } of paths()) {
      for (const path of [list, `${list}/${ids[0]}`]) {
        const { text } = await service.alternate(key).get(`${path}?depth=${depth}`)
        expect(text).not.toMatch(/secret|tier|enterprise|avatar|department|description|hash|position|"active"/i)
        expect(text).not.toMatch(/"[a-z]+[A-Z]\w*":/)
      }
    }
  })
})

it('distinguishes objects of different kinds that have the same id', async () => {
  const { make, db, deps } = service
  const { id: organizationId, key } = await make.organization()
  const id = deps.newId()
  const own = { id, organizationId }
  const assessment = await make.assessment(organizationId, { id })
  const [tag, member] = [await make.tag(organizationId, { id }), await make.member(organizationId, { id })]
  await db.category.create({ data: { ...own, name: 'Sales' } })
  const join = links(db)
  await join.tagAssessment(assessment, tag)
  await join.addClients(assessment, member)
  await join.addCategories(assessment, own)
  await join.tagInvite(await make.invite(assessment, { assignedGraderId: id }), tag)
  const [shown] = (await service.alternate(key).get('/assessment_invites?depth=2')).body.results
  expect(shown).toMatchObject({
    assessment: {
      name: assessment.name,
      tags: [{ name: tag.name }],
      clients: [{ roles: member.roles }],
      categories: [{ name: 'Sales' }],
    },
    assigned_grader: { id, roles: member.roles },
    tags: [{ id, name: tag.name }],
  })
})

it('answers many concurrent requests of several organizations as if each ran alone', async () => {
  const worlds = [world, await setUp()]
  const requests = worlds.flatMap(({ get }) =>
    paths().flatMap(({ list }) => [1, 2].map((depth) => () => get(`${list}?depth=${depth}`))),
  )
  const alone: View[] = []
  for (const request of requests) alone.push(await request())
  expect(await Promise.all([...requests, ...requests].map((request) => request()))).toEqual([...alone, ...alone])
})

it('shows plain ids without depth', async () => {
  const { results } = await world.get('/assessment_invites')
  expect((results as View[])[0]).toMatchObject({
    organization: world.organizationId,
    assessment: world.assessment.id,
    assigned_grader: world.client.id,
    tags: [world.other.id, world.tag.id],
  })
})

it.each(['3', '10', '2147483648', '9'.repeat(400)])('treats depth=%s as 2', async (depth) => {
  for (const { list, ids } of paths())
    expect(await world.get(`${list}/${ids[0]}?depth=${depth}`)).toEqual(await world.get(`${list}/${ids[0]}?depth=2`))
})

it.each(['abc', '-1', '1.5', '1e1', '1 1', '1,2', 'true', '0x1', '１'])('answers 400 to depth=%s', async (depth) => {
  for (const { list, ids } of paths()) {
    for (const path of [list, `${list}/${ids[0]}`, `${list}/01900000-0000-7000-8000-000000000000`]) {
      const { status, body } = await service.alternate(world.key).get(`${path}?depth=${encodeURIComponent(depth)}`)
      expect([status, body]).toEqual([400, { depth: [expect.stringMatching(/\S/)] }])
    }
  }
})

it('ignores an empty depth, and uses the last of several', async () => {
  const plain = await world.get(`/tags/${world.tag.id}`)
  expect(await world.get(`/tags/${world.tag.id}?depth=`)).toEqual(plain)
  expect((await world.get(`/tags/${world.tag.id}?depth=x&depth=1`)).organization).toEqual(world.organization)
})

it('applies depth and filters together', async () => {
  const { results, count } = await world.get(`/assessments?depth=1&tags=${world.tag.id}`)
  expect([count, (results as View[])[0]!.organization]).toEqual([1, world.organization])
})
