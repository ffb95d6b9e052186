import { beforeAll, describe, expect, it } from 'vitest'
import { unknownId } from '../../support/factories.ts'
import { links } from '../../support/links.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

const enterUuid = ['Enter a valid UUID.']

/** Creates an organization with three rows in every list, and returns functions that read its lists. */
async function setUp() {
  const organization = await service.make.organization()
  const { id } = organization
  for (let i = 0; i < 3; i++) {
    const assessment = await service.make.assessment(id)
    await service.make.invite(assessment)
    await service.make.member(id)
    await service.make.tag(id)
  }
  const get = async (path: string): Promise<{ status: number; body: { count: number; results: { id: string }[] } }> =>
    service.alternate(organization.key).get(path)
  const list = async (path: string) => {
    const { status, body } = await get(path)
    expect(status).toBe(200)
    return { count: body.count, ids: body.results.map(({ id }) => id) }
  }
  return { organization, get, list }
}

describe.each(['/assessments', '/organization_users', '/tags', '/assessment_invites'])('GET %s', (path) => {
  let own: Awaited<ReturnType<typeof setUp>>
  beforeAll(async () => {
    own = await setUp()
  })

  it("accepts the key's own organization, in either case and without dashes", async () => {
    const { id } = own.organization
    for (const organization of [id, id.toUpperCase(), id.replaceAll('-', '')])
      expect((await own.list(`${path}?organization=${organization}`)).count).toBe(3)
  })

  it("shows an empty list for another organization's id, known or not", async () => {
    const other = await setUp()
    const empty = { count: 0, next: null, previous: null, num_pages: 1, current_page: 1, results: [] }
    for (const id of [other.organization.id, unknownId]) expect((await own.get(`${path}?organization=${id}`)).body).toEqual(empty)
    expect((await own.get(`${path}?organization=${unknownId}&page=2`)).status).toBe(404)
  })

  it.each(['x', '1', unknownId.slice(1), `${unknownId},${unknownId}`, unknownId.replace('-', '')])(
    'answers 400 to organization=%s',
    async (organization) => {
      const { status, body } = await own.get(`${path}?organization=${organization}`)
      expect([status, body]).toEqual([400, { organization: enterUuid }])
    },
  )

  it('ignores empty values and unknown parameters', async () => {
    const names = ['organization', 'created_by', 'audience', 'question_count', 'tags', 'type', 'answer_type', 'name', 'search']
    const more = ['is_admin', 'is_grader', 'is_client', 'first_name', 'last_name', 'email', 'depth', 'page', 'page_size']
    const query = [...names, ...more].map((name) => `${name}=`).join('&')
    expect((await own.list(`${path}?${query}`)).count).toBe(3)
    expect((await own.list(`${path}?colour=red&status=x&Organization=x&__proto__=x&constructor=x&tags[]=x`)).count).toBe(3)
  })

  it('uses the last value of a repeated filter', async () => {
    const { id } = own.organization
    expect((await own.list(`${path}?organization=x&organization=${id}`)).count).toBe(3)
    expect((await own.list(`${path}?organization=${id}&organization=${unknownId}`)).count).toBe(0)
    expect((await own.list(`${path}?organization=${unknownId}&organization=`)).count).toBe(3)
  })

  it.each(['search', 'organization', 'page', 'page_size', 'depth'])('answers 400 to a NUL in %s', async (name) => {
    const { status, body } = await own.get(`${path}?${name}=a%00b`)
    expect([status, body]).toEqual([400, { [name]: ['Null characters are not allowed.'] }])
  })
})

describe('the limit of a filter', () => {
  const ids = (count: number) => Array.from({ length: count }, () => crypto.randomUUID()).join()
  const formats = (count: number) => Array.from({ length: count }, (_, i) => `format${i}`).join()
  const tooManyWords = ['Ensure this field has no more than 8 words.']
  const tooManyValues = ['Ensure this field has no more than 100 elements.']
  const tooLong = ['Ensure this field has no more than 255 characters.']
  const lists = ['/assessments', '/organization_users', '/tags', '/assessment_invites']
  const cases = [
    ...lists.map((path) => [path, 'search', tooManyWords, 'a,b+c+d+e+f+g+h', 'a,b+c+d+e+f+g+h+i']),
    ...lists.map((path) => [path, 'search', tooLong, 'x'.repeat(255), 'x'.repeat(256)]),
    ['/tags', 'name', tooLong, '🎓'.repeat(255), '🎓'.repeat(256)],
    ['/organization_users', 'email', tooLong, 'x'.repeat(255), 'x'.repeat(256)],
    ['/organization_users', 'tags', tooManyValues, ids(100), ids(101)],
    ['/assessments', 'tags', tooManyValues, ids(100), ids(101)],
    ['/assessments', 'type', tooManyValues, formats(100), formats(101)],
    ['/assessments', 'answer_type', tooManyValues, `${formats(100)},format7`, formats(101)],
  ] as [path: string, name: string, error: string[], most: string, more: string][]

  it.each(cases)('is enforced with 400 in GET %s, and not below it: %s, %j', async (path, name, error, most, more) => {
    const { get } = await setUp()
    expect((await get(`${path}?${name}=${most}`)).status).toBe(200)
    const { status, body } = await get(`${path}?${name}=${more}`)
    expect([status, body]).toEqual([400, { [name]: error }])
  })
})

describe('the validation of filters', () => {
  const cases: [string, string, object][] = [
    [
      '/assessments',
      `organization=x&created_by=x&audience=xyz&question_count=abc&tags=${unknownId},x&depth=x&name=%00`,
      {
        organization: enterUuid,
        created_by: enterUuid,
        audience: ['Select a valid choice. xyz is not one of the available choices.'],
        question_count: ['Enter a number.'],
        tags: enterUuid,
        depth: [expect.any(String)],
        name: ['Null characters are not allowed.'],
      },
    ],
    [
      '/organization_users',
      'organization=x&tags=x&is_admin=maybe&is_grader=2&is_client=yes&email=%00',
      {
        organization: enterUuid,
        tags: enterUuid,
        is_admin: [expect.any(String)],
        is_grader: [expect.any(String)],
        is_client: [expect.any(String)],
        email: ['Null characters are not allowed.'],
      },
    ],
    [
      '/assessments',
      `organization=x&search=a,b,c,d,e,f,g,h,i&name=${'x'.repeat(256)}`,
      { organization: enterUuid, search: [expect.any(String)], name: [expect.any(String)] },
    ],
    [
      '/tags',
      'organization=x&created_by=x&search=%00',
      { organization: enterUuid, created_by: enterUuid, search: [expect.any(String)] },
    ],
    ['/assessment_invites', 'organization=x&depth=x', { organization: enterUuid, depth: [expect.any(String)] }],
  ]
  it.each(cases)('reports all errors of GET %s', async (path, query, errors) => {
    const { key } = await service.make.organization()
    const { status, body } = await service.alternate(key).get(`${path}?${query}`)
    expect([status, body]).toEqual([400, errors])
  })

  it('answers 400 before the page is checked', async () => {
    const { key } = await service.make.organization()
    expect((await service.alternate(key).get('/tags?created_by=x&page=0')).status).toBe(400)
  })
})

describe.each(['/assessments', '/tags'])('GET %s', (path) => {
  const make = (organizationId: string, data: { name?: string; createdById?: string }) =>
    path === '/tags' ? service.make.tag(organizationId, data) : service.make.assessment(organizationId, data)

  it('filters by the creating user', async () => {
    const { organization, list, get } = await setUp()
    const [creator, other] = [await service.make.member(organization.id), await service.make.member(organization.id)]
    const { id } = await make(organization.id, { createdById: creator.id })
    await make(organization.id, { createdById: other.id })
    expect(await list(`${path}?created_by=${creator.id}`)).toEqual({ count: 1, ids: [id] })
    expect(await list(`${path}?created_by=${creator.id.toUpperCase()}`)).toEqual({ count: 1, ids: [id] })
    expect(await list(`${path}?created_by=${unknownId}`)).toEqual({ count: 0, ids: [] })
    const { status, body } = await get(`${path}?created_by=${creator.id},${other.id}`)
    expect([status, body]).toEqual([400, { created_by: enterUuid }])
  })

  it('filters by the exact name, case-sensitive and with its commas', async () => {
    const { organization, list } = await setUp()
    const names = ['Sales, EMEA', 'Sales', 'EMEA', '50% \\ done_', '50% \\ doneX', ' Padded ', 'Ünïcode ✓', "O'Neil"]
    const rows = new Map<string, string>()
    for (const name of names) rows.set(name, (await make(organization.id, { name })).id)
    for (const name of names)
      expect(await list(`${path}?name=${encodeURIComponent(name)}`)).toEqual({ count: 1, ids: [rows.get(name)] })
    for (const name of ['sales', 'SALES', 'Sale', 'Sales,EMEA', 'Padded', 'Sales,50% \\ done_', '%'])
      expect(await list(`${path}?name=${encodeURIComponent(name)}`)).toEqual({ count: 0, ids: [] })
  })
})

describe.each(['/assessments', '/organization_users'])('GET %s', (path) => {
  const make = async (organizationId: string, ...tags: { id: string }[]) => {
    const { tagMember, tagAssessment } = links(service.db)
    const row =
      path === '/assessments' ? await service.make.assessment(organizationId) : await service.make.member(organizationId)
    await (path === '/assessments' ? tagAssessment : tagMember)(row, ...tags)
    return row.id
  }

  it('filters by any of the tags, without duplicate rows, and with the right count', async () => {
    const { organization, list } = await setUp()
    const [a, b, c, unused] = await Promise.all([1, 2, 3, 4].map(() => service.make.tag(organization.id)))
    const withA = await make(organization.id, a!)
    const withBoth = await make(organization.id, a!, b!)
    const withB = await make(organization.id, b!)
    await make(organization.id, c!)
    const tagged = (...tags: string[]) => list(`${path}?tags=${tags.join(',')}`)
    expect(await tagged(a!.id)).toEqual({ count: 2, ids: [withA, withBoth] })
    expect(await tagged(a!.id, b!.id)).toEqual({ count: 3, ids: [withA, withBoth, withB] })
    expect(await tagged(b!.id.toUpperCase(), ` ${a!.id} `, '')).toEqual({ count: 3, ids: [withA, withBoth, withB] })
    expect(await tagged(b!.id, b!.id, unknownId)).toEqual({ count: 2, ids: [withBoth, withB] })
    expect(await tagged(unused!.id)).toEqual({ count: 0, ids: [] })
    expect(await tagged(unknownId)).toEqual({ count: 0, ids: [] })
    // The same result, read page by page.
    expect(await list(`${path}?tags=${a!.id},${b!.id}&page_size=2&page=2`)).toEqual({ count: 3, ids: [withB] })
  })

  it.each(['x', `${unknownId},x`, `x,${unknownId}`, `${unknownId};${unknownId}`, '0'])('answers 400 to tags=%s', async (tags) => {
    const { key } = await service.make.organization()
    const { status, body } = await service.alternate(key).get(`${path}?tags=${encodeURIComponent(tags)}`)
    expect([status, body]).toEqual([400, { tags: enterUuid }])
  })
})
