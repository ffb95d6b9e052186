import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Context, enterOrganization } from '../../../src/domain/context.ts'
import { tagInvite, untagInvite } from '../../../src/domain/invites/change-invite.ts'
import { expireAllDueInvites } from '../../../src/domain/invites/expire-due-invites.ts'
import { INVITE_STATUSES, wholeInvite } from '../../../src/domain/invites/invites.ts'
import type { InviteFilter, InviteOrder } from '../../../src/domain/invites/listing/invite-filter.ts'
import { listInvites } from '../../../src/domain/invites/listing/list-invites.ts'
import { listMatches } from '../../../src/domain/invites/listing/list-matches.ts'
import { reactivateInvite, revokeInvite } from '../../../src/domain/invites/operate-invite.ts'
import { DAY_MS } from '../../support/factories.ts'
import { scaled } from '../../support/scale.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

async function setUp() {
  const { id, key } = await service.make.organization()
  const assessment = await service.make.assessment(id)
  const tagIds = [(await service.make.tag(id)).id, (await service.make.tag(id)).id]
  const organization = await service.db.organization.findUniqueOrThrow({ where: { id } })
  const ctx: Context = enterOrganization({ ...service.system, actor: { kind: 'operator' } }, organization, 'live')
  const create = (tags: string[]) =>
    service
      .v1(key)
      .post('/invites')
      .send({
        assessmentId: assessment.id,
        recipientEmail: `${service.make.unique('c').replace(' ', '')}@example.com`,
        tagIds: tags,
      })
  for (const tags of [tagIds, tagIds.slice(0, 1), tagIds.slice(1), []]) expect((await create(tags)).status).toBe(201)
  return { ctx, tagIds, create }
}

type World = Awaited<ReturnType<typeof setUp>>
type Step = (world: World, inviteId: string, tagId: string) => Promise<unknown>

/** All changes of tags and of the order of invites, through the service and directly in the database. */
const steps: Record<string, Step> = {
  create: ({ create }, _, tagId) => create([tagId]),
  tag: ({ ctx }, inviteId, tagId) => tagInvite(ctx, inviteId, tagId),
  untag: ({ ctx }, inviteId, tagId) => untagInvite(ctx, inviteId, tagId),
  revoke: ({ ctx }, inviteId) => revokeInvite(ctx, inviteId),
  reactivate: ({ ctx }, inviteId) => reactivateInvite(ctx, inviteId, { expiresInDays: 7 }),
  complete: (_, id) =>
    service.db.invite.updateMany({ where: { id }, data: { status: 'completed', completedAt: service.clock.now() } }),
  'extend all': ({ ctx }) =>
    service.db
      .$executeRaw`UPDATE invites SET expires_at = expires_at + interval '1 day' WHERE organization_id = ${ctx.organization.id}::uuid`,
  'tag past the service': ({ ctx }, inviteId, tagId) =>
    service.db.inviteTag.createMany({
      data: [{ organizationId: ctx.organization.id, inviteId, tagId, position: 7 }],
      skipDuplicates: true,
    }),
  'think better of a tag': ({ ctx }, _, tagId) =>
    service.db
      .$transaction(async (tx) => {
        await tx.inviteTag.deleteMany({ where: { organizationId: ctx.organization.id, tagId } })
        throw new Error('rolled back')
      })
      .catch(() => {}),
  delete: (_, id) => service.db.invite.deleteMany({ where: { id } }),
  'delete the tag': (_, __, id) => service.db.tag.deleteMany({ where: { id } }),
  'let days pass': async () => service.clock.advance(4 * DAY_MS),
  sweep: () => expireAllDueInvites(service.system),
}
/** Steps that run rarely, because otherwise no tagged invites would remain. */
const RARE = ['delete', 'delete the tag']

const name = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...Object.keys(steps).filter((step) => !RARE.includes(step))) },
  { weight: 1, arbitrary: fc.constantFrom(...RARE) },
)
const step = fc.record({ name, invite: fc.nat(), tag: fc.nat() })

/** Runs a step. Ignores rejections: the invite or the tag may be deleted, or the move not allowed. */
async function runStep(world: World, { name, invite, tag }: { name: string; invite: number; tag: number }): Promise<void> {
  const { ctx, tagIds } = world
  const rows = await service.db.invite.findMany({ where: { organizationId: ctx.organization.id }, select: { id: true } })
  const inviteId = rows[invite % Math.max(1, rows.length)]?.id
  if (inviteId) await steps[name]!(world, inviteId, tagIds[tag % tagIds.length]!).catch(() => {})
}

/** Compares a page read from the tag's index with the page read from all invites of the organization. */
async function compare(ctx: Context, filter: InviteFilter, order: InviteOrder, page: { number: number; size: number }) {
  const kept = await listInvites(ctx, wholeInvite, filter, order, page)
  const read = await listMatches(ctx, wholeInvite, filter, order, page)
  const idsOf = ({ total, items }: typeof kept) => ({ total, ids: items.map(({ id }) => id) })
  expect(idsOf(kept), JSON.stringify({ filter, order, page })).toEqual(idsOf(read))
}

/** Three orders with an index, and one without. */
const orders: InviteOrder[] = [
  { field: 'sentAt', direction: 'desc' },
  { field: 'status', direction: 'asc' },
  { field: 'expiresAt', direction: 'desc' },
  { field: 'createdAt', direction: 'asc' },
]

it('lists the invites with a tag correctly after any history', async () => {
  const histories = fc.array(fc.array(step, { minLength: 3, maxLength: 3 }), { minLength: 6, maxLength: 10 })
  await fc.assert(
    fc.asyncProperty(histories, fc.constantFrom(...INVITE_STATUSES), async (history, status) => {
      const world = await setUp()
      const filters = world.tagIds.flatMap((tagId) => [{ tagId }, { tagId, status }])
      const cases = filters.flatMap((filter) => orders.map((order) => ({ filter, order })))
      for (const together of history) {
        await Promise.all(together.map((one) => runStep(world, one)))
        for (const { filter, order } of cases) await compare(world.ctx, filter, order, { number: 1, size: 100 })
      }
    }),
    { numRuns: scaled(2, 5) },
  )
})

it('finds the last page, and one far from both ends', async () => {
  const { ctx, tagIds } = await setUp()
  const [tagId] = tagIds as [string, string]
  const invite = await service.db.invite.findFirst({ where: { organizationId: ctx.organization.id } })
  await service.db.$executeRaw`
    WITH made AS (
      INSERT INTO invites SELECT (jsonb_populate_record(i, jsonb_build_object('id', gen_random_uuid(), 'recipient_email', n || '@example.com',
        'sent_at', i.sent_at + n * interval '1 second'))).*
      FROM invites i, generate_series(1, 1200) n WHERE i.id = ${invite!.id}::uuid RETURNING id
    )
    INSERT INTO invite_tags (organization_id, invite_id, tag_id, position)
    SELECT ${ctx.organization.id}::uuid, id, ${tagId}::uuid, 0 FROM made`
  const order = { field: 'sentAt', direction: 'desc' } as const
  for (const number of [51, 60, 62]) await compare(ctx, { tagId }, order, { number, size: 20 })
  const last = await listInvites(ctx, wholeInvite, { tagId }, order, { number: 'last', size: 20 })
  expect(last).toMatchObject({ total: 1_202, page: 61 })
  expect(last.items).toHaveLength(2)
})

it('resets the counts when all tags are truncated', async () => {
  await setUp()
  await service.db.$executeRaw`TRUNCATE invite_tags`
  expect(await service.db.tagInviteCount.count()).toBe(0)
})
