import { expect, it } from 'vitest'
import { type Db, queryRows } from '../../src/db/client.ts'
import { Prisma } from '../../src/generated/prisma/client.ts'
import { startServiceForFile } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

const service = await startServiceForFile({ ROLE: 'api' })

const countRunning = async (like: string) => {
  const [{ running }] = await service.db.$queryRaw<[{ running: number }]>`
    SELECT count(*)::int AS running FROM pg_stat_activity
    WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid() AND query LIKE ${like}`
  return running
}

it('are stopped in PostgreSQL when who asked has gone, and the connection serves others', async () => {
  let go = () => {}
  const sleeping = queryRows(service.db as Db, Prisma.sql`SELECT pg_sleep(50)`, (tell) => {
    go = tell
    return () => {}
  })
  const refused = expect(sleeping).rejects.toMatchObject({ code: '57014' })
  await waitUntil('the statement to run', async () => (await countRunning('%pg_sleep(50)')) || undefined)
  go()
  await refused
  expect(await countRunning('%pg_sleep(50)')).toBe(0)
})
