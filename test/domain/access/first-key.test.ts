import { expect, it } from 'vitest'
import { makeFirstKey } from '../../../src/domain/access/first-key.ts'
import { startServiceForTest } from '../../support/service.ts'

it('is made by exactly one of those that start at once, and by none that starts later', async () => {
  const { system, db, v1, make } = await startServiceForTest()
  for (let round = 0; round < 5; round++) {
    const wanted = { organization: make.unique('Acme'), apiKey: 'First' }
    const keys = await Promise.all(Array.from({ length: 8 }, () => makeFirstKey(system, wanted)))
    const [key, ...others] = keys.filter((made) => made !== null)
    expect(others).toEqual([])
    expect((await v1(key!).get('/tags')).status).toBe(200)
    expect(await makeFirstKey(system, wanted)).toBeNull()
    expect(await db.organization.count({ where: { name: wanted.organization } })).toBe(1)
  }
})
