import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Context, enterOrganization } from '../../../src/domain/context.ts'
import { expireAllDueInvites } from '../../../src/domain/invites/expire-due-invites.ts'
import { INVITE_STATUSES } from '../../../src/domain/invites/invites.ts'
import { countInvites } from '../../../src/domain/invites/listing/count-matches.ts'
import { type Button, candidateOf, prepare } from '../../support/candidate.ts'
import { DAY_MS } from '../../support/factories.ts'
import { scaled } from '../../support/scale.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
  await service.app.listen({ port: 0, host: '127.0.0.1' }) // so that concurrent requests share one server
})
afterAll(() => service.close())

type World = Awaited<ReturnType<typeof setUp>>
type Step = (world: World, pick: <T>(from: T[]) => T | undefined) => Promise<unknown>

async function setUp() {
  const { id, key } = await service.make.organization()
  const assessments = [await service.make.assessment(id), await service.make.assessment(id)]
  const rows = () => service.db.invite.findMany({ where: { organizationId: id } })
  return { organizationId: id, key, assessments, rows }
}

const operate =
  (move: string, body = {}): Step =>
  async ({ key, rows }, pick) => {
    const invite = pick(await rows())
    if (invite) await service.v1(key).post(`/invites/${invite.id}/${move}`).send(body)
  }
const press =
  (button: Button): Step =>
  async ({ rows }, pick) => {
    const invite = pick(await rows())
    if (invite) await candidateOf(service, invite).press(button)
  }

/** All changes that affect counts, through the service and directly in the database. */
const steps: Record<string, Step> = {
  create: ({ key, assessments }, pick) =>
    service
      .v1(key)
      .post('/invites')
      .send(newInvite(pick(assessments)!.id)),
  'create one that is there already': async ({ key, rows }, pick) => {
    const invite = pick(await rows())
    if (invite)
      await service
        .v1(key)
        .post('/invites')
        .send({ ...newInvite(invite.assessmentId), recipientEmail: invite.recipientEmail })
  },
  accept: press('accept'),
  start: async (rows, pick) => {
    const invite = pick((await rows.rows()).filter(({ status }) => status === 'accepted'))
    if (!invite) return
    await prepare(service, invite).catch(() => {}) // fails if a concurrent step prepares or deletes it
    await candidateOf(service, invite).press('start')
  },
  finish: press('finish'),
  decline: press('decline'),
  revoke: operate('revoke'),
  reactivate: operate('reactivate', { expiresInDays: 5 }),
  extend: operate('extend', { expiresInDays: 60 }),
  resend: operate('resend'),
  'let days pass': async () => service.clock.advance(4 * DAY_MS),
  list: ({ key }) => service.v1(key).get('/invites'),
  sweep: () => expireAllDueInvites(service.system),
  'insert many at once': async ({ organizationId, assessments }) => {
    const [first, second] = [await service.make.invite(assessments[0]!), await service.make.invite(assessments[1]!)]
    await service.db.$executeRaw`
      INSERT INTO invites SELECT (jsonb_populate_record(i, jsonb_build_object('id', gen_random_uuid(), 'recipient_email', gen_random_uuid()))).*
      FROM invites i, generate_series(1, 3) WHERE i.organization_id = ${organizationId}::uuid AND i.id IN (${first.id}::uuid, ${second.id}::uuid)`
  },
  'move some to the other assessment': ({ organizationId, assessments: [one, other] }) =>
    service.db.invite.updateMany({
      where: { organizationId, assessmentId: one!.id, status: 'revoked' },
      data: { assessmentId: other!.id },
    }),
  'delete one': async ({ rows }, pick) => {
    const invite = pick(await rows())
    if (invite) await service.db.invite.deleteMany({ where: { id: invite.id } })
  },
  'change some and think better of it': ({ organizationId, assessments }) =>
    service.db
      .$transaction(async (tx) => {
        await tx.invite.updateMany({ where: { organizationId }, data: { status: 'revoked' } })
        await tx.invite.deleteMany({ where: { organizationId, assessmentId: assessments[0]!.id } })
        throw new Error('rolled back')
      })
      .catch(() => {}),
}

const newInvite = (assessmentId: string) => ({
  assessmentId,
  recipientEmail: `${service.make.unique('c').replace(' ', '')}@example.com`,
  expiresInDays: 5,
})

/** Reads each count twice: as the service shows it, and by counting rows. */
async function readCounts({ organizationId, key, assessments, rows }: World) {
  const shown: Record<string, number> = {}
  const counted: Record<string, number> = {}
  const list = (await service.v1(key).get('/assessments')).body.assessments as { id: string; inviteCount: number }[]
  // Comes before reading the rows, because lists expire due invites.
  const filters = [undefined, ...assessments.map(({ id }) => id)].flatMap((assessmentId) =>
    [undefined, ...INVITE_STATUSES].map((status) => ({ assessmentId, status })),
  )
  for (const { assessmentId, status } of filters) {
    const query = new URLSearchParams({ limit: '1', ...(assessmentId && { assessmentId }), ...(status && { status }) })
    shown[`GET /invites?${query}`] = (await service.v1(key).get(`/invites?${query}`)).body.pagination.total
  }
  const all = await rows()
  for (const { assessmentId, status } of filters) {
    const query = new URLSearchParams({ limit: '1', ...(assessmentId && { assessmentId }), ...(status && { status }) })
    const matches = (row: (typeof all)[0]) =>
      (!assessmentId || row.assessmentId === assessmentId) && (!status || row.status === status)
    counted[`GET /invites?${query}`] = all.filter(matches).length
  }
  for (const { id, inviteCount } of list) {
    shown[`inviteCount of ${id}`] = inviteCount
    counted[`inviteCount of ${id}`] = all.filter(({ assessmentId }) => assessmentId === id).length
  }
  expect(list).toHaveLength(assessments.length)
  const overview = await service.alternate(key).get('/assessment_invites?page_size=1')
  Object.assign(shown, { alternate: overview.body.count })
  Object.assign(counted, { alternate: (await rows()).length })
  const kept = await service.db.organizationInviteCount.aggregate({ where: { organizationId }, _sum: { count: true } })
  Object.assign(shown, { kept: kept._sum.count ?? 0 })
  Object.assign(counted, { kept: all.length })
  return { shown, counted }
}

it('counts the invites correctly after any history, four steps at a time', async () => {
  const step = fc.record({ name: fc.constantFrom(...Object.keys(steps)), nth: fc.nat() })
  const histories = fc.array(fc.array(step, { minLength: 4, maxLength: 4 }), { minLength: 6, maxLength: 10 })
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const world = await setUp()
      await steps['insert many at once']!(world, (from) => from[0])
      for (const together of history) {
        await Promise.all(together.map(({ name, nth }) => steps[name]!(world, (from) => from[nth % from.length])))
        const { shown, counted } = await readCounts(world)
        expect(shown).toEqual(counted)
      }
    }),
    { numRuns: scaled(2, 8) },
  )
})

it('counts thirty invites created at once for one assessment', async () => {
  const { key, assessments } = await setUp()
  const { id } = assessments[0]!
  const answers = await Promise.all(Array.from({ length: 30 }, () => service.v1(key).post('/invites').send(newInvite(id))))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(30)
  const { body } = await service.v1(key).get(`/assessments/${id}`)
  expect(body.inviteCount).toBe(30)
})

it("makes no transaction wait for another one's counts", async () => {
  const { organizationId, assessments } = await setUp()
  const { id, metadata: _, ...template } = await service.make.invite(assessments[0]!)
  const another = () => ({ ...template, id: service.deps.newId(), recipientEmail: newInvite(id).recipientEmail })
  await service.db.$transaction(async (tx) => {
    await tx.invite.create({ data: another() })
    await service.db.invite.create({ data: another() })
  })
  const counts = await service.db.assessmentInviteCount.findMany({ where: { organizationId }, orderBy: { slot: 'asc' } })
  expect(counts.map(({ slot, status, count }) => [slot, status, count])).toEqual([
    [0, 'pending', 2],
    [1, 'pending', 1],
  ])
})

it('deletes an organization with its counts', async () => {
  const world = await setUp()
  const { organizationId, assessments } = world
  await service.make.invite(assessments[0]!)
  await service.db.organization.delete({ where: { id: organizationId } })
  expect(await service.db.organizationInviteCount.count({ where: { organizationId } })).toBe(0)
  expect(await service.db.assessmentInviteCount.count({ where: { organizationId } })).toBe(0)
})

it('expires thousands of invites at the same instant for concurrent lists', async () => {
  const { organizationId, key, assessments } = await setUp()
  const { id } = await service.make.invite(assessments[0]!)
  await service.db.$executeRaw`
    INSERT INTO invites SELECT (jsonb_populate_record(i, jsonb_build_object('id', gen_random_uuid(), 'recipient_email', n || '@example.com'))).*
    FROM invites i, generate_series(1, 4999) n WHERE i.id = ${id}::uuid`
  service.clock.advance(31 * DAY_MS)
  const lists = await Promise.all(
    ['expired', 'pending', 'expired'].map((status) => service.v1(key).get(`/invites?status=${status}`)),
  )
  expect(lists.map(({ body }) => body.pagination.total)).toEqual([5_000, 0, 5_000])
  expect(await service.db.invite.count({ where: { organizationId, status: 'expired' } })).toBe(5_000)
})

it('leaves a due invite pending when counting, and expires it when listing', async () => {
  const { organizationId, key, assessments, rows } = await setUp()
  await service.make.invite(assessments[0]!, { expiresAt: service.clock.now() })
  const organization = await service.db.organization.findUniqueOrThrow({ where: { id: organizationId } })
  const ctx: Context = enterOrganization({ ...service.system, actor: { kind: 'operator' } }, organization, 'live')
  expect(await countInvites(ctx, {})).toBeNull()
  expect(await rows()).toMatchObject([{ status: 'pending' }])
  expect((await service.v1(key).get('/invites?status=expired')).body.pagination.total).toBe(1)
  expect(await countInvites(ctx, { status: 'expired' })).toBe(1)
})

it('resets the counts when all invites are truncated', async () => {
  const { assessments } = await setUp()
  await service.make.invite(assessments[0]!)
  await service.db.$executeRaw`TRUNCATE invites CASCADE`
  expect(await service.db.organizationInviteCount.count()).toBe(0)
  expect(await service.db.assessmentInviteCount.count()).toBe(0)
})
