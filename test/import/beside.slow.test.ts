import { Client } from 'pg'
import { v7 as newId } from 'uuid'
import { expect, onTestFinished, test } from 'vitest'
import { importDocument } from '../../src/import/import-document.ts'
import { readDocument } from '../../src/import/read-document.ts'
import { type Service, startServiceForTest } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'
import { documentOf, uniqueName } from './document.ts'

// An import concurrent with other imports, and with a service that answers requests and sends mails.

const load = ({ system }: Service, document: unknown) => importDocument(system, readDocument(document))
const invitesTo = (assessmentId: string, count: number, fields: object = {}) =>
  Array.from({ length: count }, (_, i) => ({ assessmentId, recipientEmail: `candidate${i}@example.com`, ...fields }))

test('creates the rows of a document once for two concurrent imports', async () => {
  const service = await startServiceForTest()
  const assessmentId = newId()
  const invites = invitesTo(assessmentId, 1_500)
  const document = documentOf({ tags: [{ name: 'T' }], assessments: [{ id: assessmentId, name: 'A' }], invites })
  let waits = 0
  const onWait = () => void waits++
  const imports = [1, 2, 3].map(() => importDocument(service.system, readDocument(document), { onWait }))
  const summaries = await Promise.all(imports)
  const created = summaries.map(({ counts }) => counts.invites.created)
  expect(created.sort()).toEqual([0, 0, 1_500])
  expect(waits).toBeGreaterThan(0)
  expect(await service.db.organization.count()).toBe(1)
})

test('creates shared languages once for concurrent imports of different organizations', async () => {
  const service = await startServiceForTest()
  const documents = [1, 2, 3].map(() => documentOf({ assessments: [{ name: 'A', languages: ['xx', 'yy', 'zz'] }] }))
  await Promise.all(documents.map((document) => load(service, document)))
  expect(await service.db.language.count()).toBe(3)
  expect(await service.db.organization.count()).toBe(3)
})

test('loads a document while the service lists, invites, and sends for the same organization', async () => {
  const service = await startServiceForTest()
  const [assessmentId, key, name] = [newId(), `ak_live_${newId().replaceAll('-', '')}`, uniqueName()]
  const document = (customMessage: string) => ({
    organizations: [
      {
        name,
        tags: [{ name: 'T' }],
        apiKeys: [{ name: 'ATS', key }],
        assessments: [{ id: assessmentId, name: 'A', clientIds: [] }],
        invites: invitesTo(assessmentId, 2_500, { customMessage }),
      },
    ],
  })
  await load(service, document('first'))
  const statuses = new Set<number>()
  let done = false
  const importing = load(service, document('second')).finally(() => {
    done = true
  })
  let made = 0
  while (!done) {
    const recipientEmail = `new${made++}@example.com`
    const invited = await service.v1(key).post('/invites').send({ assessmentId, recipientEmail })
    const listed = await service.v1(key).get('/invites?status=pending')
    const tagged = await service.alternate(key).get('/tags')
    for (const { status } of [invited, listed, tagged]) statuses.add(status)
  }
  expect((await importing).counts.invites).toEqual({ created: 0, updated: 2_500, unchanged: 0 })
  expect([...statuses].sort()).toEqual([200, 201])
  const { total } = (await service.v1(key).get('/invites')).body.pagination
  expect(total).toBe(2_500 + made)
  const sent = () => service.db.inviteEmail.count({ where: { state: 'captured' } })
  await waitUntil('all mails to be captured', async () => (await sent()) === made || undefined)
})

test('lists due invites as expired during an import, without waiting for its end', async () => {
  const service = await startServiceForTest()
  const [assessmentId, tagId, key, name] = [newId(), newId(), `ak_live_${newId().replaceAll('-', '')}`, uniqueName()]
  const expiresAt = new Date(service.clock.now().getTime() + 3_600_000).toISOString()
  const document = (fields: object) => ({
    organizations: [
      {
        name,
        apiKeys: [{ name: 'ATS', key }],
        tags: [{ id: tagId, name: 'T' }],
        assessments: [{ id: assessmentId, name: 'A' }],
        invites: invitesTo(assessmentId, 3, { expiresAt, ...fields }),
      },
    ],
  })
  await load(service, document({}))
  service.clock.advance(7_200_000)
  // The import writes tags last, so blocking them keeps the changed invites locked.
  await service.db.$executeRawUnsafe(`
    CREATE FUNCTION wait_for_99() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0
    AS $$ BEGIN PERFORM pg_advisory_xact_lock(99); RETURN NULL; END $$`)
  await service.db.$executeRawUnsafe(`
    CREATE TRIGGER wait_for_99 AFTER INSERT ON invite_tags FOR EACH STATEMENT EXECUTE FUNCTION wait_for_99()`)
  const holder = new Client({ connectionString: service.databaseUrl })
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('SELECT pg_advisory_lock(99)')
  const importing = load(service, document({ customMessage: 'changed', tagIds: [tagId] }))
  const isWaiting = async () => {
    const [row] = await service.db.$queryRaw<{ count: number }[]>`
      SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database()`
    return row!.count > 0 || undefined
  }
  await waitUntil('the import to write tags', isWaiting)
  const { status, body } = await service.v1(key).get('/invites?status=expired')
  expect({ status, total: body.pagination?.total }).toEqual({ status: 200, total: 3 })
  await holder.query('SELECT pg_advisory_unlock(99)')
  expect((await importing).counts.invites.updated).toBe(3)
})

test('reports the import with its keys, even if the connection holding its lock was lost', async () => {
  const service = await startServiceForTest()
  const organizations = ['First', 'Second'].map((word) => ({ name: service.make.unique(word), apiKeys: [{ name: 'Made' }] }))
  let isBroken = false
  const summary = await importDocument(service.system, readDocument({ organizations }), {
    async onProgress() {
      if (isBroken) return
      isBroken = true
      await service.db
        .$executeRaw`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = 72707370 AND pid <> pg_backend_pid()`
    },
  })
  expect(summary.organizations.map(({ name }) => name)).toEqual(organizations.map(({ name }) => name))
  expect(summary.generatedKeys).toHaveLength(2)
})
