import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { unknownId } from '../support/factories.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
  await service.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => service.close())
let by: Awaited<ReturnType<typeof createOrganization>>
beforeEach(async () => {
  by = await createOrganization()
})

async function createOrganization() {
  const { id, key } = await service.make.organization()
  const assessment = await service.make.assessment(id)
  const invite = (fields: object, idempotencyKey = 'retry-1') =>
    service
      .v1(key)
      .post('/invites')
      .set('Idempotency-Key', idempotencyKey)
      .send({ assessmentId: assessment.id, recipientEmail: 'sam@example.com', ...fields })
  const rows = async () => ({
    invites: await service.db.invite.count({ where: { organizationId: id } }),
    mails: await service.db.inviteEmail.count({ where: { organizationId: id } }),
    records: await service.db.idempotencyRecord.count({ where: { organizationId: id } }),
  })
  return { id, key, assessment, invite, rows }
}
const none = { invites: 0, mails: 0, records: 0 }

describe('a failed request with an Idempotency-Key', () => {
  const failures: [what: string, fields: object, status: number][] = [
    ['a field is wrong', { recipientEmail: 'none' }, 400],
    ['an ID is unknown', { tagIds: [unknownId] }, 400],
    ['the assessment is unknown', { assessmentId: unknownId }, 404],
  ]

  it.each(failures)('stores no record, so that the fixed request can use the same key: %s', async (_what, fields, status) => {
    for (let i = 0; i < 2; i++) {
      const failed = await by.invite(fields)
      expect([failed.status, failed.headers['idempotent-replayed']]).toEqual([status, undefined])
    }
    expect(await by.rows()).toEqual(none)
    const mended = await by.invite({})
    expect([mended.status, mended.headers['idempotent-replayed']]).toEqual([201, undefined])
    expect(await by.rows()).toEqual({ invites: 1, mails: 1, records: 1 })
  })

  it('stores no record for a 409, and links to the other invite each time', async () => {
    const { body } = await by.invite({}, 'first')
    for (let i = 0; i < 2; i++) {
      const { status, headers } = await by.invite({}, 'second')
      expect([status, headers.link]).toEqual([409, expect.stringContaining(`/invites/${body.invite.id}>; rel="existing"`)])
      expect(headers).not.toHaveProperty('idempotent-replayed')
    }
    expect(await by.rows()).toEqual({ invites: 1, mails: 1, records: 1 })
  })

  it('stores no record for a move that is not allowed yet', async () => {
    const invite = await service.make.invite(by.assessment)
    const reactivate = () => service.v1(by.key).post(`/invites/${invite.id}/reactivate`).set('Idempotency-Key', 'retry-1')
    expect((await reactivate()).status).toBe(409)
    await service.v1(by.key).post(`/invites/${invite.id}/revoke`)
    const { status, headers } = await reactivate()
    expect([status, headers['idempotent-replayed']]).toEqual([200, undefined])
  })

  it('passes the key to one of the waiting requests', async () => {
    // Each body is different, and only the database can tell which one is valid.
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, nth) => by.invite(nth === 5 ? {} : { assessmentId: crypto.randomUUID() })),
    )
    const byStatus = Object.groupBy(answers, ({ status }) => status)
    expect(byStatus[201]).toHaveLength(1)
    // Requests that came after the successful one use its key for another body: 422.
    expect((byStatus[404]?.length ?? 0) + (byStatus[422]?.length ?? 0)).toBe(9)
    expect(await by.rows()).toEqual({ invites: 1, mails: 1, records: 1 })
  })
})

describe('a stored response', () => {
  /** Makes transactions that insert into the table fail at their commit. @returns a function that ends this. */
  async function refuseCommits(table: string) {
    await service.db.$executeRaw`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN RAISE EXCEPTION 'refused at the commit'; END $$`
    await service.db.$executeRawUnsafe(`CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON ${table}
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()`)
    const allow = () => service.db.$executeRawUnsafe(`DROP TRIGGER IF EXISTS refuse ON ${table}`)
    onTestFinished(async () => void (await allow()))
    return allow
  }
  const jobs = async () => (await service.db.$queryRaw<object[]>`SELECT FROM pgboss.job WHERE name = 'invitation-email'`).length

  it.each(['idempotency_records', 'invites', 'invite_emails'])(
    'is rolled back with its row and mail if the commit fails by %s',
    async (table) => {
      const before = await jobs()
      const allow = await refuseCommits(table)
      const { status, body } = await by.invite({})
      expect([status, body]).toEqual([500, { error: 'Internal server error' }])
      expect([await by.rows(), await jobs()]).toEqual([none, before])

      await allow()
      const retried = await by.invite({})
      expect([retried.status, retried.headers['idempotent-replayed']]).toEqual([201, undefined])
      expect([await by.rows(), await jobs()]).toEqual([{ invites: 1, mails: 1, records: 1 }, before + 1])
    },
  )
})
