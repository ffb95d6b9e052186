import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../support/processes.ts'
import { runCli } from './run-cli.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.db.$disconnect())
beforeEach(async () => {
  await database.db.inviteEmail.deleteMany()
  await database.db.$executeRaw`DELETE FROM pgboss.job`
})

/** Inserts failed mails. @returns their ids, oldest first. */
async function failMails({ db, deps, make }: TestDatabase, count: number): Promise<string[]> {
  const { id: organizationId } = await make.organization()
  const { id: inviteId } = await make.invite(await make.assessment(organizationId))
  const now = new Date()
  const mail = { organizationId, inviteId, linkVersion: 1, state: 'failed' as const, createdAt: now, updatedAt: now }
  const ids = Array.from({ length: count }, () => deps.newId())
  await db.inviteEmail.createMany({ data: ids.map((id) => ({ ...mail, id })) })
  return ids
}

/** Returns the ids of queued mails, and expects one job for each. No worker runs in this test. */
async function findQueued({ db }: TestDatabase): Promise<string[]> {
  const jobs = await db.$queryRaw<{ id: string }[]>`
    SELECT data->>'emailId' AS id FROM pgboss.job WHERE name = 'invitation-email' AND state = 'created' ORDER BY 1`
  const mails = await db.inviteEmail.findMany({ where: { state: 'queued' }, orderBy: { id: 'asc' }, select: { id: true } })
  expect(jobs).toEqual(mails)
  return jobs.map(({ id }) => id)
}

const retryAll = () => runCli(['mail', 'retry', '--all', '--json'], { DATABASE_URL: database.url })

test('queues thousands of failed mails with mail retry --all', async () => {
  const failed = await failMails(database, 6_000)
  const { code, stdout, stderr } = await retryAll()
  expect({ code, stderr, stdout }).toEqual({ code: 0, stderr: '', stdout: '{\n  "queued": 6000\n}\n' })
  expect(await findQueued(database)).toEqual(failed)
})

test("keeps queued mails with mail retry --all if a later one can't be queued", async () => {
  const { db } = database
  const failed = await failMails(database, 2_500)
  await db.$executeRawUnsafe(
    `ALTER TABLE invite_emails ADD CONSTRAINT stuck CHECK (id <> '${failed.at(-1)}' OR state = 'failed')`,
  )
  const first = await retryAll()
  expect(first.code).toBe(1)
  const queued = await findQueued(database)
  expect(queued.length).toBeGreaterThan(0)
  expect(queued).toEqual(failed.slice(0, queued.length))

  await db.$executeRawUnsafe('ALTER TABLE invite_emails DROP CONSTRAINT stuck')
  expect((await retryAll()).code).toBe(0)
  expect(await findQueued(database)).toEqual(failed)
})

test('lists, shows, and retries mails to members like those to candidates', async () => {
  const { db, deps, make, url } = database
  const [candidates] = await failMails(database, 1)
  const { id: organizationId, name } = await make.organization()
  const { id: memberId, email } = await make.member(organizationId)
  const now = new Date()
  const link = { id: deps.newId(), organizationId, memberId, kind: 'join' as const, createdAt: now, expiresAt: now }
  await db.accountLink.create({ data: link })
  const failed = { state: 'failed', failure: 'given_up', reason: 'away', createdAt: now, updatedAt: now } as const
  const ids = [deps.newId(), deps.newId()]
  const mail = { organizationId, memberId, linkId: link.id, kind: 'join', ...failed }
  await db.memberEmail.createMany({ data: ids.map((id) => ({ ...mail, id })) })
  const run = async (...args: string[]) => JSON.parse((await runCli(['mail', ...args, '--json'], { DATABASE_URL: url })).stdout)

  const listed = await run('list', '--state', 'failed')
  expect(listed).toMatchObject([
    { id: ids[1], memberId, kind: 'join', recipientEmail: email, organization: name, reason: 'away' },
    { id: ids[0] },
    { id: candidates, inviteId: expect.any(String) },
  ])
  expect(await run('show', ids[0]!)).toMatchObject({ id: ids[0], headers: { To: expect.stringContaining(email) } })
  expect(await run('retry', ids[0]!)).toEqual({ queued: 1 })
  expect(await run('retry', '--all')).toEqual({ queued: 2 })
  const jobs = await db.$queryRaw<{ id: string }[]>`
    SELECT data->>'emailId' AS id FROM pgboss.job WHERE name = 'member-email' AND state = 'created' ORDER BY 1`
  expect(jobs.map(({ id }) => id)).toEqual(ids)
  expect(await db.memberEmail.count({ where: { state: 'failed' } })).toBe(0)
})
