import { Client } from 'pg'
import { expect, it } from 'vitest'
import { copyDatabase } from '../support/copy-database.ts'
import { startService } from '../support/service.ts'

it('shows the same time in a POST response, in reads, in lists, and in the database, in any time zone', async () => {
  const databaseUrl = await copyDatabase()
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = ''Asia/Tokyo''', current_database()); END $$`)
  const service = await startService({ DATABASE_URL: databaseUrl })
  const { id, key } = await service.make.organization()
  const assessment = await service.make.assessment(id)
  const v1 = service.v1(key)
  const { body: made } = await v1.post('/invites').send({ assessmentId: assessment.id, recipientEmail: 'sam@example.com' })
  const sentAt = service.clock.now().toISOString()
  expect(made.invite.sentAt).toBe(sentAt)
  const { body: read } = await v1.get(`/invites/${made.invite.id}`)
  expect(read.sentAt).toBe(sentAt)
  const { body: list } = await v1.get('/invites')
  expect(list.invites[0].sentAt).toBe(sentAt)
  const { body: revoked } = await v1.post(`/invites/${made.invite.id}/revoke`)
  expect(revoked.invite.sentAt).toBe(sentAt)
  const { rows } = await client.query('SELECT sent_at, updated_at FROM invites')
  expect(rows).toEqual([{ sent_at: new Date(sentAt), updated_at: new Date(sentAt) }])
  await client.end()
  await service.close()
})
