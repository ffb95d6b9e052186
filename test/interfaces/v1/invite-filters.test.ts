import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unknownId } from '../../support/factories.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
let made: Awaited<ReturnType<typeof setUp>>
beforeAll(async () => {
  service = await startService()
  made = await setUp()
})
afterAll(() => service.close())

/** Invites Sam and Kim to two assessments. Sam's first invite and both of Kim's have a tag. */
async function setUp() {
  const { id: organizationId, key } = await service.make.organization()
  const assessments = [await service.make.assessment(organizationId), await service.make.assessment(organizationId)] as const
  const tag = await service.make.tag(organizationId)
  const names: Record<string, string> = {}
  const invite = async (name: string, nth: 0 | 1, data: object, tagged: boolean) => {
    service.clock.advance(1_000)
    const { id } = await service.make.invite(assessments[nth], data)
    names[id] = name
    if (tagged) await service.db.inviteTag.create({ data: { organizationId, inviteId: id, tagId: tag.id, position: 0 } })
  }
  await invite('sam 1', 0, { recipientEmail: 'Sam.O@example.com' }, true)
  await invite('sam 2', 1, { recipientEmail: 'sam.o@EXAMPLE.com', status: 'completed' }, false)
  await invite('kim 1', 0, { recipientEmail: 'kim@example.com', status: 'completed' }, true)
  await invite('kim 2', 1, { recipientEmail: 'kim@example.com', expiresAt: new Date(service.clock.now().getTime() - 1) }, true)
  await invite('wildcard', 0, { recipientEmail: 'samXo@example.com' }, false)
  return { client: service.v1(key), names, tagId: tag.id, assessmentId: assessments[0].id }
}

async function list(query: string) {
  const { status, body } = await made.client.get(`/invites?${query}`)
  if (status !== 200) return body
  expect(body.pagination.total).toBe(body.invites.length)
  return body.invites.map(({ id }: { id: string }) => made.names[id])
}

describe('GET /invites', () => {
  it.each([
    ['recipientEmail=sam.o@example.com', ['sam 2', 'sam 1']],
    ['recipientEmail=SAM.O@Example.com&order=asc', ['sam 1', 'sam 2']],
    ['recipientEmail=sam.o@example.com&status=completed', ['sam 2']],
    ['recipientEmail=kim@example.com&status=expired', ['kim 2']],
    ['recipientEmail=kim@example.com&status=pending', []],
    ['recipientEmail=nobody@example.com', []],
    ['recipientEmail=sam_o@example.com', []],
    ['recipientEmail=sam', { error: 'recipientEmail is not a valid email address' }],
    ['recipientEmail=', { error: 'recipientEmail is not a valid email address' }],
    ['statuses=completed,expired', ['kim 2', 'kim 1', 'sam 2']],
    ['statuses=completed,pending&order=asc', ['sam 1', 'sam 2', 'kim 1', 'wildcard']],
    ['statuses=pending,completed,pending&sort=status', ['wildcard', 'sam 1', 'kim 1', 'sam 2']],
    ['statuses=completed,expired&status=expired', ['kim 2']],
    ['statuses=completed,expired&recipientEmail=kim@example.com', ['kim 2', 'kim 1']],
    ['statuses=', ['wildcard', 'kim 2', 'kim 1', 'sam 2', 'sam 1']],
    ['statuses=none', { error: 'statuses.0 must be one of pending, accepted, started, completed, expired, revoked' }],
    ...['sentFrom', 'sentTo', 'expiresFrom', 'expiresTo', 'updatedSince'].flatMap((name) =>
      ['', 'x', '2026-03-02', '2026-13-02T00:00:00Z', '0000-01-01T00:00:00Z'].map((text): [string, object] => [
        `${name}=${text}`,
        { error: `${name} must be a time like 2026-03-02T09:30:00Z` },
      ]),
    ),
    ['tagId=x', { error: 'tagId must be a UUID' }],
    [`tagId=${unknownId}`, []],
  ])('returns the matching invites or the error for ?%s', async (query, expected) => {
    expect(await list(query)).toEqual(expected)
  })

  it('returns invites with the tag, combined with every other filter', async () => {
    const { tagId, assessmentId } = made
    expect(await list(`tagId=${tagId}`)).toEqual(['kim 2', 'kim 1', 'sam 1'])
    expect(await list(`tagId=${tagId.toUpperCase()}&assessmentId=${assessmentId}`)).toEqual(['kim 1', 'sam 1'])
    expect(await list(`tagId=${tagId}&status=completed`)).toEqual(['kim 1'])
    expect(await list(`tagId=${tagId}&status=expired`)).toEqual(['kim 2'])
    expect(await list(`tagId=${tagId}&recipientEmail=sam.o@example.com`)).toEqual(['sam 1'])
    expect(await list(`tagId=${tagId}&sort=status&order=asc`)).toEqual(['kim 1', 'kim 2', 'sam 1'])
  })

  it('returns several statuses of an assessment or with a tag', async () => {
    const { tagId, assessmentId } = made
    expect(await list(`statuses=completed,expired&assessmentId=${assessmentId}`)).toEqual(['kim 1'])
    expect(await list(`statuses=completed,expired&tagId=${tagId}`)).toEqual(['kim 2', 'kim 1'])
    expect(await list(`statuses=completed,expired&tagId=${tagId}&assessmentId=${assessmentId}`)).toEqual(['kim 1'])
  })

  it('returns invites that were sent, expire, or changed within a time', async () => {
    const { client } = made
    const { body } = await client.get('/invites?order=asc')
    const [, second, third] = body.invites as { sentAt: string; expiresAt: string }[]
    expect(await list(`sentFrom=${second!.sentAt}&sentTo=${third!.sentAt}`)).toEqual(['sam 2'])
    expect(await list(`sentFrom=${third!.sentAt}&order=asc`)).toEqual(['kim 1', 'kim 2', 'wildcard'])
    expect(await list(`expiresFrom=${second!.expiresAt}&expiresTo=${third!.expiresAt}`)).toEqual(['sam 2'])
    expect(await list(`updatedSince=${third!.sentAt}`)).toEqual(['wildcard', 'kim 1'])
  })

  it('paginates filtered invites', async () => {
    const { tagId, client } = made
    for (const page of [1, 2, 3, 4]) {
      const { body } = await client.get(`/invites?statuses=pending,completed&limit=1&page=${page}`)
      expect([body.pagination.total, ...body.invites.map(({ id }: { id: string }) => made.names[id])]).toEqual([
        4,
        ['wildcard', 'kim 1', 'sam 2', 'sam 1'][page - 1],
      ])
    }
    const { body, headers } = await client.get(`/invites?tagId=${tagId}&limit=2&page=2`)
    expect(body.invites.map(({ id }: { id: string }) => made.names[id])).toEqual(['sam 1'])
    expect(body.pagination).toEqual({ page: 2, limit: 2, total: 3, totalPages: 2 })
    expect(headers.link).toContain(`limit=2&page=1&tagId=${tagId}>; rel="prev"`)
  })
})
