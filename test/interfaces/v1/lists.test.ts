import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

/** Ranks of five rows. The first three have two ties each, and no two fields have the same order. */
const ranks = { first: [2, 1, 2, 3, 1], second: [1, 3, 3, 2, 2], third: [3, 2, 1, 1, 3], distinct: [4, 2, 5, 1, 3] }
type Ranks = readonly number[]

const time = (rank: number) => new Date(Date.UTC(2030, 0, rank))
const word = (rank: number) => ['', 'Alpha', 'Bravo', 'Charlie', 'Delta', 'Echo'][rank]!
const status = (rank: number) => (['accepted', 'pending', 'started'] as const)[rank - 1]!

type Row = { id: string; nth: number }
type List = {
  name: string
  /** The documented sort words. The first one is the default. */
  sorts: Record<string, Ranks>
  /** Creates a row with this id and the ranks at this place. @returns the path of the list. */
  make: (organizationId: string, row: Row) => Promise<unknown>
  path?: (organizationId: string) => Promise<string>
}

const lists: List[] = [
  {
    name: 'assessments',
    sorts: { created_at: ranks.first, name: ranks.second, updated_at: ranks.third },
    make: (organizationId, { id, nth }) =>
      service.make.assessment(organizationId, {
        id,
        createdAt: time(ranks.first[nth]!),
        name: word(ranks.second[nth]!),
        updatedAt: time(ranks.third[nth]!),
      }),
  },
  {
    name: 'questions',
    sorts: { order: ranks.first, created_at: ranks.second, points: ranks.third },
    path: async (organizationId) => `/assessments/${await ownAssessment(organizationId)}/questions`,
    make: async (organizationId, { id, nth }) =>
      service.make.question(
        { organizationId, id: await ownAssessment(organizationId) },
        { id, order: ranks.first[nth]!, createdAt: time(ranks.second[nth]!), points: ranks.third[nth]! },
      ),
  },
  {
    name: 'members',
    sorts: { joined_at: ranks.first, email: ranks.distinct },
    make: (organizationId, { id, nth }) =>
      service.make.member(organizationId, {
        id,
        joinedAt: time(ranks.first[nth]!),
        email: `${word(ranks.distinct[nth]!).toLowerCase()}-${organizationId}@example.com`,
      }),
  },
  {
    name: 'invites',
    sorts: { sent_at: ranks.first, status: ranks.second, expires_at: ranks.third },
    make: async (organizationId, { id, nth }) =>
      service.make.invite(
        { organizationId, id: await ownAssessment(organizationId) },
        { id, sentAt: time(ranks.first[nth]!), status: status(ranks.second[nth]!), expiresAt: time(ranks.third[nth]!) },
      ),
  },
  {
    name: 'tags',
    sorts: { name: ranks.distinct, created_at: ranks.first, updated_at: ranks.third },
    make: (organizationId, { id, nth }) =>
      service.make.tag(organizationId, {
        id,
        name: word(ranks.distinct[nth]!),
        createdAt: time(ranks.first[nth]!),
        updatedAt: time(ranks.third[nth]!),
      }),
  },
]

/** The organization's only assessment, for its questions or invites. */
async function ownAssessment(organizationId: string): Promise<string> {
  const existing = await service.db.assessment.findFirst({ where: { organizationId } })
  return (existing ?? (await service.make.assessment(organizationId))).id
}

describe.each(lists)('GET $name', ({ name, sorts, make, path = async () => `/${name}` }) => {
  // Random ids, so that no order equals the order of creation.
  const rows: Row[] = ranks.first.map((_, nth) => ({ id: randomUUID(), nth }))
  const words = Object.keys(sorts)
  let get: (query?: string) => Promise<{ status: number; body: Record<string, unknown> }>
  let list: (query?: string) => Promise<{ ids: string[]; pagination: unknown }>

  beforeAll(async () => {
    const { id, key } = await service.make.organization()
    for (const row of rows) await make(id, row)
    const listPath = await path(id)
    get = async (query = '') => service.v1(key).get(`${listPath}?${query}`)
    list = async (query = '') => {
      const { status, body } = await get(query)
      expect([status, Object.keys(body)]).toEqual([200, [name, 'pagination']])
      return { ids: (body[name] as Row[]).map(({ id }) => id), pagination: body.pagination }
    }
  })

  const inOrder = (by: Ranks, order: 'asc' | 'desc') => {
    const ids = rows.toSorted((a, b) => by[a.nth]! - by[b.nth]! || (a.id < b.id ? -1 : 1)).map(({ id }) => id)
    return order === 'asc' ? ids : ids.reverse()
  }
  const byDefault = () => inOrder(sorts[words[0]!]!, 'desc')

  it.each(
    words.flatMap((word) => [
      { word, order: 'asc' as const },
      { word, order: 'desc' as const },
    ]),
  )('sorts by $word $order, and equal items by id in the same direction', async ({ word, order }) => {
    expect((await list(`sort=${word}&order=${order}`)).ids).toEqual(inOrder(sorts[word]!, order))
  })

  it.each(words)('sorts by %s in descending order by default', async (word) => {
    expect((await list(`sort=${word}`)).ids).toEqual(inOrder(sorts[word]!, 'desc'))
  })

  it(`sorts by ${words[0]}, the first documented word, by default`, async () => {
    expect((await list()).ids).toEqual(byDefault())
    expect((await list('order=asc')).ids).toEqual(inOrder(sorts[words[0]!]!, 'asc'))
  })

  it('shows page 1 with 20 items by default', async () => {
    expect((await list()).pagination).toEqual({ page: 1, limit: 20, total: 5, totalPages: 1 })
  })

  it('divides the list into pages without a gap or an overlap', async () => {
    const pages = await Promise.all([1, 2, 3].map((page) => list(`limit=2&page=${page}`)))
    expect(pages.flatMap(({ ids }) => ids)).toEqual(byDefault())
    expect(pages.map(({ ids }) => ids.length)).toEqual([2, 2, 1])
    expect(pages.map(({ pagination }) => pagination)).toEqual(
      [1, 2, 3].map((page) => ({ page, limit: 2, total: 5, totalPages: 3 })),
    )
  })

  it('answers a page beyond the end with an empty list', async () => {
    expect(await list('limit=2&page=4')).toEqual({ ids: [], pagination: { page: 4, limit: 2, total: 5, totalPages: 3 } })
    expect(await list('page=2147483647&limit=100')).toEqual({
      ids: [],
      pagination: { page: 2147483647, limit: 100, total: 5, totalPages: 1 },
    })
  })

  it.each([1, 5, 100])('accepts %i as limit', async (limit) => {
    const { ids, pagination } = await list(`limit=${limit}`)
    expect(ids).toEqual(byDefault().slice(0, limit))
    expect(pagination).toEqual({ page: 1, limit, total: 5, totalPages: Math.ceil(5 / limit) })
  })

  it.each([
    ['page=0', 'page must be a positive integer'],
    ['page=-1', 'page must be a positive integer'],
    ['page=1.5', 'page must be a positive integer'],
    ['page=two', 'page must be a positive integer'],
    ['page=', 'page must be a positive integer'],
    ['page=1e1', 'page must be a positive integer'],
    ['page=1&page=2', 'page must be sent once, not several times'],
    ['page=2147483648', 'page must be an integer between 1 and 2147483647'],
    ['limit=0', 'limit must be a positive integer'],
    ['limit=-5', 'limit must be a positive integer'],
    ['limit=ten', 'limit must be a positive integer'],
    ['limit=101', 'limit must be an integer between 1 and 100'],
    [`limit=${'9'.repeat(400)}`, 'limit must be an integer between 1 and 100'],
    ['sort=colour', `sort must be one of ${words.join(', ')}`],
    ['sort=', `sort must be one of ${words.join(', ')}`],
    ['sort=id', `sort must be one of ${words.join(', ')}`],
    [`sort=${words[0]}&sort=${words[1]}`, 'sort must be sent once, not several times'],
    ['order=up', 'order must be one of asc, desc'],
    ['order=ASC', 'order must be one of asc, desc'],
    ['order=&sort=x&limit=0&page=0', 'page must be a positive integer'],
  ])('answers 400 to %s', async (query, error) => {
    const { status, body } = await get(query)
    expect([status, body]).toEqual([400, { error }])
  })

  it('ignores unknown parameters', async () => {
    expect((await list('colour=red&__proto__=x&constructor=y&page[]=3')).ids).toEqual(byDefault())
  })
})

it.each(['assessments', 'members', 'invites', 'tags'])('shows an empty list with zero pages if there are no %s', async (name) => {
  const { key } = await service.make.organization()
  const { body } = await service.v1(key).get(`/${name}`)
  expect(body).toEqual({ [name]: [], pagination: { page: 1, limit: 20, total: 0, totalPages: 0 } })
})

it('shows an empty list with zero pages for an assessment without questions', async () => {
  const { id, key } = await service.make.organization()
  const { body } = await service.v1(key).get(`/assessments/${await ownAssessment(id)}/questions`)
  expect(body).toEqual({ questions: [], pagination: { page: 1, limit: 20, total: 0, totalPages: 0 } })
})

it('sorts invites by status in alphabetical order', async () => {
  const { id: organizationId, key } = await service.make.organization()
  const assessment = await service.make.assessment(organizationId)
  const statuses = ['pending', 'accepted', 'started', 'completed', 'expired', 'revoked'] as const
  for (const status of statuses) await service.make.invite(assessment, { status })
  const { body } = await service.v1(key).get('/invites?sort=status&order=asc')
  expect(body.invites.map(({ status }: { status: string }) => status)).toEqual([...statuses].sort())
})
