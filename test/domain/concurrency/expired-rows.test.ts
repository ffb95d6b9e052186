import { expect, it } from 'vitest'
import { deleteExpiredRows, EXPIRED_ROWS } from '../../../src/domain/concurrency/expired-rows.ts'
import { SWEEP_PARTS } from '../../../src/domain/ports/metrics.ts'
import { DAY_MS } from '../../support/factories.ts'
import { startServiceForFile } from '../../support/service.ts'

// Without the sweep: the test runs it itself.
const service = await startServiceForFile({ ROLE: 'api' })

const deleteAll = async () => {
  for (const part of SWEEP_PARTS) await deleteExpiredRows(service.system, part)
}

it('deletes rows of every table at their age, and not before', async () => {
  const now = service.clock.now()
  const { id: organizationId } = await service.make.organization()
  const { db, deps } = service
  const [mail, token, attempt] = [deps.newId(), deps.newId(), Buffer.from(deps.newId())]
  await db.mailEvent.create({
    data: { id: mail, provider: 'dsn', eventId: mail, body: Buffer.from(''), receivedAt: now },
  })
  await db.idempotencyRecord.create({ data: { organizationId, key: 'key', fingerprint: Buffer.from(''), createdAt: now } })
  const expiresAt = new Date(now.getTime() + DAY_MS)
  await db.usedToken.create({ data: { key: token, expiresAt } })
  await db.signInAttempt.create({ data: { key: attempt, count: 1, expiresAt } })
  const left = () =>
    Promise.all([
      db.mailEvent.count({ where: { id: mail } }),
      db.idempotencyRecord.count({ where: { organizationId } }),
      db.usedToken.count({ where: { key: token } }),
      db.signInAttempt.count({ where: { key: attempt } }),
    ])

  service.clock.advance(DAY_MS - 1)
  await deleteAll()
  expect(await left()).toEqual([1, 1, 1, 1])
  service.clock.advance(1)
  await deleteAll()
  expect(await left()).toEqual([1, 0, 0, 0])
  service.clock.advance((EXPIRED_ROWS.mailEvents.days - 1) * DAY_MS)
  await deleteAll()
  expect(await left()).toEqual([0, 0, 0, 0])
})
