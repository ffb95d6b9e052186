import { describe, expect, it } from 'vitest'
import { recordEmailAttempt } from '../../src/domain/invites/emails.ts'
import { readFeed } from '../support/events.ts'
import { signInAs } from '../support/portal.ts'
import { startReceiver } from '../support/receiver.ts'
import { startServiceForFile } from '../support/service.ts'
import { makeInviter, readEverywhere } from '../support/two-interfaces.ts'
import { makeIntegrator, TO_LOOPBACK } from '../support/webhooks.ts'

const service = await startServiceForFile(TO_LOOPBACK)
const start = () => makeInviter(service)

const METADATA = { job: 'support-2026', 'hr.region_1': 'EMEA – 応募 🎓', empty: '', 'a-B': ' "kept" \n' }
const FULL = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${i}`.padEnd(50, 'k'), '🎓'.repeat(500)]))

describe('the metadata of an invite', () => {
  it.each([
    ['some', METADATA],
    ['the maximum size', FULL],
    ['no keys', {}],
  ])('is shown with %s everywhere in both interfaces', async (_what, metadata) => {
    const made = await start()
    const here = await made.create({ metadata })
    expect([here.status, here.body.invite.metadata]).toEqual([201, metadata])
    const there = await made.createThere({ metadata })
    expect([there.status, there.body.metadata]).toEqual([201, metadata])
    for (const id of [here.body.invite.id, there.body.id]) {
      const { v1, alternate } = await readEverywhere(made, id)
      for (const answer of [...v1, ...alternate]) expect(answer.metadata).toEqual(metadata)
    }
    const moved = await made.v1.post(`/invites/${here.body.invite.id}/extend`).send({ expiresInDays: 90 })
    expect(moved.body.invite.metadata).toEqual(metadata)
  })

  it.each([[{}], [{ metadata: null }]])('is absent from all responses if it was not set: %j', async (fields) => {
    const made = await start()
    const here = (await made.create(fields)).body.invite
    const there = (await made.createThere(fields)).body
    for (const id of [here.id, there.id]) {
      const { v1, alternate } = await readEverywhere(made, id)
      for (const answer of [here, there, ...v1, ...alternate]) expect(answer).not.toHaveProperty('metadata')
    }
  })

  const keys = 'keys of 1 to 50 characters: letters from A to Z, digits, _, . and -'
  const badKey = [
    `metadata must have ${keys}`,
    'Ensure each key has 1 to 50 characters: letters from A to Z, digits, _, . and -.',
  ] as const
  const dictionary = (type: string) =>
    ['metadata must be an object', `Expected a dictionary of items but got type "${type}".`] as const

  it.each<[unknown, error: string, text: string]>([
    [
      Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, ''])),
      'metadata must have at most 20 items',
      'Ensure this field has no more than 20 elements.',
    ],
    [{ '': 'x' }, ...badKey],
    [{ ['k'.repeat(51)]: 'x' }, ...badKey],
    [{ 'a b': 'x' }, ...badKey],
    [{ ok: 'x', é: 'x' }, ...badKey],
    [{ 'a/b~': 'x' }, ...badKey],
    [{ 'a\n': 'x' }, ...badKey],
    [
      { ok: 'x', 'a.b': 'x'.repeat(501) },
      'metadata.a.b must be at most 500 characters long',
      'a.b: Ensure this field has no more than 500 characters.',
    ],
    [{ k: 'a\0' }, 'metadata.k must not contain NUL characters or unpaired surrogates', 'k: Null characters are not allowed.'],
    [{ k: true }, 'metadata.k must be a string', 'k: Not a valid string.'],
    [{ k: null }, 'metadata.k must be a string', 'k: Not a valid string.'],
    [{ k: { l: 'x' } }, 'metadata.k must be a string', 'k: Not a valid string.'],
    [[], ...dictionary('list')],
    ['x', ...dictionary('string')],
    [5, ...dictionary('int')],
  ])('is rejected by its field name if it is %j', async (metadata, error, text) => {
    const { create, createThere, organizationId } = await start()
    const here = await create({ metadata })
    expect([here.status, here.body]).toEqual([400, { error }])
    const there = await createThere({ metadata })
    expect([there.status, there.body]).toEqual([400, { metadata: [text] }])
    expect(await service.db.invite.count({ where: { organizationId } })).toBe(0)
  })

  it('can contain whole numbers in the alternate interface, stored as their digits', async () => {
    const { createThere } = await start()
    expect((await createThere({ metadata: { n: 4711, m: -1 } })).body.metadata).toEqual({ n: '4711', m: '-1' })
  })

  it('is part of every event of its invite and mails, and absent from others', async () => {
    const { create, key, v1, organizationId } = await start()
    const named = (await create({ metadata: METADATA, sendEmail: false })).body.invite
    const other = (await create({ sendEmail: false })).body.invite
    for (const { id: inviteId } of [named, other]) {
      await v1.post(`/invites/${inviteId}/revoke`).send({})
      const now = service.clock.now()
      const email = { id: service.deps.newId(), organizationId, inviteId, linkVersion: 1, createdAt: now, updatedAt: now }
      await service.db.inviteEmail.create({ data: email })
      await recordEmailAttempt(service.system, email, { state: 'sent' })
    }
    const { events } = await readFeed(service, key)
    const ofInvite = (id: string) => events.filter(({ data }) => data.inviteId === id)
    for (const { id } of [named, other])
      expect(ofInvite(id).map(({ type }) => type)).toEqual(['invite.created', 'invite.revoked', 'email.sent'])
    for (const { data } of ofInvite(named.id)) expect(data.metadata).toEqual(METADATA)
    for (const { data } of ofInvite(other.id)) expect(data).not.toHaveProperty('metadata')
  })

  it('is sent to webhooks', async () => {
    const receiver = await startReceiver()
    const { subscribe, client, assessmentId } = await makeIntegrator(service)
    await subscribe(receiver)
    const body = { assessmentId, recipientEmail: 'sam@example.com', sendEmail: false, metadata: METADATA }
    expect((await client.post('/invites').send(body)).status).toBe(201)
    const [message] = await receiver.waitFor(1)
    expect(message?.event.data.metadata).toEqual(METADATA)
  })

  it('is shown on the page of the invite, if set', async () => {
    const { create, organizationId } = await start()
    const { get, home } = await signInAs(service, organizationId, ['admin'])
    const pageOf = async (fields: object) => (await get(`${home}invites/${(await create(fields)).body.invite.id}`)).text
    expect(await pageOf({ metadata: { job: '<b>4711</b>', b: 'x' } })).toContain(
      '<dt>Metadata</dt><dd><span class="preformatted">b: x\njob: &lt;b&gt;4711&lt;/b&gt;</span></dd>',
    )
    expect(await pageOf({ metadata: {} })).not.toContain('<dt>Metadata</dt>')
    expect(await pageOf({})).not.toContain('<dt>Metadata</dt>')
  })

  it('moves to the invite that replaces one with a mistyped address', async () => {
    const { create, organizationId } = await start()
    const { post, home } = await signInAs(service, organizationId, ['admin'])
    const { id } = (await create({ metadata: METADATA })).body.invite
    expect((await post(`${home}invites/${id}/replace`, { recipientEmail: 'right@example.com' })).status).toBe(303)
    const replacement = await service.db.invite.findFirst({ where: { organizationId, recipientEmail: 'right@example.com' } })
    expect(replacement?.metadata).toEqual(METADATA)
  })
})
