import type { Test } from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DAY_MS, unknownId } from '../../support/factories.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
let own: Organization
let foreign: Organization
type Organization = Awaited<ReturnType<typeof createInvites>>
beforeAll(async () => {
  service = await startService()
  own = await createInvites()
  foreign = await createInvites()
})
afterAll(() => service.close())

const operations = ['resend', 'extend', 'revoke', 'reactivate'] as const

/** Creates an organization with a pending and a revoked invite. Each operation is allowed on one of them. */
async function createInvites() {
  const { id, key } = await service.make.organization()
  const assessment = await service.make.assessment(id)
  const [pending, revoked] = [await service.make.invite(assessment), await service.make.invite(assessment, { status: 'revoked' })]
  const inviteFor = (operation: string) => (operation === 'reactivate' ? revoked : pending)
  return { id, key, assessment, pending, inviteFor, client: service.v1(key) }
}

const post = ({ client }: Organization, operation: string, id: string) =>
  client.post(`/invites/${id}/${operation}`).send({ expiresInDays: 60 })
const reads = ['emails', 'link', 'tags']
const send = (by: Organization, route: string, id: string): Test =>
  reads.includes(route) ? by.client.get(`/invites/${id}/${route}`) : post(by, route, id)
const snapshot = async () => ({
  invites: await service.db.invite.findMany({ orderBy: { id: 'asc' } }),
  emails: await service.db.inviteEmail.count(),
})

describe.each([...operations, ...reads])('/invites/{id}/%s', (route) => {
  it("returns 404 for another organization's invite, as for an unknown one, and changes nothing", async () => {
    const before = await snapshot()
    for (const id of [foreign.inviteFor(route).id, unknownId, foreign.assessment.id]) {
      const { status, body } = await send(own, route, id)
      expect([status, body]).toEqual([404, { error: 'Invite not found' }])
    }
    expect(await snapshot()).toEqual(before)
  })

  it.each(['none', `${unknownId}0`, '%00', "' OR 1=1", 'x'.repeat(150)])('returns 404 for the ID %s', async (id) => {
    const { status, body } = await send(own, route, encodeURI(id))
    expect([status, body]).toEqual([404, { error: 'Invite not found' }])
  })

  it('returns 401 without a key, and for an unknown key', async () => {
    const path = `/api/v1/invites/${own.inviteFor(route).id}/${route}`
    const method = reads.includes(route) ? 'get' : 'post'
    expect((await service.http()[method](path)).body).toEqual({ error: 'API key is required' })
    const { status, body } = await service
      .http()
      [method](path)
      .set('x-api-key', `ak_live_${'x'.repeat(32)}`)
    expect([status, body]).toEqual([401, { error: 'Invalid API key' }])
  })
})

describe('a request body', () => {
  const wrong: [body: string, error: string][] = [
    ['{"expiresInDays":0}', 'expiresInDays must be a positive integer'],
    ['{"expiresInDays":-1}', 'expiresInDays must be a positive integer'],
    ['{"expiresInDays":1.5}', 'expiresInDays must be a positive integer'],
    ['{"expiresInDays":"5"}', 'expiresInDays must be a positive integer'],
    ['{"expiresInDays":null}', 'expiresInDays must be a positive integer'],
    ['{"expiresInDays":[5]}', 'expiresInDays must be a positive integer'],
    ['{"expiresInDays":3651}', 'expiresInDays must be an integer between 1 and 3650'],
    ['{"expiresInDays":1e400}', 'expiresInDays must be an integer between 1 and 3650'],
    ['[]', 'The request body must be a JSON object'],
    ['"5"', 'The request body must be a JSON object'],
  ]
  const sendText = (operation: string, text: string, type = 'application/json') =>
    own.client
      .post(`/invites/${own.inviteFor(operation).id}/${operation}`)
      .set('content-type', type)
      .send(text)

  it.each(wrong.flatMap(([body, error]) => [['extend', body, error] as const, ['reactivate', body, error] as const]))(
    'is rejected by %s with 400 when it is %s',
    async (operation, text, error) => {
      const before = await snapshot()
      const { status, body } = await sendText(operation, text)
      expect([status, body]).toEqual([400, { error }])
      expect(await snapshot()).toEqual(before)
    },
  )

  it.each(['{}', '', '{"expiresIn":5}'])('is rejected by extend without expiresInDays: %s', async (text) => {
    const { status, body } = await sendText('extend', text)
    expect([status, body]).toEqual([400, { error: 'expiresInDays is required' }])
  })

  it.each(operations)("is rejected by %s with 400 when it isn't JSON", async (operation) => {
    const broken = await sendText(operation, '{"expiresInDays":')
    expect([broken.status, broken.body.error]).toEqual([400, expect.stringMatching(/^The request body is not valid JSON/)])
    const form = await sendText(operation, 'expiresInDays=5', 'application/x-www-form-urlencoded')
    expect([form.status, form.body.error]).toEqual([400, expect.stringMatching(/^The request body must be JSON/)])
  })

  it.each([1, 3650])('can reactivate for %i days', async (expiresInDays) => {
    const { client, inviteFor } = await createInvites()
    const { status, body } = await client.post(`/invites/${inviteFor('reactivate').id}/reactivate`).send({ expiresInDays })
    const expiresAt = new Date(service.clock.now().getTime() + expiresInDays * DAY_MS).toISOString()
    expect([status, body.invite.expiresAt]).toEqual([200, expiresAt])
  })

  it.each(['resend', 'revoke', 'reactivate'])('may be missing, empty, or contain unknown fields for %s', async (operation) => {
    const bodies = [
      (test: Test) => test,
      (test: Test) => test.type('json').send(''),
      (test: Test) => test.send({ why: 'unknown' }),
    ]
    for (const withBody of bodies) {
      const { client, inviteFor } = await createInvites()
      const { status, body } = await withBody(client.post(`/invites/${inviteFor(operation).id}/${operation}`))
      expect([status, Object.keys(body)]).toEqual([200, ['invite']])
    }
  })

  it('defaults to 30 days for reactivate', async () => {
    const { client, inviteFor } = await createInvites()
    const { body } = await client.post(`/invites/${inviteFor('reactivate').id}/reactivate`)
    expect(body.invite.expiresAt).toBe(new Date(service.clock.now().getTime() + 30 * DAY_MS).toISOString())
  })
})

describe('a documented response body', () => {
  const summary = [
    'id',
    'assessmentId',
    'assessmentName',
    'recipientEmail',
    'recipientName',
    'status',
    'questionReplayLimit',
  ].concat(['answerRecordLimit', 'sentAt', 'expiresAt', 'acceptedAt', 'startedAt', 'completedAt'])
  const detail = [...summary, 'assignedGrader', 'proctoringSettings', 'customMessage', 'revokedAt']

  it.each(operations)('has the documented fields of %s in the documented order, and matches later reads', async (operation) => {
    const by = await createInvites()
    const { id } = by.inviteFor(operation)
    const { body } = await post(by, operation, id)
    expect([Object.keys(body), Object.keys(body.invite)]).toEqual([['invite'], detail])
    const one = await by.client.get(`/invites/${id}`)
    expect(one.text).toBe(JSON.stringify(body.invite))
    const { invites } = (await by.client.get('/invites')).body
    for (const invite of invites) expect(Object.keys(invite)).toEqual(summary)
  })

  it('contains no links, modes, or mails for a new invite', async () => {
    const body = { assessmentId: own.assessment.id, recipientEmail: 'new@example.com' }
    const answer = await own.client.post('/invites').send(body)
    expect([Object.keys(answer.body), Object.keys(answer.body.invite)]).toEqual([['invite'], summary])
  })

  it('shows an operation of the alternate interface only in documented fields', async () => {
    const by = await createInvites()
    const read = async () => (await service.alternate(by.key).get(`/assessment_invites/${by.pending.id}`)).body
    const before = await read()
    service.clock.advance(1_000)
    await post(by, 'revoke', by.pending.id)
    expect(await read()).toEqual({ ...before, status: 'revoked', updated_at: expect.not.stringContaining(before.updated_at) })
  })
})
