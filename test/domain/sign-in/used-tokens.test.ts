import { expect, it } from 'vitest'
import { deleteExpiredRows } from '../../../src/domain/concurrency/expired-rows.ts'
import { claimToken } from '../../../src/domain/sign-in/used-tokens.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile({ ROLE: 'api' })

it('accepts a single-use token from one of many concurrent tries, and deletes it after its expiry', async () => {
  const key = `test ${service.deps.newId()}`
  const endsAt = new Date(service.clock.now().getTime() + 60_000)
  const tries = await Promise.all(Array.from({ length: 50 }, () => claimToken(service.system, key, endsAt)))
  expect(tries.filter(Boolean)).toHaveLength(1)
  await deleteExpiredRows(service.system, 'delete_expired_sign_ins')
  expect(await claimToken(service.system, key, endsAt)).toBe(false)
  service.clock.advance(60_000)
  await deleteExpiredRows(service.system, 'delete_expired_sign_ins')
  expect(await service.db.usedToken.count({ where: { key } })).toBe(0)
})
