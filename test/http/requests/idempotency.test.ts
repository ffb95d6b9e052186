import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { deleteExpiredRows } from '../../../src/domain/concurrency/expired-rows.ts'
import { DAY_MS } from '../../support/factories.ts'
import { repeatWhileBusy } from '../../support/repeat-while-busy.ts'
import { type Service, startService } from '../../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../../support/smtp.ts'
import { PATIENT } from '../../support/wait-until.ts'

let service: Service
let smtp: SmtpListener
beforeAll(async () => {
  smtp = await startSmtpListener()
  service = await startService({ SMTP_URL: smtp.url })
  await service.app.listen({ port: 0, host: '127.0.0.1' }) // so that concurrent requests share one server
})
afterAll(async () => {
  await service.close()
  await smtp.close()
})
let by: Awaited<ReturnType<typeof createInvites>>
beforeEach(async () => {
  by = await createInvites()
})

const AT_ONCE = 50

/** Creates an organization with an assessment, a pending invite, and a revoked one. */
async function createInvites(of = service) {
  const { id, key } = await of.make.organization()
  const assessment = await of.make.assessment(id)
  const [pending, revoked] = [await of.make.invite(assessment), await of.make.invite(assessment, { status: 'revoked' })]
  return { id, key, assessment, pending, revoked, client: of.v1(key), alternate: of.alternate(key) }
}
type Target = typeof by

const recipient = ({ id }: Target) => `same-${id}@example.com`
const alternateBody = (of: Target) => ({
  ...{ email: recipient(of), assessment: of.assessment.id, question_play_limit: 1, answer_record_limit: 1, tags: [] },
  ...{ face_photo_required: true, id_photo_required: true, assigned_grader: null },
})

/** POST operations. `left` has the numbers of rows and mails, and the link versions, after the operation was executed once. */
const posts = [
  {
    name: 'POST /invites',
    send: (of: Target) => of.client.post('/invites').send({ assessmentId: of.assessment.id, recipientEmail: recipient(of) }),
    status: 201,
    left: { invites: 3, tags: 0, mails: 1, links: [1, 1, 1] },
  },
  {
    name: 'POST /tags',
    send: (of: Target) => of.client.post('/tags').send({ name: 'Once' }),
    status: 201,
    left: { invites: 2, tags: 1, mails: 0, links: [1, 1] },
  },
  {
    name: 'POST /assessment_invites of the alternate interface',
    send: (of: Target) => of.alternate.post('/assessment_invites').send(alternateBody(of)),
    status: 201,
    left: { invites: 3, tags: 0, mails: 1, links: [1, 1, 1] },
  },
  {
    name: "POST /assessment_invites in the organization's scope",
    send: (of: Target) => of.alternate.post(`/organizations/${of.id}/assessment_invites`).send(alternateBody(of)),
    status: 201,
    left: { invites: 3, tags: 0, mails: 1, links: [1, 1, 1] },
  },
  {
    name: 'POST /invites/{id}/resend',
    send: (of: Target) => of.client.post(`/invites/${of.pending.id}/resend`),
    status: 200,
    left: { invites: 2, tags: 0, mails: 1, links: [1, 1] },
  },
  {
    name: 'POST /invites/{id}/extend',
    send: (of: Target) => of.client.post(`/invites/${of.pending.id}/extend`).send({ expiresInDays: 60 }),
    status: 200,
    left: { invites: 2, tags: 0, mails: 0, links: [1, 1] },
  },
  {
    name: 'POST /invites/{id}/revoke',
    send: (of: Target) => of.client.post(`/invites/${of.pending.id}/revoke`),
    status: 200,
    left: { invites: 2, tags: 0, mails: 0, links: [1, 1] },
  },
  {
    name: 'POST /invites/{id}/reactivate',
    send: (of: Target) => of.client.post(`/invites/${of.revoked.id}/reactivate`),
    status: 200,
    left: { invites: 2, tags: 0, mails: 1, links: [1, 2] },
  },
]

const leftBehind = async ({ db }: Service, organizationId: string) => {
  const where = { organizationId }
  const invites = await db.invite.findMany({ where })
  const links = invites.map(({ linkVersion }) => linkVersion).sort()
  return { invites: invites.length, tags: await db.tag.count({ where }), mails: await db.inviteEmail.count({ where }), links }
}
const records = ({ id }: Target) => service.db.idempotencyRecord.count({ where: { organizationId: id } })

describe.each(posts)('$name with an Idempotency-Key', ({ send, status, left }) => {
  it(`is executed once for ${AT_ONCE} concurrent requests, which get ${AT_ONCE} identical responses`, async () => {
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, () => repeatWhileBusy(() => send(by).set('Idempotency-Key', 'retry-1'))),
    )
    expect(answers.map((answer) => answer.status)).toEqual(Array(AT_ONCE).fill(status))
    expect(new Set(answers.map(({ text, headers }) => `${headers['content-type']} ${text}`)).size).toBe(1)
    const replayed = answers.filter(({ headers }) => headers['idempotent-replayed'] === 'true')
    const first = answers.filter(({ headers }) => !('idempotent-replayed' in headers))
    expect([replayed.length, first.length]).toEqual([AT_ONCE - 1, 1])
    expect(await leftBehind(service, by.id)).toEqual(left)
  })

  it('returns the first response to a retry, even if data has changed since', async () => {
    const first = await send(by).set('Idempotency-Key', 'retry-1')
    await service.db.invite.updateMany({ where: { organizationId: by.id }, data: { status: 'completed' } })
    await service.db.tag.deleteMany({ where: { organizationId: by.id } })
    service.clock.advance(60_000)
    const again = await send(by).set('Idempotency-Key', 'retry-1')
    expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([status, first.text, 'true'])
    expect(again.headers['content-type']).toBe(first.headers['content-type'])
  })

  it('stores nothing without the header', async () => {
    const other = await createInvites()
    const [plain, keyed] = [await send(by), await send(other).set('Idempotency-Key', 'retry-1')]
    const shape = ({ body, headers }: typeof plain) => [
      Object.keys(body),
      Object.keys(body.invite ?? {}),
      headers['content-type'],
    ]
    expect([plain.status, shape(plain)]).toEqual([keyed.status, shape(keyed)])
    expect(plain.headers).not.toHaveProperty('idempotent-replayed')
    expect([await records(by), await records(other)]).toEqual([0, 1])
  })

  it('rejects a malformed key with 400, and changes nothing', async () => {
    const before = await leftBehind(service, by.id)
    for (const key of ['', 'two words', 'tab\there', 'é', 'x'.repeat(256)]) {
      const { status, body } = await send(by).set('Idempotency-Key', key)
      const words = JSON.stringify(body)
      expect([key, status, words]).toEqual([
        key,
        400,
        expect.stringMatching(/Idempotency-Key.*1 to 255 printable ASCII characters without spaces/),
      ])
    }
    expect([await leftBehind(service, by.id), await records(by)]).toEqual([before, 0])
  })
})

it('sends one mail for fifty requests with the same key', async () => {
  const [invites] = posts
  await Promise.all(
    Array.from({ length: AT_ONCE }, () => repeatWhileBusy(() => invites!.send(by).set('Idempotency-Key', 'one-mail'))),
  )
  // This mail is queued last, so a duplicate would be sent before it.
  const last = `last-${by.id}@example.com`
  await by.client.post('/invites').send({ assessmentId: by.assessment.id, recipientEmail: last })
  const received = (address: string) => smtp.mails.filter(({ envelope }) => envelope.to[0] === address).length
  await vi.waitFor(() => expect([received(last), received(recipient(by))]).toEqual([1, 1]), PATIENT)
})

describe('a used Idempotency-Key', () => {
  const MESSAGE = 'This Idempotency-Key has already been used for another request'
  const tag = (name: string, key = 'used', client = by.client) => client.post('/tags').set('Idempotency-Key', key).send({ name })

  it('is rejected with 422 for another body or another path, in both interfaces', async () => {
    await tag('First')
    const others = [
      tag('Second'),
      by.client.post('/tags?x=1').set('Idempotency-Key', 'used').send({ name: 'First' }),
      by.client.post(`/invites/${by.pending.id}/revoke`).set('Idempotency-Key', 'used'),
    ]
    for (const request of others) {
      const { status, body } = await request
      expect([status, body]).toEqual([422, { error: MESSAGE }])
    }
    const { status, body } = await by.alternate.post('/assessment_invites').set('Idempotency-Key', 'used').send(alternateBody(by))
    expect([status, body]).toEqual([422, { detail: `${MESSAGE}.` }])
    expect(await leftBehind(service, by.id)).toMatchObject({ invites: 2, tags: 1 })
    expect((await service.db.invite.findUnique({ where: { id: by.pending.id } }))!.status).toBe('pending')
  })

  it('can be reused after 24 hours, not a millisecond sooner', async () => {
    await tag('First')
    service.clock.advance(DAY_MS - 1)
    expect((await tag('Second')).status).toBe(422)
    expect((await tag('First')).headers['idempotent-replayed']).toBe('true')
    service.clock.advance(1)
    const { status, body, headers } = await tag('Second')
    expect([status, body.tag.name, headers['idempotent-replayed']]).toEqual([201, 'Second', undefined])
  })

  it('is deleted by the sweep after 24 hours', async () => {
    await tag('First')
    service.clock.advance(DAY_MS - 1)
    await deleteExpiredRows(service.system, 'delete_expired_idempotency_records')
    expect(await records(by)).toBe(1)
    service.clock.advance(1)
    await deleteExpiredRows(service.system, 'delete_expired_idempotency_records')
    expect(await records(by)).toBe(0)
  })

  it('is valid for all API keys of the organization, and for no other organization', async () => {
    const { key } = await createApiKey(service.system, { organizationId: by.id, name: 'Second', mode: 'live' })
    const other = await createInvites()
    const first = await tag('Shared')
    const second = await tag('Shared', 'used', service.v1(key))
    expect([second.text, second.headers['idempotent-replayed']]).toEqual([first.text, 'true'])
    const foreign = await tag('Shared', 'used', other.client)
    expect([foreign.status, foreign.headers['idempotent-replayed']]).toEqual([201, undefined])
    expect(foreign.body.tag.id).not.toBe(first.body.tag.id)
  })

  it('repeats a secret only to the API key that received it', async () => {
    const { key } = await createApiKey(service.system, { organizationId: by.id, name: 'Second', mode: 'live' })
    const create = (client: typeof by.client) =>
      client.post('/webhooks').set('Idempotency-Key', 'webhook').send({ url: 'https://example.com/hook' })
    const first = await create(by.client)
    expect([first.status, first.body.secret]).toEqual([201, expect.stringMatching(/^whsec_/)])
    const other = await create(service.v1(key))
    expect([other.status, other.headers['x-error-code']]).toEqual([422, 'idempotency_key_reused'])
    expect(other.text).not.toContain(first.body.secret)
    const again = await create(by.client)
    expect([again.text, again.headers['idempotent-replayed']]).toEqual([first.text, 'true'])
    const { encryptedFor, body } = await service.db.idempotencyRecord.findFirstOrThrow({ where: { organizationId: by.id } })
    expect(encryptedFor).toMatch(/^apiKey /)
    expect(body).not.toContain(first.body.secret)
  })

  it('is separate for live and test keys', async () => {
    const { key } = await createApiKey(service.system, { organizationId: by.id, name: 'Sandbox', mode: 'test' })
    const invite = (client: typeof by.client, recipientEmail: string) =>
      client.post('/invites').set('Idempotency-Key', 'used').send({ assessmentId: by.assessment.id, recipientEmail })
    expect((await invite(service.v1(key), 'sandbox@example.com')).status).toBe(201)
    const { status, headers } = await invite(by.client, 'sandbox@example.com')
    expect([status, headers['idempotent-replayed']]).toEqual([201, undefined])
  })

  it('may have 255 characters, and is case-sensitive', async () => {
    expect((await tag('Long', '~'.repeat(255))).status).toBe(201)
    expect((await tag('Upper', 'A')).status).toBe(201)
    expect((await tag('Lower', 'a')).status).toBe(201)
  })
})

describe('an identical request', () => {
  const send = (body: string, of = by.client, path = '/invites') =>
    of.post(path).set('Idempotency-Key', 'same').set('content-type', 'application/json').send(body)
  const v1 = (more: string) => `{"assessmentId":"${by.assessment.id}","recipientEmail":"same@example.com"${more}}`

  it('may have another order of members and other white space', async () => {
    const first = await send(
      v1(',"proctoringSettings":{"screenRecording":true,"webcamMonitoring":false},"x":[{"a":1,"b":[2,{"c":3,"d":4}]}]'),
    )
    expect(first.status).toBe(201)
    const again =
      await send(`{ "x": [{"b":[2, {"d":4,"c":3.0}],"a":1}], "proctoringSettings":{"webcamMonitoring":false, "screenRecording":true},
      "recipientEmail":"same@example.com", "assessmentId":"${by.assessment.id}" }`)
    expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([201, first.text, 'true'])
  })

  it('may have another order of members in the alternate interface', async () => {
    const body = alternateBody(by)
    const turned = Object.fromEntries(Object.entries(body).reverse())
    const first = await send(JSON.stringify(body), by.alternate, '/assessment_invites')
    const again = await send(JSON.stringify(turned), by.alternate, '/assessment_invites')
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text])
  })

  it.each([
    ['an explicit default', ',"questionReplayLimit":1'],
    ['an empty object', ',"proctoringSettings":{}'],
    ['null', ',"recipientName":null'],
    ['an unknown field', ',"x":1'],
  ])("can't differ in %s", async (_what, more) => {
    expect((await send(v1(''))).status).toBe(201)
    expect((await send(v1(more))).status).toBe(422)
  })

  it.each([
    ['a list in another order', '[1,2]', '[2,1]'],
    ['a number and its digits', '1', '"1"'],
    ['a list and an object', '["a"]', '{"0":"a"}'],
    ['a number beyond the range, and null', '1e400', 'null'],
    ['text that looks like two members', '{"a":"1,b:2"}', '{"a":1,"b":2}'],
  ])("can't differ in %s", async (_what, one, other) => {
    expect((await send(v1(`,"x":${one}`))).status).toBe(201)
    expect((await send(v1(`,"x":${other}`))).status).toBe(422)
  })

  it('distinguishes "1" from 1 in the alternate interface', async () => {
    const body = alternateBody(by)
    const words = { ...body, question_play_limit: '1' }
    expect((await send(JSON.stringify(body), by.alternate, '/assessment_invites')).status).toBe(201)
    expect((await send(JSON.stringify(words), by.alternate, '/assessment_invites')).status).toBe(422)
  })
})
