import type { Test } from 'supertest'
import { expect, it } from 'vitest'
import { sql } from '../../src/db/builder.ts'
import { rawStatement } from '../../src/db/statements.ts'
import { withSignal } from '../../src/db/transact.ts'
import { signInAs } from '../support/portal.ts'
import { startServiceForFile, startServiceForTest } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

const service = await startServiceForFile({ ROLE: 'api' })

const countRunning = async (like: string) => {
  const [{ running }] = await service.db.$queryRaw<[{ running: number }]>`
    SELECT count(*)::int AS running FROM pg_stat_activity
    WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid() AND query LIKE ${like}`
  return running
}

it('cancels a statement in PostgreSQL when its client disconnects, and reuses the connection', async () => {
  const disconnect = new AbortController()
  const sleeping = rawStatement(withSignal(service.db, disconnect.signal), sql`SELECT pg_sleep(50)`).execute()
  const refused = expect(sleeping).rejects.toMatchObject({ code: '57014' })
  await waitUntil('the statement to run', async () => (await countRunning('%pg_sleep(50)')) || undefined)
  disconnect.abort()
  await refused
  expect(await countRunning('%pg_sleep(50)')).toBe(0)
})

const SEARCHES = {
  'v1, by the recipient': ({ v1 }: Asks) => v1('recipient=candidate'),
  'v1, by letters of the recipient': ({ v1 }: Asks) => v1('recipient=e'),
  'the alternate interface': ({ alternate }: Asks) => alternate('search=example.com'),
  'the alternate interface, by letters': ({ alternate }: Asks) => alternate('search=e'),
  'the portal': ({ portal }: Asks) => portal('search=example.com'),
  'the portal, by letters': ({ portal }: Asks) => portal('search=e'),
}
type Asks = Record<'v1' | 'alternate' | 'portal', (query: string) => Test>

it.each(Object.entries(SEARCHES))('cancels the abandoned search in %s', async (_where, search) => {
  const own = await startServiceForTest({ ROLE: 'api' })
  const organization = await own.make.organization()
  await own.make.invite(await own.make.assessment(organization.id))
  const admin = await signInAs(own, organization.id, ['admin'])
  const request = search({
    v1: (query) => own.v1(organization.key).get(`/invites?${query}`),
    alternate: (query) => own.alternate(organization.key).get(`/assessment_invites?${query}`),
    portal: (query) => admin.get(`${admin.home}invites?${query}`),
  })
  // Slows down each read of invites to 50 s.
  await own.db.$executeRaw`ALTER TABLE invites RENAME TO real_invites`
  await own.db.$executeRaw`CREATE VIEW invites AS SELECT real_invites.* FROM real_invites, LATERAL (SELECT pg_sleep(50)) AS slow`
  const searching = async () => {
    const [{ running }] = await own.db.$queryRaw<[{ running: number }]>`
      SELECT count(*)::int AS running FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`
    return running
  }
  request.end(() => {})
  await waitUntil('the search to run', async () => (await searching()) || undefined)
  request.abort()
  // The limit is shorter than the search.
  await waitUntil('it to be canceled', async () => (await searching()) === 0 || undefined, 30_000)
})
