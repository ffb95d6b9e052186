import pg from 'pg'
import { expect, it } from 'vitest'
import { deleteExpiredDeliveries } from '../../../src/domain/webhooks/delete-expired-deliveries.ts'
import { DAY_MS } from '../../support/factories.ts'
import { recordQueries } from '../../support/queries.ts'
import { startServiceForTest } from '../../support/service.ts'
import { makeIntegrator } from '../../support/webhooks.ts'

it('deletes deliveries after 30 days, and those of a deleted webhook with it, in short statements', async () => {
  const service = await startServiceForTest({ ROLE: 'api' }) // sends no deliveries and runs no sweep
  const own = await makeIntegrator(service)
  const [kept, deleted] = [
    await own.subscribe({ url: 'https://a.example.com' }),
    await own.subscribe({ url: 'https://b.example.com' }),
  ]
  const fill = (endpointId: string, count: number, age: number) => service.db.$executeRaw`
    INSERT INTO webhook_deliveries (organization_id, endpoint_id, event_id, queued_at, next_attempt_at)
    SELECT ${own.id}::uuid, ${endpointId}::uuid, gen_random_uuid(), ${new Date(service.clock.now().getTime() - age)}, now()
    FROM generate_series(1, ${count}::int)`
  await fill(kept.id, 2_500, 30 * DAY_MS)
  await fill(kept.id, 7, 29 * DAY_MS)
  await fill(deleted.id, 2_500, 0)
  await service.db.$executeRaw`
    INSERT INTO webhook_attempts SELECT organization_id, endpoint_id, event_id, 1, now(), 5, 500, '', '' FROM webhook_deliveries`
  await own.client.delete(deleted.path)
  await deleteExpiredDeliveries(service.system, 90)
  expect(await service.db.webhookDelivery.groupBy({ by: ['endpointId'], _count: true })).toEqual([
    { endpointId: kept.id, _count: 7 },
  ])
  expect(await service.db.webhookAttempt.count()).toBe(7)
  expect(await service.db.webhookEndpoint.findMany({ select: { id: true } })).toEqual([{ id: kept.id }])
})

it('reads no delivery younger than the retention period, however many there are', async () => {
  const service = await startServiceForTest({ ROLE: 'api' })
  const own = await makeIntegrator(service)
  const { id } = await own.subscribe({ url: 'https://a.example.com' })
  await service.db.$executeRaw`
    INSERT INTO webhook_deliveries (organization_id, endpoint_id, event_id, queued_at, next_attempt_at)
    SELECT ${own.id}::uuid, ${id}::uuid, gen_random_uuid(), ${service.clock.now()}, now() FROM generate_series(1, 20000)`
  const client = new pg.Client(service.databaseUrl)
  await client.connect()
  await client.query('VACUUM ANALYZE webhook_deliveries')
  const { queries } = await recordQueries(() => deleteExpiredDeliveries(service.system, 90))
  const { text, values } = queries.find((query) => query.text.includes('delete from "webhook_deliveries"'))!
  const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values)
  await client.end()
  const { Plan: plan } = rows[0]['QUERY PLAN'][0]
  expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(50)
})
