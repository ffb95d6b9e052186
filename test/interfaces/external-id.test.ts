import { describe, expect, it } from 'vitest'
import { recordAttempt } from '../../src/domain/invites/emails.ts'
import { readFeed } from '../support/events.ts'
import { signInAs } from '../support/portal.ts'
import { startReceiver } from '../support/receiver.ts'
import { startServiceForFile } from '../support/service.ts'
import { makeIntegrator, TO_LOOPBACK } from '../support/webhooks.ts'

const service = await startServiceForFile(TO_LOOPBACK)

const EXTERNAL_ID = 'Bewerbung #4711 – 応募 🎓'

async function start() {
  const { id: organizationId, key } = await service.make.organization()
  const { id: assessmentId } = await service.make.assessment(organizationId)
  const grader = await service.make.member(organizationId)
  const [v1, alternate] = [service.v1(key), service.alternate(key)]
  let count = 0
  /** Through v1. */
  const create = (fields: object = {}) =>
    v1.post('/invites').send({ assessmentId, recipientEmail: `candidate${++count}@example.com`, ...fields })
  /** Through the alternate interface. */
  const createThere = (fields: object = {}) =>
    alternate.post('/assessment_invites').send({
      email: `candidate${++count}@example.com`,
      assessment: assessmentId,
      question_play_limit: 1,
      answer_record_limit: 1,
      face_photo_required: false,
      id_photo_required: false,
      tags: [],
      assigned_grader: grader.id,
      ...fields,
    })
  return { organizationId, key, assessmentId, v1, alternate, create, createThere }
}

/** What both interfaces say of an invite, alone and in their lists. */
async function readAll({ v1, alternate }: Awaited<ReturnType<typeof start>>, id: string) {
  const listed = await v1.get('/invites')
  const there = await alternate.get('/assessment_invites')
  return {
    v1: [(await v1.get(`/invites/${id}`)).body, listed.body.invites.find((invite: { id: string }) => invite.id === id)],
    alternate: [
      (await alternate.get(`/assessment_invites/${id}`)).body,
      (await alternate.get(`/assessment_invites/${id}?depth=1`)).body,
      there.body.results.find((invite: { id: string }) => invite.id === id),
    ],
  }
}

describe('the external id of an invite', () => {
  it('given to v1 is shown wherever the invite is, in both interfaces', async () => {
    const made = await start()
    const { status, body } = await made.create({ externalId: EXTERNAL_ID })
    expect([status, body.invite.externalId]).toEqual([201, EXTERNAL_ID])
    const { v1, alternate } = await readAll(made, body.invite.id)
    expect(v1.map(({ externalId }) => externalId)).toEqual([EXTERNAL_ID, EXTERNAL_ID])
    expect(alternate.map(({ external_id }) => external_id)).toEqual([EXTERNAL_ID, EXTERNAL_ID, EXTERNAL_ID])
    const moved = await made.v1.post(`/invites/${body.invite.id}/extend`).send({ expiresInDays: 90 })
    expect(moved.body.invite.externalId).toBe(EXTERNAL_ID)
  })

  it('given to the alternate interface is shown wherever the invite is, in both interfaces', async () => {
    const made = await start()
    const { status, body } = await made.createThere({ external_id: EXTERNAL_ID })
    expect([status, body.external_id]).toEqual([201, EXTERNAL_ID])
    const { v1, alternate } = await readAll(made, body.id)
    expect(v1.map(({ externalId }) => externalId)).toEqual([EXTERNAL_ID, EXTERNAL_ID])
    expect(alternate.map(({ external_id }) => external_id)).toEqual([EXTERNAL_ID, EXTERNAL_ID, EXTERNAL_ID])
  })

  it.each([
    ['left out', {}, {}],
    ['null', { externalId: null }, { external_id: null }],
  ])('that is %s has no key in any answer', async (_what, fields, fieldsThere) => {
    const made = await start()
    const here = (await made.create(fields)).body.invite
    const there = (await made.createThere(fieldsThere)).body
    for (const id of [here.id, there.id]) {
      const { v1, alternate } = await readAll(made, id)
      for (const answer of [here, there, ...v1, ...alternate]) {
        expect(answer).not.toHaveProperty('externalId')
        expect(answer).not.toHaveProperty('external_id')
      }
    }
  })

  it.each(['x', 'x'.repeat(100), '🎓'.repeat(100), ' kept as it is '])('may be %j', async (externalId) => {
    const { create, createThere } = await start()
    expect((await create({ externalId })).body.invite.externalId).toBe(externalId)
    expect((await createThere({ external_id: externalId })).body.external_id).toBe(externalId)
  })

  it('may be that of several invites', async () => {
    const { create } = await start()
    expect((await create({ externalId: 'same' })).status).toBe(201)
    expect((await create({ externalId: 'same' })).status).toBe(201)
  })

  it('is the digits of a whole number in the alternate interface', async () => {
    const { createThere } = await start()
    expect((await createThere({ external_id: 4711 })).body.external_id).toBe('4711')
  })

  it.each([
    ['x'.repeat(101), 'externalId must be at most 100 characters long', 'Ensure this field has no more than 100 characters.'],
    ['', 'externalId must not be blank, nor contain NUL characters or unpaired surrogates', 'This field may not be blank.'],
    [' \n', 'externalId must not be blank, nor contain NUL characters or unpaired surrogates', 'This field may not be blank.'],
    [
      'a\0',
      'externalId must not be blank, nor contain NUL characters or unpaired surrogates',
      'Null characters are not allowed.',
    ],
    [1.5, 'externalId must be a string', 'Not a valid string.'],
    [2 ** 53, 'externalId must be a string', 'Not a valid string.'],
    [true, 'externalId must be a string', 'Not a valid string.'],
    [['x'], 'externalId must be a string', 'Not a valid string.'],
    [{}, 'externalId must be a string', 'Not a valid string.'],
  ])('is refused by its name when it is %j', async (value, error, text) => {
    const { create, createThere, organizationId } = await start()
    const here = await create({ externalId: value })
    expect([here.status, here.body]).toEqual([400, { error }])
    const there = await createThere({ external_id: value })
    expect([there.status, there.body]).toEqual([400, { external_id: [text] }])
    expect(await service.db.invite.count({ where: { organizationId } })).toBe(0)
  })

  it('is told by every event of the invite and of its mails; those of other invites have no such key', async () => {
    const { create, key, v1, organizationId } = await start()
    const named = (await create({ externalId: EXTERNAL_ID, sendEmail: false })).body.invite
    const other = (await create({ sendEmail: false })).body.invite
    for (const { id: inviteId } of [named, other]) {
      await v1.post(`/invites/${inviteId}/extend`).send({ expiresInDays: 90 })
      const now = service.clock.now()
      const email = { id: service.deps.newId(), organizationId, inviteId, linkVersion: 1, createdAt: now, updatedAt: now }
      await service.db.inviteEmail.create({ data: email })
      await recordAttempt(service.system, email, { state: 'sent' })
    }
    const { events } = await readFeed(service, key)
    const ofInvite = (id: string) => events.filter(({ data }) => data.inviteId === id)
    for (const { id } of [named, other])
      expect(ofInvite(id).map(({ type }) => type)).toEqual(['invite.created', 'invite.extended', 'email.sent'])
    for (const { data } of ofInvite(named.id)) expect(data.externalId).toBe(EXTERNAL_ID)
    for (const { data } of ofInvite(other.id)) expect(data).not.toHaveProperty('externalId')
  })

  it('is told to webhooks', async () => {
    const receiver = await startReceiver()
    const { subscribe, client, assessmentId } = await makeIntegrator(service)
    await subscribe(receiver)
    const body = { assessmentId, recipientEmail: 'sam@example.com', sendEmail: false, externalId: EXTERNAL_ID }
    expect((await client.post('/invites').send(body)).status).toBe(201)
    const [message] = await receiver.waitFor(1)
    expect(message?.event.data.externalId).toBe(EXTERNAL_ID)
  })

  it('is shown by the page of the invite, if it was given', async () => {
    const { create, organizationId } = await start()
    const { get, home } = await signInAs(service, organizationId, ['admin'])
    const [named, other] = [(await create({ externalId: '<b>4711</b>' })).body.invite, (await create()).body.invite]
    expect((await get(`${home}invites/${named.id}`)).text).toContain('<dt>External id</dt><dd>&lt;b&gt;4711&lt;/b&gt;</dd>')
    expect((await get(`${home}invites/${other.id}`)).text).not.toContain('External id')
  })

  it('goes over to the invite that takes the place of one with a mistyped address', async () => {
    const { create, organizationId } = await start()
    const { post, home } = await signInAs(service, organizationId, ['admin'])
    const { id } = (await create({ externalId: EXTERNAL_ID })).body.invite
    expect((await post(`${home}invites/${id}/replace`, { recipientEmail: 'right@example.com' })).status).toBe(303)
    const replacement = await service.db.invite.findFirst({ where: { organizationId, recipientEmail: 'right@example.com' } })
    expect(replacement?.externalId).toBe(EXTERNAL_ID)
  })
})
