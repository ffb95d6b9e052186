import { expect, it, onTestFinished } from 'vitest'
import { signInAs } from '../support/portal.ts'
import { openTestDatabase, startProcess } from '../support/processes.ts'
import { startServiceForTest } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

it('continues an import within seconds after its process was killed for the fifth time', async () => {
  const database = await openTestDatabase()
  onTestFinished(() => database.db.$disconnect())
  const { id: organizationId } = await database.make.organization()
  const gate = await startServiceForTest({ DATABASE_URL: database.url, ROLE: 'api' })
  const admin = await signInAs(gate, organizationId, ['admin'])
  const upload = gate.http().post(`${admin.home}questions/imports`).set('cookie', admin.cookie()!)
  const answer = await upload.set('sec-fetch-site', 'same-origin').attach('file', Buffer.from('Who?{=Ann}'), 'one.txt')
  await admin.post(`${answer.headers.location}/start`)
  const lost = await database.db.$executeRaw`
    UPDATE pgboss.job SET state = 'active', started_on = now(), heartbeat_on = now() - interval '7 seconds', retry_count = 4
    WHERE name = 'library-import'`
  expect(lost).toBe(1)
  await startProcess({ DATABASE_URL: database.url })
  // A job that has failed five times waits for 80 to 160 s.
  const isDone = () => database.db.libraryImport.findFirst({ where: { organizationId, finishedAt: { not: null } } })
  await waitUntil('the import', async () => (await isDone()) ?? undefined, 60_000)
})
