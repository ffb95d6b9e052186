import { beforeAll, describe, expect, it } from 'vitest'
import { nameKeys } from '../../../src/domain/text/fold-text.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

type Envelope = {
  count: number
  next: string | null
  previous: string | null
  num_pages: number
  current_page: number
  results: { id: string }[]
}
type Make = (organizationId: string, row: { id: string; createdAt: Date }) => Promise<unknown>

const lists: { path: string; make: Make }[] = [
  { path: '/assessments', make: (organizationId, row) => service.make.assessment(organizationId, row) },
  { path: '/organization_users', make: (organizationId, row) => service.make.member(organizationId, row) },
  { path: '/tags', make: (organizationId, row) => service.make.tag(organizationId, row) },
  {
    path: '/assessment_invites',
    make: async (organizationId, row) => {
      const assessment = await service.db.assessment.findFirst({ where: { organizationId } })
      return service.make.invite(assessment ?? (await service.make.assessment(organizationId)), row)
    },
  },
]

/** Creates this many rows. Groups of three have the same creation time, and all are inserted in reverse order. */
async function makeList(make: Make, count: number) {
  const organization = await service.make.organization()
  const start = service.clock.now().getTime()
  const ids = Array.from({ length: count }, () => service.deps.newId())
  const rows = ids.map((id, nth) => ({ id, createdAt: new Date(start + Math.floor(nth / 3) * 1_000) }))
  for (const row of rows.toReversed()) await make(organization.id, row)
  return { organization, ids }
}

/** Requests a link's page from the tested service, whatever host the link names. */
async function follow(key: string, link: string): Promise<Envelope> {
  const { pathname, search } = new URL(link, 'http://localhost')
  return (await service.http().get(`${pathname}${search}`).set('x-service-docs-api-key', key)).body
}

const idsOf = ({ results }: Envelope) => results.map(({ id }) => id)

describe.each(lists)('GET $path', ({ path, make }) => {
  let ids: string[]
  let list: (query?: string) => Promise<Envelope>
  let get: (query?: string) => Promise<{ status: number; body: Envelope }>
  beforeAll(async () => {
    const made = await makeList(make, 25)
    ids = made.ids
    get = async (query = '') => service.alternate(made.organization.key).get(`${path}${query}`)
    list = async (query) => {
      const { status, body } = await get(query)
      expect(status).toBe(200)
      return body
    }
  })

  it('has exactly the six envelope fields', async () => {
    expect(Object.keys(await list())).toEqual(['count', 'next', 'previous', 'num_pages', 'current_page', 'results'])
  })

  it('shows the oldest items first, and items of the same age by id', async () => {
    expect(idsOf(await list('?page_size=100'))).toEqual(ids)
  })

  it('shows 20 items and a link to the rest by default', async () => {
    const first = await list()
    expect(first).toMatchObject({ count: 25, num_pages: 2, current_page: 1, previous: null })
    expect(first.next).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:\\d+/api/alternate${path}\\?page=2$`))
    expect(idsOf(first)).toEqual(ids.slice(0, 20))
    const second = await list('?page=2')
    expect(second).toMatchObject({ count: 25, num_pages: 2, current_page: 2, next: null })
    expect(idsOf(second)).toEqual(ids.slice(20))
  })

  it('treats an empty page as the first', async () => {
    expect((await list('?page=')).current_page).toBe(1)
  })

  it('answers page=last with the last page', async () => {
    const last = await list('?page=last&page_size=10')
    expect(last).toMatchObject({ current_page: 3, num_pages: 3, next: null })
    expect(last.previous).toContain('?page=2&page_size=10')
    expect(idsOf(last)).toEqual(ids.slice(20))
  })

  it.each(['0', '-1', 'abc', '3', '1.5', 'Last', '1,2', '2147483648', '9007199254740993', '9'.repeat(400), '1e400', '٢'])(
    'answers 404 "Invalid page." to page=%s',
    async (page) => {
      const { status, body } = await get(`?page=${encodeURIComponent(page)}`)
      expect([status, body]).toEqual([404, { detail: 'Invalid page.' }])
    },
  )

  it.each(['0', '-1', 'abc', '', '1.5', ' '])('ignores page_size=%j', async (size) => {
    expect((await list(`?page_size=${encodeURIComponent(size)}`)).results).toHaveLength(20)
  })

  it.each([1, 7, 25, 100])('accepts %i as page_size', async (size) => {
    const { results, num_pages } = await list(`?page_size=${size}`)
    expect([results.length, num_pages]).toEqual([Math.min(25, size), Math.ceil(25 / size)])
  })

  it('uses the last value of a repeated parameter', async () => {
    expect(await list('?page_size=3&page=1&page_size=10&page=2')).toMatchObject({ current_page: 2, num_pages: 3 })
    expect((await get('?page=1&page=0')).status).toBe(404)
  })

  it('shows an empty list as one empty page, and no second', async () => {
    const { key } = await service.make.organization()
    const empty = { count: 0, next: null, previous: null, num_pages: 1, current_page: 1, results: [] }
    for (const query of ['', '?page=1', '?page=last', '?page_size=5'])
      expect((await service.alternate(key).get(`${path}${query}`)).body).toEqual(empty)
    const { status, body } = await service.alternate(key).get(`${path}?page=2`)
    expect([status, body]).toEqual([404, { detail: 'Invalid page.' }])
  })

  it('returns each item exactly once when `next` is followed while rows are being added', async () => {
    const { organization, ids: before } = await makeList(make, 7)
    const last = new Date(service.clock.now().getTime() + 2_000)
    const added: string[] = []
    const met: string[] = []
    for (let url: string | null = `/api/alternate${path}?page_size=2`; url !== null; ) {
      const page: Envelope = await follow(organization.key, url)
      met.push(...idsOf(page))
      if (added.length < 5) {
        // It has the creation time of the newest row, so only the id orders the two.
        const row = { id: service.deps.newId(), createdAt: last }
        await make(organization.id, row)
        added.push(row.id)
      }
      url = page.next
    }
    expect(met).toEqual([...before, ...added])
  })
})

it('limits page_size to 100', async () => {
  const { id: organizationId, key } = await service.make.organization()
  const times = { createdAt: service.clock.now(), updatedAt: service.clock.now() }
  await service.db.tag.createMany({
    data: Array.from({ length: 101 }, (_, nth) => ({
      id: service.deps.newId(),
      organizationId,
      name: `Tag ${nth}`,
      ...nameKeys(`Tag ${nth}`),
      color: '#000000',
      ...times,
    })),
  })
  for (const size of ['101', '1000', '2147483648', '9'.repeat(400)]) {
    const { body } = await service.alternate(key).get(`/tags?page_size=${size}`)
    expect([body.results.length, body.count, body.num_pages]).toEqual([100, 101, 2])
  }
})
