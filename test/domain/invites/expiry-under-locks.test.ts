import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Connection } from '../../../src/db/client.ts'
import { expireAllDueInvites } from '../../../src/domain/invites/expire-due-invites.ts'
import { DAY_MS } from '../../support/factories.ts'
import { type Service, startService } from '../../support/service.ts'
import { itSlow } from '../../support/slow.ts'
import { PATIENT, waitUntil } from '../../support/wait-until.ts'

let service: Service
beforeAll(async () => {
  service = await startService({ ROLE: 'api' }) // runs no sweep by itself
  await service.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => service.close())
beforeEach(() => service.clock.advance(60_000)) // so that no invite of an earlier test expires at the same instant

type Item = { id: string; status: string; updated_at: string }

/** Creates an organization with `size` pending invites that all expire at the same instant. */
async function makeCampaign(size: number) {
  const { id: organizationId, key } = await service.make.organization()
  const assessment = await service.make.assessment(organizationId)
  const expiresAt = new Date(service.clock.now().getTime() + DAY_MS)
  const { id } = await service.make.invite(assessment, { expiresAt })
  for (let made = 1; made < size; made += 1_000)
    await service.db.$executeRaw`
      INSERT INTO invites SELECT (jsonb_populate_record(i, jsonb_build_object('id', gen_random_uuid(), 'recipient_email', n || '@example.com'))).*
      FROM invites i, generate_series(${made}::int, ${Math.min(size, made + 1_000) - 1}::int) n WHERE i.id = ${id}::uuid`
  return { organizationId, key, assessment, expiresAt, inviteId: id, size }
}

/** Runs `work` while another transaction locks the invite. */
async function whileLocked(inviteId: string, work: (tx: Connection) => Promise<void>): Promise<void> {
  await service.db.$transaction(
    async (tx) => {
      await tx.$executeRaw`SELECT FROM invites WHERE id = ${inviteId}::uuid FOR UPDATE`
      await work(tx)
    },
    { timeout: PATIENT.timeout },
  )
}

const countStored = (organizationId: string, status: 'expired' | 'pending') =>
  service.db.invite.count({ where: { organizationId, status } })

describe('a due invite that another transaction has locked', () => {
  it('delays the expiry of no other invite', async () => {
    const one = await makeCampaign(3)
    const other = await makeCampaign(2)
    service.clock.set(other.expiresAt)
    await whileLocked(one.inviteId, async () => {
      expect(await expireAllDueInvites(service.system)).toBe(4)
      expect(await countStored(one.organizationId, 'pending')).toBe(1)
    })
    expect(await expireAllDueInvites(service.system)).toBe(1)
  })

  it('is shown, filtered, counted, and sorted as expired in every list', async () => {
    const { key, assessment, expiresAt, inviteId } = await makeCampaign(3)
    const completed = await service.make.invite(assessment, { status: 'completed', expiresAt })
    const revoked = await service.make.invite(assessment, { status: 'revoked', expiresAt })
    service.clock.set(expiresAt)
    const v1 = async (query: string) => {
      const { status, body } = await service.v1(key).get(`/invites?${query}`)
      expect(status).toBe(200)
      return { total: body.pagination.total as number, items: body.invites as Item[] }
    }
    await whileLocked(inviteId, async () => {
      for (const query of ['status=pending', `status=pending&assessmentId=${assessment.id}`])
        expect(await v1(query)).toEqual({ total: 0, items: [] })
      for (const query of ['status=expired', `status=expired&assessment_id=${assessment.id}`]) {
        const { total, items } = await v1(query)
        expect([total, items.map(({ status }) => status)]).toEqual([3, ['expired', 'expired', 'expired']])
        expect(items.map(({ id }) => id)).toContain(inviteId)
      }
      const { total, items } = await v1('sort=status&order=asc')
      expect([total, items[0]!.id, items.at(-1)!.id]).toEqual([5, completed.id, revoked.id])
      expect((await v1('sort=status&order=asc&limit=2&page=2')).items.map(({ status }) => status)).toEqual(['expired', 'expired'])
      expect((await v1('page=9')).items).toEqual([])

      const { body } = await service.alternate(key).get('/assessment_invites?page=last')
      const { body: single } = await service.alternate(key).get(`/assessment_invites/${inviteId}`)
      expect(body.count).toBe(5)
      expect(body.results.find(({ id }: Item) => id === inviteId)).toEqual(single)
      expect(single.status).toBe('expired')
    })
    expect((await v1('status=expired')).total).toBe(3)
    expect((await service.db.invite.findUnique({ where: { id: inviteId } }))?.status).toBe('expired')
  })
})

it("never waits for a locked invite while a list holds others, so that two lists can't deadlock", async () => {
  const { key, expiresAt, inviteId: first, organizationId } = await makeCampaign(2)
  const { id: second } = await service.db.invite.findFirstOrThrow({ where: { organizationId, NOT: { id: first } } })
  service.clock.set(expiresAt)
  let list: Promise<{ status: number }> | undefined
  await whileLocked(second, async (tx) => {
    list = Promise.resolve(service.v1(key).get('/invites?status=expired'))
    await waitUntil('the list to be answered, or to wait', async () => {
      const answered = await Promise.race([list, Promise.resolve(undefined)])
      const waiting = await service.db.$queryRaw<object[]>`
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      return answered !== undefined || waiting.length > 0 || undefined
    })
    await tx.$executeRaw`UPDATE invites SET updated_at = updated_at WHERE id = ${first}::uuid`
  })
  expect((await list)?.status).toBe(200)
})

it('expires due invites once for ten concurrent lists', async () => {
  const { organizationId, key, expiresAt, size } = await makeCampaign(2_500)
  await service.db.$executeRaw`CREATE TABLE flips (n serial)`
  await service.db.$executeRaw`CREATE FUNCTION note_flip() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN INSERT INTO flips DEFAULT VALUES; RETURN NULL; END $$`
  await service.db.$executeRaw`CREATE TRIGGER note_flip AFTER UPDATE ON invites FOR EACH STATEMENT EXECUTE FUNCTION note_flip()`
  service.clock.set(expiresAt)
  const list = () => service.v1(key).get('/invites?status=expired&limit=1')
  const answers = await Promise.all(Array.from({ length: 10 }, list))
  await service.db.$executeRaw`DROP TRIGGER note_flip ON invites`
  expect(answers.map(({ status, body }) => [status, body.pagination?.total])).toEqual(Array(10).fill([200, size]))
  expect(await countStored(organizationId, 'expired')).toBe(size)
  // Two batches of a thousand rows, and possibly an empty one.
  const [{ statements }] = await service.db.$queryRaw<[{ statements: number }]>`SELECT count(*)::int AS statements FROM flips`
  expect(statements).toBeLessThan(5)
})

itSlow('expires all invites due at the same instant despite concurrent sweeps and lists', async () => {
  const { organizationId, key, expiresAt, size } = await makeCampaign(5_000)
  service.clock.set(expiresAt)
  const list = async () => (await service.v1(key).get('/invites?status=expired&limit=1')).body.pagination?.total
  const sweep = () => expireAllDueInvites(service.system)
  const [, one, flipped, other] = await Promise.all([sweep(), list(), sweep(), list()])
  expect([one, other]).toEqual([size, size])
  expect(flipped).toBeLessThanOrEqual(size)
  expect(await countStored(organizationId, 'expired')).toBe(size)
})
