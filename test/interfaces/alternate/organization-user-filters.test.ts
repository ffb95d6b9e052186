import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Service, startService } from '../../support/service.ts'

let service: Service
let get: (query: string) => Promise<{ status: number; body: { count: number; results: { id: string }[] } }>
let list: (query: string) => Promise<string[]>
const nameOf = new Map<string, string>()
beforeAll(async () => {
  service = await startService()
  const { id, key } = await service.make.organization()
  const add = async (firstName: string, lastName: string, roles: string[], data = {}) => {
    const email = `${firstName}.${lastName}@Example.com`.replaceAll(' ', '_')
    const member = await service.make.member(id, { firstName, lastName, roles, email, ...data })
    nameOf.set(member.id, firstName)
  }
  await add('Ann', 'Admin', ['admin'])
  await add('Bob', 'Both', ['admin', 'grader'])
  await add('Cleo', 'de la Cruz', ['client'])
  await add('Nemo', 'None', [])
  await add('Gone', 'Admin', ['admin', 'grader', 'client'], { status: 'inactive' })
  get = async (query) => service.alternate(key).get(`/organization_users?${query}`)
  list = async (query) => {
    const { status, body } = await get(query)
    expect([status, body.count]).toEqual([200, body.results.length])
    return body.results.map(({ id }) => nameOf.get(id)!)
  }
})
afterAll(() => service.close())

it('shows only active users, in the list and on their own', async () => {
  expect(await list('')).toEqual(['Ann', 'Bob', 'Cleo', 'Nemo'])
  const { id, key } = await service.make.organization()
  const inactive = await service.make.member(id, { status: 'inactive' })
  const { status, body } = await service.alternate(key).get(`/organization_users/${inactive.id}`)
  expect([status, body]).toEqual([404, { detail: 'Not found.' }])
})

describe.each([
  ['is_admin', ['Ann', 'Bob'], ['Cleo', 'Nemo']],
  ['is_grader', ['Bob'], ['Ann', 'Cleo', 'Nemo']],
  ['is_client', ['Cleo'], ['Ann', 'Bob', 'Nemo']],
])('%s', (parameter, those, others) => {
  it.each(['true', 'True', 'TRUE', '1'])('shows users with the role for %s', async (value) => {
    expect(await list(`${parameter}=${value}`)).toEqual(those)
  })

  it.each(['false', 'False', 'FALSE', '0'])('shows users without the role for %s', async (value) => {
    expect(await list(`${parameter}=${value}`)).toEqual(others)
  })

  it.each(['maybe', 'yes', '2', '-1', '01', ' true', 'true,false', 'null'])('answers 400 to %j', async (value) => {
    const { status, body } = await get(`${parameter}=${encodeURIComponent(value)}`)
    expect([status, body]).toEqual([400, { [parameter]: [expect.stringMatching(/\S/)] }])
  })
})

it('combines role filters', async () => {
  expect(await list('is_admin=true&is_grader=false')).toEqual(['Ann'])
  expect(await list('is_admin=false&is_client=false')).toEqual(['Nemo'])
  expect(await list('is_admin=true&is_client=true')).toEqual([])
})

describe('the first_name, last_name, and email filters', () => {
  it.each([
    ['first_name=Ann', ['Ann']],
    ['first_name=aNN', ['Ann']],
    ['first_name=An', []],
    ['first_name=%25', []],
    ['first_name=A_n', []],
    ['first_name=Ann,Bob', []],
    ['last_name=DE%20LA%20CRUZ', ['Cleo']],
    ['last_name=Cruz', []],
    ['last_name=admin', ['Ann']],
    ['email=ann.admin@example.com', ['Ann']],
    ['email=Cleo.de_la_Cruz@EXAMPLE.COM', ['Cleo']],
    ['email=CleoXdeXlaXCruz@example.com', []],
    ['email=ann.admin', []],
    ['email=example.com', []],
    ['first_name=Ann&last_name=Both', []],
    ['first_name=Bob&last_name=Both&email=BOB.both@example.com&is_admin=1', ['Bob']],
  ])('match the full value in any case with %s', async (query, names) => {
    expect(await list(query)).toEqual(names)
  })

  it('take a backslash literally', async () => {
    const { id, key } = await service.make.organization()
    const member = await service.make.member(id, { firstName: 'Back\\slash' })
    const find = async (name: string) =>
      (await service.alternate(key).get(`/organization_users?first_name=${encodeURIComponent(name)}`)).body
    expect((await find('back\\SLASH')).results).toMatchObject([{ id: member.id }])
    expect((await find('back\\\\slash')).count).toBe(0)
    expect((await find('backslash')).count).toBe(0)
  })
})
