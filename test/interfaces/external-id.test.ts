import { describe, expect, it } from 'vitest'
import { recordEmailAttempt } from '../../src/domain/invites/emails.ts'
import { readFeed } from '../support/events.ts'
import { signInAs } from '../support/portal.ts'
import { startReceiver } from '../support/receiver.ts'
import { startServiceForFile } from '../support/service.ts'
import { makeInviter, readEverywhere } from '../support/two-interfaces.ts'
import { makeIntegrator, TO_LOOPBACK } from '../support/webhooks.ts'

const service = await startServiceForFile(TO_LOOPBACK)

const EXTERNAL_ID = 'Bewerbung #4711 – 応募 🎓'

const start = () => makeInviter(service)
type Made = Awaited<ReturnType<typeof start>>

describe('the external id of an invite', () => {
  it('is shown in both interfaces everywhere if set in v1', async () => {
    const made = await start()
    const { status, body } = await made.create({ externalId: EXTERNAL_ID })
    expect([status, body.invite.externalId]).toEqual([201, EXTERNAL_ID])
    const { v1, alternate } = await readEverywhere(made, body.invite.id)
    expect(v1.map(({ externalId }) => externalId)).toEqual([EXTERNAL_ID, EXTERNAL_ID])
    expect(alternate.map(({ external_id }) => external_id)).toEqual([EXTERNAL_ID, EXTERNAL_ID, EXTERNAL_ID])
    const moved = await made.v1.post(`/invites/${body.invite.id}/extend`).send({ expiresInDays: 90 })
    expect(moved.body.invite.externalId).toBe(EXTERNAL_ID)
  })

  it('is shown in both interfaces everywhere if set in the alternate interface', async () => {
    const made = await start()
    const { status, body } = await made.createThere({ external_id: EXTERNAL_ID })
    expect([status, body.external_id]).toEqual([201, EXTERNAL_ID])
    const { v1, alternate } = await readEverywhere(made, body.id)
    expect(v1.map(({ externalId }) => externalId)).toEqual([EXTERNAL_ID, EXTERNAL_ID])
    expect(alternate.map(({ external_id }) => external_id)).toEqual([EXTERNAL_ID, EXTERNAL_ID, EXTERNAL_ID])
  })

  it.each([
    ['left out', {}, {}],
    ['null', { externalId: null }, { external_id: null }],
  ])('is absent from all responses if it is %s', async (_what, fields, fieldsThere) => {
    const made = await start()
    const here = (await made.create(fields)).body.invite
    const there = (await made.createThere(fieldsThere)).body
    for (const id of [here.id, there.id]) {
      const { v1, alternate } = await readEverywhere(made, id)
      for (const answer of [here, there, ...v1, ...alternate]) {
        expect(answer).not.toHaveProperty('externalId')
        expect(answer).not.toHaveProperty('external_id')
      }
    }
  })

  it.each(['x', 'x'.repeat(100), '🎓'.repeat(100), ' kept as it is '])('can be %j', async (externalId) => {
    const { create, createThere } = await start()
    expect((await create({ externalId })).body.invite.externalId).toBe(externalId)
    expect((await createThere({ external_id: externalId })).body.external_id).toBe(externalId)
  })

  it('can be the same for several invites', async () => {
    const { create } = await start()
    expect((await create({ externalId: 'same' })).status).toBe(201)
    expect((await create({ externalId: 'same' })).status).toBe(201)
  })

  it('can be a whole number in the alternate interface', async () => {
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
  ])('is rejected by its field name if it is %j', async (value, error, text) => {
    const { create, createThere, organizationId } = await start()
    const here = await create({ externalId: value })
    expect([here.status, here.body]).toEqual([400, { error }])
    const there = await createThere({ external_id: value })
    expect([there.status, there.body]).toEqual([400, { external_id: [text] }])
    expect(await service.db.invite.count({ where: { organizationId } })).toBe(0)
  })

  it('is part of every event of its invite and mails, and absent from others', async () => {
    const { create, key, v1, organizationId } = await start()
    const named = (await create({ externalId: EXTERNAL_ID, sendEmail: false })).body.invite
    const other = (await create({ sendEmail: false })).body.invite
    for (const { id: inviteId } of [named, other]) {
      await v1.post(`/invites/${inviteId}/extend`).send({ expiresInDays: 90 })
      const now = service.clock.now()
      const email = { id: service.deps.newId(), organizationId, inviteId, linkVersion: 1, createdAt: now, updatedAt: now }
      await service.db.inviteEmail.create({ data: email })
      await recordEmailAttempt(service.system, email, { state: 'sent' })
    }
    const { events } = await readFeed(service, key)
    const ofInvite = (id: string) => events.filter(({ data }) => data.inviteId === id)
    for (const { id } of [named, other])
      expect(ofInvite(id).map(({ type }) => type)).toEqual(['invite.created', 'invite.extended', 'email.sent'])
    for (const { data } of ofInvite(named.id)) expect(data.externalId).toBe(EXTERNAL_ID)
    for (const { data } of ofInvite(other.id)) expect(data).not.toHaveProperty('externalId')
  })

  it('is sent to webhooks', async () => {
    const receiver = await startReceiver()
    const { subscribe, client, assessmentId } = await makeIntegrator(service)
    await subscribe(receiver)
    const body = { assessmentId, recipientEmail: 'sam@example.com', sendEmail: false, externalId: EXTERNAL_ID }
    expect((await client.post('/invites').send(body)).status).toBe(201)
    const [message] = await receiver.waitFor(1)
    expect(message?.event.data.externalId).toBe(EXTERNAL_ID)
  })

  it('is shown on the page of the invite, if set', async () => {
    const { create, organizationId } = await start()
    const { get, home } = await signInAs(service, organizationId, ['admin'])
    const [named, other] = [(await create({ externalId: '<b>4711</b>' })).body.invite, (await create()).body.invite]
    expect((await get(`${home}invites/${named.id}`)).text).toContain('<dt>External ID</dt><dd>&lt;b&gt;4711&lt;/b&gt;</dd>')
    expect((await get(`${home}invites/${other.id}`)).text).not.toContain('External ID')
  })

  it('moves to the invite that replaces one with a mistyped address', async () => {
    const { create, organizationId } = await start()
    const { post, home } = await signInAs(service, organizationId, ['admin'])
    const { id } = (await create({ externalId: EXTERNAL_ID })).body.invite
    expect((await post(`${home}invites/${id}/replace`, { recipientEmail: 'right@example.com' })).status).toBe(303)
    const replacement = await service.db.invite.findFirst({ where: { organizationId, recipientEmail: 'right@example.com' } })
    expect(replacement?.externalId).toBe(EXTERNAL_ID)
  })
})

describe('the filter by external id', () => {
  type Listed = { id: string; recipientEmail: string; email: string }
  const find = async ({ v1 }: Pick<Made, 'v1'>, query: string) => {
    const { status, body } = await v1.get(`/invites?${query}`)
    expect([status, body.pagination?.total]).toEqual([200, body.invites.length])
    return body.invites.map(({ id }: Listed) => id)
  }
  const findThere = async ({ alternate }: Pick<Made, 'alternate'>, query: string) => {
    const { status, body } = await alternate.get(`/assessment_invites?${query}`)
    expect([status, body.count]).toEqual([200, body.results.length])
    return body.results.map(({ id }: Listed) => id)
  }

  it('finds the invites with exactly this id, created in either interface', async () => {
    const made = await start()
    const here = (await made.create({ externalId: 'A 1' })).body.invite.id
    service.clock.advance(1_000)
    const there = (await made.createThere({ external_id: 'A 1' })).body.id
    for (const externalId of ['a 1', 'A 1 ', 'A 10', 'A', '%']) await made.create({ externalId })
    await made.create()
    expect(await find(made, 'externalId=A%201')).toEqual([there, here])
    expect(await find(made, 'externalId=A%201&order=asc')).toEqual([here, there])
    expect(await findThere(made, 'external_id=A%201')).toEqual([here, there])
    expect(await find(made, 'externalId=A%25')).toEqual([])
    expect(await findThere(made, 'external_id=A_1')).toEqual([])
    expect(await find(made, `externalId=${'x'.repeat(255)}`)).toEqual([])
  })

  it('combines with other filters, and paginates', async () => {
    const made = await start()
    const ids: string[] = []
    for (let i = 0; i < 3; i++) {
      service.clock.advance(1_000)
      ids.push((await made.create({ externalId: 'same' })).body.invite.id)
    }
    await made.v1.post(`/invites/${ids[0]}/revoke`).send({})
    expect(await find(made, 'externalId=same&status=revoked')).toEqual([ids[0]])
    expect(await find(made, `externalId=same&assessmentId=${made.assessmentId}&recipientEmail=candidate2@example.com`)).toEqual([
      ids[1],
    ])
    expect(await findThere(made, 'external_id=same&search=candidate3')).toEqual([ids[2]])
    const { body } = await made.v1.get('/invites?externalId=same&limit=2&page=2')
    expect(body.invites.map(({ id }: Listed) => id)).toEqual([ids[0]])
    expect(body.pagination).toEqual({ page: 2, limit: 2, total: 3, totalPages: 2 })
    const last = await made.alternate.get('/assessment_invites?external_id=same&page_size=2&page=last')
    expect([last.body.count, last.body.results.map(({ id }: Listed) => id)]).toEqual([3, [ids[2]]])
  })

  it("never finds another organization's invites", async () => {
    const [own, other] = [await start(), await start()]
    const { id } = (await own.create({ externalId: 'shared' })).body.invite
    await other.createThere({ external_id: 'shared' })
    expect(await find(own, 'externalId=shared')).toEqual([id])
    expect(await findThere(own, 'external_id=shared')).toEqual([id])
    const foreign = `external_id=shared&organization=${other.organizationId}`
    expect(await findThere(own, foreign)).toEqual([])
  })

  it('is rejected by its field name beyond its limits; the alternate interface ignores an empty one', async () => {
    const made = await start()
    const { id } = (await made.create()).body.invite
    const blank = 'externalId must not be blank, nor contain NUL characters or unpaired surrogates'
    for (const [value, error] of [
      ['', blank],
      ['%00', blank],
      ['x'.repeat(256), 'externalId must be at most 255 characters long'],
    ]) {
      const { status, body } = await made.v1.get(`/invites?externalId=${value}`)
      expect([status, body]).toEqual([400, { error }])
    }
    expect(await findThere(made, 'external_id=')).toEqual([id])
    for (const [value, text] of [
      ['%00', 'Null characters are not allowed.'],
      ['x'.repeat(256), 'Ensure this field has no more than 255 characters.'],
    ]) {
      const { status, body } = await made.alternate.get(`/assessment_invites?external_id=${value}`)
      expect([status, body]).toEqual([400, { external_id: [text] }])
    }
  })
})
