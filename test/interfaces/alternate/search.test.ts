import { beforeAll, describe, expect, it } from 'vitest'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

type List = {
  path: string
  /** Creates a row that a search for this text finds. */
  make: (organizationId: string, text: string) => Promise<{ id: string }>
}

const inviteTo = async (organizationId: string, name: string, recipientEmail?: string) =>
  service.make.invite(
    await service.make.assessment(organizationId, { name }),
    recipientEmail === undefined ? {} : { recipientEmail },
  )

const lists: List[] = [
  { path: '/assessments', make: (organizationId, name) => service.make.assessment(organizationId, { name }) },
  { path: '/tags', make: (organizationId, name) => service.make.tag(organizationId, { name }) },
  { path: '/organization_users', make: (organizationId, firstName) => service.make.member(organizationId, { firstName }) },
  { path: '/assessment_invites', make: (organizationId, name) => inviteTo(organizationId, name) },
]

/** Returns a function that searches a list and returns the indexes of the found rows. */
function searcher(key: string, path: string, rows: { id: string }[]) {
  return async (text: string) => {
    const { status, body } = await service.alternate(key).get(`${path}?search=${encodeURIComponent(text)}`)
    expect([status, body.count]).toEqual([200, body.results.length])
    return body.results.map(({ id }: { id: string }) => rows.findIndex((row) => row.id === id))
  }
}

describe.each(lists)('search in GET $path', ({ path, make }) => {
  let find: (text: string) => Promise<number[]>
  beforeAll(async () => {
    const { id, key } = await service.make.organization()
    const rows = []
    const texts = [
      'Spoken English',
      'Written ENGLISH 100%',
      'under_score',
      'back\\slash',
      'undersscore Ünïcode',
      'O\'Neil (2), "x"',
    ]
    for (const text of texts) rows.push(await make(id, text))
    find = searcher(key, path, rows)
  })

  it.each([
    ['english', [0, 1]],
    ['ENGL', [0, 1]],
    ['poken', [0]],
    ['nothing', []],
  ])('finds %j as a part of the text, in any case', async (text, found) => {
    expect(await find(text)).toEqual(found)
  })

  it.each([
    ['english spoken', [0]],
    ['  spoken \t english  ', [0]],
    ['english,spoken', [0]],
    ['spoken written', []],
    ['english english', [0, 1]],
  ])('requires every word of %j', async (text, found) => {
    expect(await find(text)).toEqual(found)
  })

  it.each([
    ['%', [1]],
    ['0%', [1]],
    ['S%n', []],
    ['_', [2]],
    ['under_score', [2]],
    ['\\', [3]],
    ['\\s', [3]],
    ['k\\\\s', []],
    ["o'neil", [5]],
    ['(2)', [5]],
    ['"x"', [5]],
    ['.*', []],
    ["' OR 1=1 --", []],
  ])('takes %j literally', async (text, found) => {
    expect(await find(text)).toEqual(found)
  })

  it.each([' ', ',', ' , \n'])('ignores %j, which has no word', async (text) => {
    expect(await find(text)).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('accepts eight distinct words, and repetitions in another case', async () => {
    expect(await find('s p o k e n english e SPOKEN')).toEqual([0])
    expect(await find('s p o k e n english S ENGLISH e K')).toEqual([0])
  })

  it('searches within the filters', async () => {
    const { id, key } = await service.make.organization()
    await make(id, 'Found')
    const { body } = await service.alternate(key).get(`${path}?search=found&organization=01900000-0000-7000-8000-000000000000`)
    expect(body.count).toBe(0)
  })
})

it('finds invites by address and assessment name, each word in either', async () => {
  const { id, key } = await service.make.organization()
  const rows = [
    await inviteTo(id, 'Sales', 'ann@one.example'),
    await inviteTo(id, 'Support', 'bob@one.example'),
    await inviteTo(id, 'Sales one', 'cleo@two.example'),
  ]
  const find = searcher(key, '/assessment_invites', rows)
  expect(await find('sales')).toEqual([0, 2])
  expect(await find('@ONE.')).toEqual([0, 1])
  expect(await find('one')).toEqual([0, 1, 2])
  expect(await find('sales one')).toEqual([0, 2])
  expect(await find('bob sales')).toEqual([])
  expect(await find('pending')).toEqual([])
})

it('finds users by first name, last name, and address, each word in any', async () => {
  const { id, key } = await service.make.organization()
  const rows = [
    await service.make.member(id, { firstName: 'Ann', lastName: 'Lee', email: `al@${id}.example` }),
    await service.make.member(id, { firstName: 'Lee', lastName: 'Ann', email: `la@${id}.example`, department: 'Sales' }),
    await service.make.member(id, { firstName: 'Bob', lastName: 'Ray', email: `ann@${id}.example` }),
  ]
  const find = searcher(key, '/organization_users', rows)
  expect(await find('ann')).toEqual([0, 1, 2])
  expect(await find('Ann Lee')).toEqual([0, 1])
  expect(await find('ray ann@')).toEqual([2])
  expect(await find('annlee')).toEqual([])
  expect(await find('sales')).toEqual([])
})
