import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Context, enterOrganization } from '../../../src/domain/context.ts'
import { wholeInvite } from '../../../src/domain/invites/invites.ts'
import { countInvites, findDistantIds } from '../../../src/domain/invites/listing/count-matches.ts'
import { listInvites } from '../../../src/domain/invites/listing/list-invites.ts'
import { type Service, startService } from '../../support/service.ts'

const MANY = 2_600
let service: Service
let key: string
let organizationId: string
let assessmentId: string
beforeAll(async () => {
  service = await startService()
  ;({ id: organizationId, key } = await service.make.organization())
  const assessments = [await service.make.assessment(organizationId), await service.make.assessment(organizationId)]
  assessmentId = assessments[1]!.id
  const { id } = await service.make.invite(assessments[0]!)
  // Ten invites share each time, so that ids decide most of the order. Every other invite belongs to the second assessment.
  await service.db.$executeRaw`
    INSERT INTO invites
    SELECT (jsonb_populate_record(i, jsonb_build_object('id', gen_random_uuid(), 'recipient_email', n || '@example.com',
      'assessment_id', CASE WHEN n % 2 = 0 THEN ${assessmentId} ELSE i.assessment_id::text END,
      'status', (enum_range(NULL::invite_status))[n % 6 + 1], 'sent_at', i.sent_at - (n / 10) * interval '1 minute',
      'created_at', i.created_at - (n / 7) * interval '1 minute', 'expires_at', i.expires_at + (n / 3) * interval '1 minute'))).*
    FROM invites i, generate_series(2, ${MANY}) n WHERE i.id = ${id}::uuid`
})
afterAll(() => service.close())

const context = () => enterOrganization(service.system, { id: organizationId }, 'live') as Context
const seen = async (path: string) => {
  const { body } = await service.v1(key).get(path)
  return body.invites.map(({ id }: { id: string }) => id) as string[]
}

it.each(
  ['sent_at', 'status', 'expires_at'].flatMap((sort) =>
    (['asc', 'desc'] as const).flatMap((order) =>
      ['', `&status=accepted`, '&assessmentId='].map((filter) => [sort, order, filter] as const),
    ),
  ),
)('shows each invite once over all pages, near and distant, by %s %s%s', async (sort, order, filter) => {
  const query = `sort=${sort}&order=${order}${filter}${filter.endsWith('=') ? assessmentId : ''}`
  const { body: first } = await service.v1(key).get(`/invites?limit=100&${query}`)
  const { total, totalPages } = first.pagination
  const pages: string[] = []
  for (let page = 1; page <= totalPages; page++) pages.push(...(await seen(`/invites?limit=100&page=${page}&${query}`)))
  expect(new Set(pages).size).toBe(total)
  const where = {
    organizationId,
    ...(filter.startsWith('&status') && { status: 'accepted' as const }),
    ...(filter.startsWith('&assessment') && { assessmentId }),
  }
  const field = { sent_at: 'sentAt', status: 'status', expires_at: 'expiresAt' }[sort]!
  const rows = await service.db.invite.findMany({ where, orderBy: [{ [field]: order }, { id: order }], select: { id: true } })
  expect(pages).toEqual(rows.map(({ id }) => id))
})

it('shows the same distant page after rows are added at the end', async () => {
  const order = { field: 'createdAt', direction: 'asc' } as const
  const window = { skip: 2_000, take: 20 }
  const total = (await countInvites(context(), {}))!
  const before = await findDistantIds(context(), {}, order, window, total)
  const { id, metadata: _, ...template } = await service.db.invite.findFirstOrThrow({ where: { organizationId } })
  const createdAt = new Date(service.clock.now().getTime() + 1_000)
  const another = { ...template, id: service.deps.newId(), recipientEmail: `${id}@example.com`, createdAt }
  await service.db.invite.create({ data: another })
  expect(before).toHaveLength(20)
  expect(await findDistantIds(context(), {}, order, window, total)).toEqual(before)
})

it('ends the last page where the list ends, and shows nothing beyond it', async () => {
  const order = { field: 'sentAt', direction: 'desc' } as const
  const total = (await countInvites(context(), {}))!
  expect(await findDistantIds(context(), {}, order, { skip: total - 3, take: 20 }, total)).toHaveLength(3)
  expect(await findDistantIds(context(), {}, order, { skip: total + 3, take: 20 }, total + 10)).toHaveLength(0)
})

it("shows a grader's assigned invites once over all pages, in each order, and up to the end", async () => {
  const { id: assignedGraderId } = await service.make.member(organizationId)
  const assigned = { organizationId, recipientEmail: { endsWith: '7@example.com' } }
  const { count: total } = await service.db.invite.updateMany({ where: assigned, data: { assignedGraderId } })
  const ctx: Context = { ...context(), actor: { kind: 'operator' } }
  for (const field of ['sentAt', 'status', 'expiresAt', 'createdAt'] as const)
    for (const direction of ['asc', 'desc'] as const) {
      const list = async (number: number | 'last') => {
        const page = { number, size: 50 }
        const { items, ...rest } = await listInvites(ctx, wholeInvite, { assignedGraderId }, { field, direction }, page)
        return { ...rest, ids: items.map(({ id }) => id) }
      }
      const rows = await service.db.invite.findMany({
        where: { assignedGraderId },
        orderBy: [{ [field]: direction }, { id: direction }],
      })
      const ids = rows.map(({ id }) => id)
      const pages = await Promise.all([1, 2, 3, 4, 5, 6, 7].map(list))
      expect(pages.flatMap((page) => page.ids)).toEqual(ids)
      expect(pages.map((page) => page.total)).toEqual(Array(7).fill(total))
      expect(await list('last')).toEqual({ ids: ids.slice(250), total, page: 6, pageSize: 50 })
    }
})
