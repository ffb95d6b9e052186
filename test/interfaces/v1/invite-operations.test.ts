import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { violatedConstraint } from '../../../src/db/errors.ts'
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

describe('POST /invites/{id}/retake', () => {
  const terms = {
    recipientName: 'Sam',
    customMessage: 'Hello',
    answerRecordLimit: 7,
    externalId: 'ats-1',
    metadata: { job: 'a' },
  }

  it('invites who has completed it once more, with all that it says, and links the attempts', async () => {
    const { organizationId, client, assessment, invite } = await furnish({
      status: 'completed',
      completedAt: new Date(),
      ...terms,
    })
    const tag = await service.make.tag(organizationId)
    await client.patch(`/invites/${invite.id}`).send({ tagIds: [tag.id] })
    const before = (await client.get(`/invites/${invite.id}`)).body
    const { status, body, headers } = await client.post(`/invites/${invite.id}/retake`).send({ expiresInDays: 3 })
    const retake = body.invite
    const expiresAt = new Date(service.clock.now().getTime() + 3 * DAY_MS).toISOString()
    expect([status, retake]).toMatchObject([
      201,
      { retakeOf: invite.id, status: 'pending', recipientEmail: invite.recipientEmail, recipientName: 'Sam', expiresAt },
    ])
    expect(headers.location).toMatch(new RegExp(`/api/v1/invites/${retake.id}$`))
    expect((await client.get(`/invites/${retake.id}`)).body).toMatchObject({ retakeOf: invite.id, customMessage: 'Hello' })
    expect((await client.get(`/invites/${retake.id}/tags`)).body.tags).toMatchObject([{ id: tag.id }])
    expect((await client.get(`/invites/${invite.id}`)).body).toEqual(before)
    expect(before).not.toHaveProperty('retakeOf')
    const { body: list } = await client.get(`/invites?recipientEmail=${invite.recipientEmail}&order=asc`)
    expect(list.invites.map(({ id, retakeOf }: Record<string, string>) => [id, retakeOf])).toEqual([
      [invite.id, undefined],
      [retake.id, invite.id],
    ])
    const created = await service.db.event.findFirstOrThrow({ where: { organizationId, type: 'invite.created' } })
    expect(created.data).toMatchObject({ inviteId: retake.id, retakeOf: invite.id, externalId: 'ats-1' })
    expect(await service.db.inviteEmail.count({ where: { inviteId: retake.id } })).toBe(1)

    const again = await client.post(`/invites/${invite.id}/retake`)
    expect([again.status, again.headers['x-error-code'], again.headers.link]).toEqual([
      409,
      'duplicate_invite',
      expect.stringContaining(retake.id),
    ])
    const early = await client.post(`/invites/${retake.id}/retake`)
    expect([early.status, early.body]).toEqual([409, { error: 'The invite is pending and can not be taken again' }])
    await service.db.invite.update({ where: { id: retake.id }, data: { status: 'completed', completedAt: new Date() } })
    const third = await client.post(`/invites/${retake.id}/retake`).send({ sendEmail: false })
    expect([third.status, third.body.invite.retakeOf]).toEqual([201, retake.id])
    expect(await service.db.inviteEmail.count({ where: { inviteId: third.body.invite.id } })).toBe(0)

    const documented = await client.post('/invites').send({ assessmentId: assessment.id, recipientEmail: invite.recipientEmail })
    expect([documented.status, documented.body, documented.headers.link]).toEqual([
      409,
      { error: 'An invite for this email and assessment already exists' },
      expect.stringContaining(third.body.invite.id),
    ])
  })

  it('makes one of many that are asked for at once', async () => {
    const { client, invite, assessment } = await furnish({ status: 'completed', completedAt: new Date() })
    const answers = await Promise.all(Array.from({ length: 8 }, async () => await client.post(`/invites/${invite.id}/retake`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)])
    expect(await service.db.invite.count({ where: { assessmentId: assessment.id } })).toBe(2)
  })

  it('leaves to processes of a release before what they know: one invite for an address, by a constraint of that name', async () => {
    const { client, invite } = await furnish({ status: 'completed', completedAt: new Date() })
    expect((await client.post(`/invites/${invite.id}/retake`)).status).toBe(201)
    const [{ columns }] = await service.db.$queryRawUnsafe<[{ columns: string }]>(
      "SELECT string_agg(quote_ident(column_name), ', ') AS columns FROM information_schema.columns WHERE table_name = 'invites' AND column_name NOT IN ('id', 'attempt')",
    )
    const asBefore = service.db.$executeRawUnsafe(
      `INSERT INTO invites (id, ${columns}) SELECT gen_random_uuid(), ${columns} FROM invites WHERE id = '${invite.id}'`,
    )
    expect(violatedConstraint(await asBefore.catch((error) => error))).toBe('invites_recipient_key')
  })

  it('leaves out a grader who may not grade any more', async () => {
    const { organizationId, client, invite } = await furnish({ status: 'completed', completedAt: new Date() })
    const grader = await service.make.member(organizationId)
    await client.patch(`/invites/${invite.id}`).send({ assignedGraderId: grader.id })
    await service.db.member.update({ where: { id: grader.id }, data: { status: 'inactive' } })
    const { status, body } = await client.post(`/invites/${invite.id}/retake`)
    expect(status).toBe(201)
    expect((await client.get(`/invites/${body.invite.id}`)).body.assignedGrader).toBe(null)
  })
})
