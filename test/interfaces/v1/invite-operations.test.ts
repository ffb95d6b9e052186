import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DAY_MS } from '../../support/factories.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

/** An organization with an invite in that state. */
async function furnish(data: object = {}) {
  const { id: organizationId, key } = await service.make.organization()
  const assessment = await service.make.assessment(organizationId)
  const invite = await service.make.invite(assessment, data)
  const client = service.v1(key)
  const find = () => service.db.invite.findUniqueOrThrow({ where: { id: invite.id }, include: { tags: true } })
  const told = async () => {
    const events = await service.db.event.findMany({ where: { organizationId }, orderBy: { id: 'asc' } })
    return events.map(({ type, data }) => [type, (data as { changes?: object }).changes])
  }
  const change = (body: object) => client.patch(`/invites/${invite.id}`).send(body)
  return { organizationId, key, client, assessment, invite, find, told, change }
}

describe('PATCH /invites/{id}', () => {
  it('changes all that is given of a pending invite, and tells of it', async () => {
    const { organizationId, invite, find, told, change } = await furnish()
    const [grader, one, two] = [
      await service.make.member(organizationId),
      await service.make.tag(organizationId),
      await service.make.tag(organizationId),
    ]
    const texts = { recipientName: 'Kim', customMessage: 'Hello', questionReplayLimit: 4, answerRecordLimit: 5 }
    const { status, body } = await change({ ...texts, expiresInDays: 3, assignedGraderId: grader.id, tagIds: [one.id, two.id] })
    const expiresAt = new Date(service.clock.now().getTime() + 3 * DAY_MS)
    expect([status, body]).toMatchObject([
      200,
      {
        invite: {
          id: invite.id,
          ...{ ...texts, expiresAt: expiresAt.toISOString() },
          assignedGrader: { id: grader.id },
        },
      },
    ])
    expect(await find()).toMatchObject({ ...texts, expiresAt, tags: [{ tagId: one.id }, { tagId: two.id }] })
    expect(await told()).toMatchObject([
      ['invite.updated', { corrected: Object.keys(texts) }],
      ['invite.updated', { expiresAt: { after: expiresAt.toISOString() } }],
      ['invite.updated', { assignedGraderId: { before: null, after: grader.id } }],
      ['invite.updated', { tagIds: { added: [one.id, two.id], removed: [] } }],
    ])
    const left = await change({ tagIds: [two.id.toUpperCase()], assignedGraderId: null })
    expect([left.status, (await find()).tags.map(({ tagId }) => tagId), left.body.invite.assignedGrader]).toEqual([
      200,
      [two.id],
      null,
    ])
    const before = await told()
    expect((await change({ ...texts, tagIds: [two.id], assignedGraderId: null })).status).toBe(200)
    expect(await told()).toEqual(before)
  })

  it.each([
    ['accepted', { recipientName: 'Late' }, 'recipientName can be changed only while the invite is pending; it is accepted'],
    ['started', { answerRecordLimit: 9 }, 'answerRecordLimit can be changed only while the invite is pending; it is started'],
    ['started', { expiresInDays: 9 }, 'The invite is started and can not be extended'],
  ])('says what can not be changed of an invite that is %s, and changes nothing of it: %o', async (status, edits, error) => {
    const { organizationId, find, change, told } = await furnish({ status })
    const tag = await service.make.tag(organizationId)
    const before = await find()
    const refused = await change({ tagIds: [tag.id], ...edits })
    expect([refused.status, refused.body, refused.headers['x-error-code']]).toEqual([409, { error }, 'move_not_allowed'])
    expect([await find(), await told()]).toEqual([before, []])
    expect((await change({ tagIds: [tag.id], recipientName: before.recipientName })).status).toBe(200)
    expect((await find()).tags).toHaveLength(1)
  })

  it.each<[body: object, error: string]>([
    [
      {},
      'At least one of recipientName, customMessage, questionReplayLimit, answerRecordLimit, expiresInDays, assignedGraderId, tagIds is required',
    ],
    [{ expiresInDays: 0 }, 'expiresInDays must be a positive integer'],
    [{ questionReplayLimit: null }, 'questionReplayLimit must be a positive integer'],
    [{ recipientName: 'x'.repeat(201) }, 'recipientName must be at most 200 characters long'],
    [{ tagIds: ['x'] }, 'tagIds.0 must be a UUID'],
    [{ assignedGraderId: 'x' }, 'assignedGraderId must be a UUID'],
  ])('answers 400 to %o', async (body, error) => {
    const { change } = await furnish()
    expect(await change(body)).toMatchObject({ status: 400, body: { error } })
  })
})
