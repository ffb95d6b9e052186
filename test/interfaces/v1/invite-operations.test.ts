import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { type Context, enterOrganization } from '../../../src/domain/context.ts'
import { createAndStartBatch, getBatch } from '../../../src/domain/invites/batches/batches.ts'
import { changeOrganizationSettings, readOrganizationSettings } from '../../../src/domain/organization/organization-settings.ts'
import { waitForNumbering } from '../../support/events.ts'
import { DAY_MS, unknownId } from '../../support/factories.ts'
import { type Service, startService } from '../../support/service.ts'
import { waitUntil } from '../../support/wait-until.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

/** Creates an organization with an invite. */
async function setUp(data: object = {}) {
  const { id: organizationId, key } = await service.make.organization()
  const assessment = await service.make.assessment(organizationId)
  const invite = await service.make.invite(assessment, data)
  const client = service.v1(key)
  const find = () => service.db.invite.findUniqueOrThrow({ where: { id: invite.id }, include: { tags: true } })
  const readEvents = async () => {
    const events = await service.db.event.findMany({ where: { organizationId }, orderBy: { id: 'asc' } })
    return events.map(({ type, data }) => [type, (data as { changes?: object }).changes])
  }
  const change = (body: object) => client.patch(`/invites/${invite.id}`).send(body)
  return { organizationId, key, client, assessment, invite, find, readEvents, change }
}

describe('PATCH /invites/{id}', () => {
  it('changes all given fields of a pending invite, and records the changes', async () => {
    const { organizationId, invite, find, readEvents, change } = await setUp()
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
    expect(await readEvents()).toMatchObject([
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
    const before = await readEvents()
    expect((await change({ ...texts, tagIds: [two.id], assignedGraderId: null })).status).toBe(200)
    expect(await readEvents()).toEqual(before)
  })

  it.each([
    ['accepted', { recipientName: 'Late' }, 'recipientName can be changed only while the invite is pending; it is accepted'],
    ['started', { answerRecordLimit: 9 }, 'answerRecordLimit can be changed only while the invite is pending; it is started'],
    ['started', { expiresInDays: 9 }, 'The invite is started and can not be extended'],
  ])('explains which field of an invite that is %s cannot change, and changes nothing: %o', async (status, edits, error) => {
    const { organizationId, find, change, readEvents } = await setUp({ status })
    const tag = await service.make.tag(organizationId)
    const before = await find()
    const refused = await change({ tagIds: [tag.id], ...edits })
    expect([refused.status, refused.body, refused.headers['x-error-code']]).toEqual([409, { error }, 'move_not_allowed'])
    expect([await find(), await readEvents()]).toEqual([before, []])
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
    const { change } = await setUp()
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

  it('invites a candidate who has completed again with the same settings, and links the attempts', async () => {
    const { organizationId, client, assessment, invite } = await setUp({
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
    await waitForNumbering(service)
    const { events } = (await client.get(`/events?inviteId=${retake.id}`)).body
    expect(events[0].data).toEqual(created.data)
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
    expect((await client.post(`/invites/${invite.id}/retake`)).headers.link).toContain(retake.id)
    expect([third.status, third.body.invite.retakeOf]).toEqual([201, retake.id])
    expect(await service.db.inviteEmail.count({ where: { inviteId: third.body.invite.id } })).toBe(0)

    const documented = await client.post('/invites').send({ assessmentId: assessment.id, recipientEmail: invite.recipientEmail })
    expect([documented.status, documented.body, documented.headers.link]).toEqual([
      409,
      { error: 'An invite for this email and assessment already exists' },
      expect.stringContaining(third.body.invite.id),
    ])
  })

  it('creates one retake for many concurrent requests', async () => {
    const { client, invite, assessment } = await setUp({ status: 'completed', completedAt: new Date() })
    const answers = await Promise.all(Array.from({ length: 8 }, async () => await client.post(`/invites/${invite.id}/retake`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)])
    expect(await service.db.invite.count({ where: { assessmentId: assessment.id } })).toBe(2)
  })

  it('omits a grader who may no longer grade', async () => {
    const { organizationId, client, invite } = await setUp({ status: 'completed', completedAt: new Date() })
    const grader = await service.make.member(organizationId)
    await client.patch(`/invites/${invite.id}`).send({ assignedGraderId: grader.id })
    await service.db.member.update({ where: { id: grader.id }, data: { status: 'inactive' } })
    const { status, body } = await client.post(`/invites/${invite.id}/retake`)
    expect(status).toBe(201)
    expect((await client.get(`/invites/${body.invite.id}`)).body.assignedGrader).toBe(null)
  })
})

describe('POST /invites/{id}/retake of an invite that would now be invalid', () => {
  it('keeps an oversized imported message and a host that is no longer listed', async () => {
    const fields = { customMessage: 'x'.repeat(6_000), returnUrl: 'https://careers.example.com/' }
    const { client, invite } = await setUp({ status: 'completed', completedAt: new Date(), ...fields })
    const { status, body } = await client.post(`/invites/${invite.id}/retake`)
    expect(status).toBe(201)
    expect((await client.get(`/invites/${body.invite.id}`)).body).toMatchObject(fields)
  })
})

describe('POST /invite-batches', () => {
  const address = (name: string) => ({ recipientEmail: `${name}@example.com` })
  const rowsOf = async (
    { client }: { client: Service['v1'] extends (key: string) => infer C ? C : never },
    id: string,
    query = '',
  ) => (await client.get(`/invite-batches/${id}/rows${query}`)).body
  async function finish({ client }: Parameters<typeof rowsOf>[0], id: string) {
    const read = async () => (await client.get(`/invite-batches/${id}`)).body.batch
    return waitUntil('the batch', async () => ((await read()).state === 'finished' ? read() : undefined))
  }

  it('invites valid rows with common and own settings, and reports the outcome of each row', async () => {
    const by = await setUp()
    const { organizationId, client, assessment, invite } = by
    const [common, own] = [await service.make.tag(organizationId), await service.make.tag(organizationId)]
    const invites = [
      { ...address('one'), recipientName: 'One', externalId: 'a-1', metadata: { job: 'b' }, expiresInDays: 2, tagIds: [own.id] },
      { ...address('two'), customMessage: 'For two' },
      { recipientEmail: invite.recipientEmail },
      address('ONE'),
      { recipientEmail: 'nobody' },
      { ...address('three'), expiresInDays: 0 },
      { ...address('four'), tagIds: [organizationId] },
    ]
    const body = { assessmentId: assessment.id, invites, tagIds: [common.id], customMessage: 'For all', answerRecordLimit: 3 }
    const given = await client.post('/invite-batches').set('Idempotency-Key', 'many-1').send(body)
    expect([given.status, given.body.batch]).toMatchObject([202, { state: 'running', total: 7, assessmentId: assessment.id }])
    const { id } = given.body.batch
    const again = await client.post('/invite-batches').set('Idempotency-Key', 'many-1').send(body)
    expect([again.status, again.body, again.headers['idempotent-replayed']]).toEqual([202, given.body, 'true'])
    expect(await finish(by, id)).toMatchObject({
      total: 7,
      counts: { ready: 0, invited: 2, already: 1, repeated: 1, invalid: 3, refused: 0 },
      finishedAt: expect.any(String),
    })
    const { rows, pagination } = await rowsOf(by, id)
    expect(pagination).toEqual({ page: 1, limit: 20, total: 7, totalPages: 1 })
    const outcomes = rows.map(({ number, state, inviteId, repeats, error }: Record<string, unknown>) => [
      number,
      state,
      inviteId !== null,
      repeats,
      error,
    ])
    expect(outcomes).toEqual([
      [1, 'invited', true, null, null],
      [2, 'invited', true, null, null],
      [3, 'already', true, null, null],
      [4, 'repeated', false, 1, null],
      [5, 'invalid', false, null, 'recipientEmail is not a valid email address'],
      [6, 'invalid', false, null, 'expiresInDays must be a positive integer'],
      [7, 'invalid', false, null, expect.stringMatching(/^tagIds must be of this organization: \S+ is not$/)],
    ])
    expect(rows[2].inviteId).toBe(invite.id)
    expect((await rowsOf(by, id, '?state=invalid&limit=1&page=2')).rows.map(({ number }: { number: number }) => number)).toEqual([
      6,
    ])
    const made = await service.db.invite.findUniqueOrThrow({ where: { id: rows[0].inviteId }, include: { tags: true } })
    expect(made).toMatchObject({
      ...{ recipientName: 'One', externalId: 'a-1', metadata: { job: 'b' }, customMessage: 'For all', answerRecordLimit: 3 },
      ...{ createdByKeyId: expect.any(String), mode: 'live', screenRecording: true },
      tags: [{ tagId: common.id }, { tagId: own.id }],
    })
    const second = await service.db.invite.findUniqueOrThrow({ where: { id: rows[1].inviteId } })
    expect(second).toMatchObject({ customMessage: 'For two', externalId: null })
    const events = await service.db.event.findMany({ where: { organizationId, type: 'invite.created' } })
    expect(events.map(({ actorType, actorId }) => [actorType, actorId === made.createdByKeyId])).toEqual([
      ['api_key', true],
      ['api_key', true],
    ])
  })

  it('creates invites in the mode of its key, and is hidden from live keys if it is a test key', async () => {
    const { organizationId, client, assessment } = await setUp()
    const { key } = await createApiKey(service.system, { organizationId, name: 'Trials', mode: 'test' })
    const test = service.v1(key)
    const { body } = await test.post('/invite-batches').send({ assessmentId: assessment.id, invites: [address('test')] })
    await finish({ client: test }, body.batch.id)
    for (const path of ['', '/rows'])
      expect((await client.get(`/invite-batches/${body.batch.id}${path}`)).body).toEqual({ error: 'Batch of invites not found' })
    expect(await service.db.invite.findMany({ where: { organizationId, mode: 'test' } })).toMatchObject([address('test')])
  })

  it('stores as much of an invalid row as possible', async () => {
    const by = await setUp()
    const invites = [
      { ...address('nul\0'), recipientName: 'N\0ul' },
      { ...address('half\ud800'), recipientName: '\udc00', externalId: '\0', metadata: { a: '\0' }, customMessage: '\ud800' },
    ]
    const { body, status } = await by.client.post('/invite-batches').send({ assessmentId: by.assessment.id, invites })
    expect(status).toBe(202)
    expect((await rowsOf(by, body.batch.id)).rows).toMatchObject([
      { ...address('nul'), recipientName: 'Nul', state: 'invalid', error: 'recipientEmail is not a valid email address' },
      { ...address('half\ufffd'), recipientName: '\ufffd', state: 'invalid' },
    ])
  })

  it('accepts a thousand candidates, and no more', async () => {
    const { client, assessment } = await setUp()
    const invites = Array.from({ length: 1_001 }, (_, i) => ({
      recipientEmail: `not yet ${i}`,
      metadata: { about: 'x'.repeat(500) },
    }))
    const send = (invites: object[]) => client.post('/invite-batches').send({ assessmentId: assessment.id, invites })
    expect((await send(invites.slice(1))).body.batch).toMatchObject({ total: 1_000, counts: { invalid: 1_000 } })
    expect(await send(invites)).toMatchObject({ status: 400, body: { error: 'invites must have at most 1000 items' } })
    expect(await send([{ recipientEmail: 'x'.repeat(1024 * 1024) }])).toMatchObject({
      status: 413,
      body: { error: 'The request body must not be larger than 1024 KiB' },
    })
  })

  it.each<[body: object, status: number, error: string]>([
    [{ invites: [] }, 400, 'invites must have at least one item'],
    [{ invites: 'x' }, 400, 'invites must be an array'],
    [{ invites: [{}] }, 400, 'invites.0.recipientEmail is required'],
    [{ invites: [address('x')], expiresInDays: 0 }, 400, 'expiresInDays must be a positive integer'],
    [{ invites: [address('x')], tagIds: [unknownId] }, 400, `tagIds must be of this organization: ${unknownId} is not`],
    [{ invites: [address('x')], assessmentId: unknownId }, 404, 'Assessment not found'],
    [
      { invites: [address('x')], returnUrl: 'https://unlisted.example.com/' },
      400,
      'returnUrl must be of a host that the organization has listed in its settings',
    ],
  ])('rejects %o as a whole', async (body, status, error) => {
    const { client, assessment } = await setUp()
    const answer = await client.post('/invite-batches').send({ assessmentId: assessment.id, ...body })
    expect([answer.status, answer.body]).toEqual([status, { error }])
  })

  it('limits the unfinished batches, separately for live and test data', async () => {
    const { organizationId, client, assessment } = await setUp()
    const { key, apiKey } = await createApiKey(service.system, { organizationId, name: 'Trials', mode: 'test' })
    const of = { organizationId, assessmentId: assessment.id, mode: 'test', createdByKeyId: apiKey.id, terms: {} } as const
    const at = service.clock.now()
    const ids = Array.from({ length: 21 }, () => service.deps.newId())
    // The last batch is already finished.
    const data = ids.map((id, i) => ({ ...of, id, createdAt: at, startedAt: at, finishedAt: i === 20 ? at : null }))
    await service.db.inviteBatch.createMany({ data })
    const send = (by: typeof client) => by.post('/invite-batches').send({ assessmentId: assessment.id, invites: [address('x')] })
    const refused = await send(service.v1(key))
    expect([refused.status, refused.headers['x-error-code'], refused.headers['retry-after'], refused.body]).toEqual([
      429,
      'too_many_batches',
      '30',
      { error: 'At most 20 batches can be under way. Please try again later.' },
    ])
    expect((await send(client)).status).toBe(202)
    await service.db.inviteBatch.update({ where: { id: ids[0]! }, data: { finishedAt: at } })
    expect((await send(service.v1(key))).status).toBe(202)
  })

  it('creates invites in the name of its key alone', async () => {
    const { organizationId, client, assessment } = await setUp()
    const { body } = await client.post('/invite-batches').send({ assessmentId: assessment.id, invites: [address('x')] })
    await finish({ client }, body.batch.id)
    const invite = await service.db.invite.findFirstOrThrow({ where: { organizationId, recipientEmail: 'x@example.com' } })
    expect(invite).toMatchObject({ createdById: null, createdByKeyId: expect.any(String) })
  })

  it('invites nobody after its key is revoked', async () => {
    const { organizationId, assessment } = await setUp()
    const { key, apiKey } = await createApiKey(service.system, { organizationId, name: 'Gone', mode: 'live' })
    const actor = { kind: 'apiKey' as const, id: apiKey.id, mode: 'live' as const, createdById: null }
    const organization = await service.db.organization.findUniqueOrThrow({ where: { id: organizationId } })
    await service.db.apiKey.update({ where: { id: apiKey.id }, data: { revokedAt: new Date(0) } })
    expect(key).toBeTruthy()
    const ctx: Context = enterOrganization({ ...service.system, actor }, organization, 'live')
    const rows = [{ email: 'late@example.com', name: '', rowTerms: {}, unknown: [] }]
    const { id } = await createAndStartBatch(ctx, { assessmentId: assessment.id, rows, terms: {} })
    const read = () => getBatch(ctx, id)
    const { counts } = await waitUntil('the batch', async () => ((await read()).finishedAt ? read() : undefined))
    expect(counts).toMatchObject({ refused: 1, invited: 0 })
  })
})

describe('returnUrl', () => {
  /** Creates an organization with an allowed return host. */
  async function setUpHost(returnHosts = 'careers.example.com') {
    const by = await setUp()
    const organization = await service.db.organization.findUniqueOrThrow({ where: { id: by.organizationId } })
    const ctx: Context = enterOrganization({ ...service.system, actor: { kind: 'operator' } }, organization, 'live')
    const settings = { name: organization.name, senderName: '', replyTo: '', invitationText: '', returnHosts }
    const list = (returnHosts: string) => changeOrganizationSettings(ctx, { ...settings, returnHosts })
    await list(returnHosts)
    const { returnSecret } = await readOrganizationSettings(ctx)
    const post = (returnUrl: unknown) =>
      by.client
        .post('/invites')
        .send({ assessmentId: by.assessment.id, recipientEmail: `${service.deps.newId()}@example.com`, returnUrl })
    return { ...by, list, post, returnSecret }
  }

  it('leads a candidate who has completed to the given address, with a verifiable signature', async () => {
    const { client, post, list, returnSecret } = await setUpHost()
    const { status, body } = await post('https://careers.example.com/done?job=7#thanks')
    expect([status, body.invite.returnUrl]).toEqual([201, 'https://careers.example.com/done?job=7#thanks'])
    const { id } = body.invite
    const page = new URL((await client.get(`/invites/${id}/link`)).body.link).pathname
    expect((await service.http().get(page)).text).not.toContain('/return')
    expect((await service.http().get(`${page}/return`)).headers.location).toBe(page)
    await service.db.invite.update({ where: { id }, data: { status: 'completed', completedAt: service.clock.now() } })
    expect((await service.http().get(page)).text).toContain(`href="${page}/return">Continue to careers.example.com</a>`)
    const answer = await service.http().get(`${page}/return`)
    const url = new URL(answer.headers.location!)
    expect([answer.status, url.origin, url.pathname, url.hash]).toEqual([303, 'https://careers.example.com', '/done', '#thanks'])
    const { job, signature, ...signed } = Object.fromEntries(url.searchParams)
    expect([job, signed]).toEqual([
      '7',
      { inviteId: id, status: 'completed', timestamp: String(Math.floor(service.clock.now().getTime() / 1000)) },
    ])
    const expected = createHmac('sha256', returnSecret).update(Object.values(signed).join('.')).digest('hex')
    expect(signature!.split(',')).toEqual([expected])
    await list('other.example.com')
    expect((await service.http().get(`${page}/return`)).headers.location).toBe(page)
    expect((await service.http().get(page)).text).not.toContain('/return')
  })

  it.each([
    ['http://careers.example.com/', 'returnUrl must begin with https://'],
    ['javascript:alert(1)', 'returnUrl must begin with https://'],
    ['mailto:sam@example.com', 'returnUrl must begin with https://'],
    ['https://me@careers.example.com/', 'returnUrl must not contain a user name or password'],
    ['https://careers.example.com.evil.example/', 'returnUrl must be of a host that the organization has listed in its settings'],
    ['https://careers.example.com:8443/', 'returnUrl must be of a host that the organization has listed in its settings'],
    ['/done', 'returnUrl is not a URL'],
    ['\0https://careers.example.com/', 'returnUrl is not a URL'],
    ['https://careers.example.com/\0', 'returnUrl is not a URL'],
    ['https://careers.example.com/\ud800', 'returnUrl is not a URL'],
    ['ht\ntps://careers.example.com/', 'returnUrl is not a URL'],
    ['https://careers.example.com/\r\nLocation: https://evil.example', 'returnUrl is not a URL'],
    [' https://careers.example.com/', 'returnUrl is not a URL'],
    ['https:careers.example.com', 'returnUrl is not a URL'],
    ['https:///careers.example.com', 'returnUrl is not a URL'],
    ['https:\\\\careers.example.com\\', 'returnUrl is not a URL'],
    ['https://careers.example.com\\@evil.example/', 'returnUrl is not a URL'],
    ['https://@careers.example.com/', 'returnUrl must not contain a user name or password'],
    ['https://careers.example.com@evil.example/', 'returnUrl must not contain a user name or password'],
    ['https://careers.example.com./', 'returnUrl must be of a host that the organization has listed in its settings'],
    ['x'.repeat(2_001), 'returnUrl must be at most 2000 characters long'],
  ])('is rejected: %s', async (returnUrl, error) => {
    const { post } = await setUpHost()
    expect(await post(returnUrl)).toMatchObject({ status: 400, body: { error } })
  })

  it('is absent from the response if it was not set', async () => {
    const { post } = await setUpHost()
    for (const returnUrl of [null, undefined]) expect((await post(returnUrl)).body.invite).not.toHaveProperty('returnUrl')
  })
})
