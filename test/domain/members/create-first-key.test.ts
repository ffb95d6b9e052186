import { expect, it } from 'vitest'
import { createFirstKey, inviteFirstAdmin } from '../../../src/domain/members/create-first-key.ts'
import { startServiceForTest } from '../../support/service.ts'
import { waitUntil } from '../../support/wait-until.ts'

it('creates the first key once among concurrent starts, and never again', async () => {
  const { system, db, v1, make } = await startServiceForTest()
  for (let round = 0; round < 5; round++) {
    const wanted = { organization: make.unique('Acme'), apiKey: 'First' }
    const keys = await Promise.all(Array.from({ length: 8 }, () => createFirstKey(system, wanted)))
    const [key, ...others] = keys.filter((made) => made !== null)
    expect(others).toEqual([])
    expect((await v1(key!).get('/tags')).status).toBe(200)
    expect(await createFirstKey(system, wanted)).toBeNull()
    expect(await db.organization.count({ where: { name: wanted.organization } })).toBe(1)
  }
})

it('invites the first admin by mail once among concurrent starts', async () => {
  const { system, db, make } = await startServiceForTest()
  const { id: organizationId, name } = await make.organization()
  const wanted = { organization: name.toUpperCase(), email: 'admin@example.com' }
  const done = await Promise.all(Array.from({ length: 8 }, () => inviteFirstAdmin(system, wanted)))
  expect(done.filter(Boolean)).toHaveLength(1)
  expect(await inviteFirstAdmin(system, { ...wanted, email: 'ADMIN@example.com' })).toBe(false)
  expect(await db.member.findMany({ where: { organizationId } })).toMatchObject([
    { email: 'admin@example.com', roles: ['admin'] },
  ])
  await waitUntil(
    'its mail to be captured',
    async () => (await db.memberEmail.count({ where: { state: 'captured' } })) === 1 || undefined,
  )
  expect(await db.accountLink.count()).toBe(1)
})
