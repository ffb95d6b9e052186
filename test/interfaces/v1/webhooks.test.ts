import { describe, expect, it } from 'vitest'
import { createApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { encrypt } from '../../../src/domain/secrets/encryption.ts'
import { enqueueDeliveries } from '../../../src/domain/webhooks/enqueue-deliveries.ts'
import { decryptWebhookSecrets, reencryptWebhookSecrets } from '../../../src/domain/webhooks/secrets.ts'
import { unknownId } from '../../support/factories.ts'
import { startReceiver, verify } from '../../support/receiver.ts'
import { SECRET_KEY, startServiceForFile, startServiceForTest } from '../../support/service.ts'
import { findInTables } from '../../support/tables.ts'
import { waitUntil } from '../../support/wait-until.ts'
import { makeIntegrator, TO_LOOPBACK } from '../../support/webhooks.ts'

const service = await startServiceForFile(TO_LOOPBACK)

const URL = 'https://hr.example.com/hooks'
type Client = Awaited<ReturnType<typeof makeIntegrator>>['client']

describe('POST /webhooks', () => {
  it('creates a webhook for all live events, and shows its secret once', async () => {
    const { client } = await makeIntegrator(service)
    const { status, body, headers } = await client.post('/webhooks').send({ url: URL })
    expect([status, headers['cache-control']]).toEqual([201, 'no-store'])
    expect(body.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const now = service.clock.now().toISOString()
    expect(body.webhook).toEqual({
      id: expect.any(String),
      ...{ url: URL, types: [], mode: 'live', description: '', state: 'active', stateSince: now, disabledReason: null },
      ...{ failingSince: null, missedFrom: null, replayedUpTo: null, previousSecretUntil: null, createdAt: now, updatedAt: now },
    })
    expect(headers.location).toMatch(new RegExp(`/api/v1/webhooks/${body.webhook.id}$`))
    expect((await client.get(`/webhooks/${body.webhook.id}`)).body).toEqual({ webhook: body.webhook })
    expect((await client.get('/webhooks')).body).toMatchObject({ webhooks: [body.webhook], pagination: { total: 1 } })
  })

  it.each([
    [{}, 'url is required'],
    [{ url: 5 }, 'url must be a string'],
    [{ url: 'example.com' }, 'url is not a URL'],
    [{ url: 'http://example.com' }, 'url must begin with https://'],
    [{ url: 'https://a:b@example.com' }, 'url must not contain a user name or password'],
    [{ url: 'https://example.com:22' }, 'url must have the port 80, 443, or one above 1023'],
    [{ url: 'https://169.254.169.254' }, expect.stringMatching(/^url must not lead to a private .* WEBHOOK_ALLOW$/)],
    [{ url: 'http://localhost:8080/' }, expect.stringMatching(/^url must not lead to a private .* WEBHOOK_ALLOW$/)],
    [{ url: `https://example.com/${'x'.repeat(2_048)}` }, 'url must be at most 2048 characters long'],
    [{ url: URL, mode: 'both' }, 'mode must be one of live, test, all'],
    [{ url: URL, types: 'all' }, 'types must be an array'],
    [{ url: URL, types: ['invite.lost'] }, expect.stringMatching(/^types\.0 must be one of invite\.created, /)],
    [{ url: URL, description: '\0' }, expect.stringContaining('description must not contain NUL')],
  ])('rejects %j', async (body, error) => {
    const { client } = await makeIntegrator(service)
    const response = await client.post('/webhooks').send(body)
    expect([response.status, response.body]).toEqual([400, { error }])
  })

  it('gives a retry the first response with its secret, which the database does not store in plain text', async () => {
    const { client } = await makeIntegrator(service)
    const create = () => client.post('/webhooks').set('Idempotency-Key', 'once').send({ url: URL })
    const first = await create()
    const again = await create()
    expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([201, first.text, 'true'])
    expect(again.headers.location).toContain(`/api/v1/webhooks/${first.body.webhook.id}`)
    const rotate = () => client.post(`/webhooks/${first.body.webhook.id}/rotate-secret`).set('Idempotency-Key', 'rotation')
    const rotated = await rotate()
    const rotatedAgain = await rotate()
    expect(rotatedAgain.text).toBe(rotated.text)
    for (const { headers } of [first, again, rotated, rotatedAgain]) expect(headers['cache-control']).toBe('no-store')
    const secrets = [first.body.secret, rotated.body.secret]
    expect(new Set(secrets).size).toBe(2)
    const keys = secrets.map((secret: string) => secret.slice('whsec_'.length))
    expect(
      await findInTables(service, [...secrets, ...keys, ...keys.map((key) => Buffer.from(key, 'base64').toString('hex'))]),
    ).toEqual([])
    for (const secret of [...secrets, ...keys]) expect(service.logLines.join()).not.toContain(secret)
    const shown = [await client.get('/webhooks'), await client.get(`/webhooks/${first.body.webhook.id}`)]
    for (const { text } of shown) expect(text).not.toMatch(/whsec_|secret"/)
  })

  it('limits an organization to 20, even for concurrent requests', async () => {
    const { client, id } = await makeIntegrator(service)
    const answers = await Promise.all(Array.from({ length: 24 }, () => client.post('/webhooks').send({ url: URL })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20)
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused.map(({ status, body }) => [status, body])).toEqual(
      Array.from({ length: 4 }, () => [409, { error: 'An organization can have at most 20 webhooks' }]),
    )
    expect(await service.db.webhookEndpoint.count({ where: { organizationId: id } })).toBe(20)
    const [one] = (await client.get('/webhooks')).body.webhooks
    await client.delete(`/webhooks/${one.id}`)
    expect((await client.post('/webhooks').send({ url: URL })).status).toBe(201)
  })
})

describe('PATCH /webhooks/{webhookId}', () => {
  it('changes the given fields, and rejects values that are invalid for a new webhook', async () => {
    const own = await makeIntegrator(service)
    const { path } = await own.subscribe({ url: URL })
    const before = (await own.client.get(path)).body.webhook
    const change = { types: ['invite.created', 'invite.created'], mode: 'all', description: 'All', url: `${URL}/2` }
    const { status, body } = await own.client.patch(path).send(change)
    const { updatedAt } = body.webhook
    expect([status, body.webhook]).toEqual([200, { ...before, ...change, types: ['invite.created'], updatedAt }])
    expect(Date.parse(updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt))
    expect((await own.client.patch(path).send({})).body.error).toMatch(/^At least one of/)
    expect((await own.client.patch(path).send({ url: 'http://receiver.example/' })).body.error).toBe(
      'url must begin with https://',
    )
    expect((await own.client.get(path)).body).toEqual(body)
  })

  it('disables and enables a webhook, and changes nothing when repeated', async () => {
    const own = await makeIntegrator(service)
    const { path } = await own.subscribe({ url: URL })
    const set = async (state: string) => (await own.client.patch(path).send({ state })).body.webhook
    const disabled = await set('disabled')
    expect(disabled).toMatchObject({ state: 'disabled', disabledReason: 'manual', missedFrom: expect.stringMatching(/^\d+$/) })
    service.clock.advance(1_000)
    expect(await set('disabled')).toEqual({ ...disabled, updatedAt: service.clock.now().toISOString() })
    expect(await set('active')).toMatchObject({ state: 'active', disabledReason: null, missedFrom: disabled.missedFrom })
  })
})

it('deletes a webhook permanently, with its pending deliveries', async () => {
  const own = await makeIntegrator(service)
  const receiver = await startReceiver((response) => void response.writeHead(500).end())
  const { path, id } = await own.subscribe(receiver)
  await own.invite()
  await receiver.waitFor(1)
  const { status, body } = await own.client.delete(path)
  expect([status, body.webhook.id]).toEqual([200, id])
  for (const request of [own.client.get(path), own.client.get(`${path}/deliveries`), own.client.delete(path)])
    expect(await request).toMatchObject({ status: 404, body: { error: 'Webhook not found' } })
  expect((await own.client.get('/webhooks')).body.webhooks).toEqual([])
})

it('keeps a webhook deleted despite concurrent changes', async () => {
  const own = await makeIntegrator(service)
  for (let i = 0; i < 10; i++) {
    const { path } = await own.subscribe({ url: URL })
    const patch = async (state: string) => own.client.patch(path).send({ state })
    const [deleted, ...patched] = await Promise.all([own.client.delete(path), ...['disabled', 'active', 'disabled'].map(patch)])
    expect(deleted.status).toBe(200)
    for (const { status } of patched) expect([200, 404]).toContain(status)
    expect((await own.client.get(path)).status).toBe(404)
  }
})

describe('a test key', () => {
  it('lists and creates only webhooks of the mode test, which are hidden from live keys', async () => {
    const live = await makeIntegrator(service)
    const { key } = await createApiKey(service.system, { organizationId: live.id, name: 'Of tests', mode: 'test' })
    const client = service.v1(key)
    const hidden = await live.subscribe({ url: URL })
    const made = await client.post('/webhooks').send({ url: URL })
    expect(made.body.webhook.mode).toBe('test')
    expect((await client.get('/webhooks')).body.webhooks).toEqual([made.body.webhook])
    expect((await live.client.get('/webhooks')).body.pagination.total).toBe(1)
    const path = `/webhooks/${made.body.webhook.id}`
    expect((await live.client.get(path)).status).toBe(404)
    expect((await live.client.post('/webhooks').send({ url: URL, mode: 'test' })).body.error).toBe(
      'mode must be one of live, all, because this is a live key. Use a test key for test data',
    )
    for (const mode of ['live', 'all']) {
      const refused = [await client.post('/webhooks').send({ url: URL, mode }), await client.patch(path).send({ mode })]
      for (const { status, body } of refused)
        expect([status, body.error]).toEqual([400, 'mode must be test, because this is a test key. Use a live key for live data'])
    }
    for (const method of ['get', 'delete'] as const) expect((await client[method](hidden.path)).status).toBe(404)
    expect((await client.post(`${hidden.path}/rotate-secret`)).status).toBe(404)
  })
})

describe("another organization's webhook", () => {
  it('gets from every operation byte for byte the response for an unknown one', async () => {
    const [own, foreign] = [await makeIntegrator(service), await makeIntegrator(service)]
    const receiver = await startReceiver()
    const theirs = await foreign.subscribe(receiver)
    await foreign.invite()
    const [message] = await receiver.waitFor(1)
    const delivered = async () => ((await foreign.deliveries(theirs))[0]?.state === 'delivered' ? true : undefined)
    await waitUntil('the delivery to be recorded', delivered)
    const mine = await own.subscribe({ url: URL })
    const { client } = own
    const operations = (id: string) => [
      client.get(`/webhooks/${id}`),
      client.patch(`/webhooks/${id}`).send({ state: 'disabled' }),
      client.delete(`/webhooks/${id}`),
      client.post(`/webhooks/${id}/rotate-secret`),
      client.post(`/webhooks/${id}/test`),
      client.post(`/webhooks/${id}/replay`).send({ fromCursor: '0' }),
      client.get(`/webhooks/${id}/deliveries`),
      client.get(`/webhooks/${id}/deliveries/${message!.id}`),
      client.post(`/webhooks/${id}/deliveries/${message!.id}/replay`),
    ]
    for (const id of [theirs.id, unknownId, 'none', '%00']) {
      const answers = await Promise.all(operations(id))
      expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(() => [404, '{"error":"Webhook not found"}']))
    }
    for (const id of [message!.id, unknownId, 'none']) {
      const answers = [
        await client.get(`${mine.path}/deliveries/${id}`),
        await client.post(`${mine.path}/deliveries/${id}/replay`),
      ]
      for (const { status, body } of answers) expect([status, body]).toEqual([404, { error: 'Delivery not found' }])
    }
    expect(receiver.received).toHaveLength(1)
  })
})

describe('webhook deliveries', () => {
  it('are listed by their state, in pages', async () => {
    const own = await makeIntegrator(service)
    const receiver = await startReceiver()
    const webhook = await own.subscribe(receiver)
    for (let i = 0; i < 3; i++) await own.invite()
    const delivered = async () => ((await own.deliveries(webhook, '&state=delivered')).length === 3 ? true : undefined)
    await waitUntil('three deliveries', delivered)
    receiver.behave((response) => void response.writeHead(500).end())
    const last = await own.invite()
    const waiting = () => own.deliveries(webhook, '&state=waiting')
    await waitUntil('a failure', async () => ((await waiting())[0]?.attemptCount === 1 ? true : undefined))
    expect(receiver.received.at(-1)!.event.data.inviteId).toBe(last)
    const { body, headers } = await own.client.get(`${webhook.path}/deliveries?limit=3&page=2`)
    expect(body.pagination).toEqual({ page: 2, limit: 3, total: 4, totalPages: 2 })
    expect(body.deliveries).toHaveLength(1)
    expect(headers).toHaveProperty('events-cursor')
    expect((await own.client.get(`${webhook.path}/deliveries?state=lost`)).body.error).toBe(
      'state must be one of waiting, delivered, failed',
    )
  })

  it.each(['', 'x', '-1', '9'.repeat(19)])('are not replayed from the invalid cursor %j', async (fromCursor) => {
    const own = await makeIntegrator(service)
    const { path } = await own.subscribe({ url: URL })
    expect((await own.client.post(`${path}/replay`).send({ fromCursor })).status).toBe(400)
  })

  it('are not replayed from a cursor beyond the end of the feed', async () => {
    const own = await makeIntegrator(service)
    const { path } = await own.subscribe({ url: URL })
    expect((await own.client.post(`${path}/replay`).send({ fromCursor: '9'.repeat(18) })).status).toBe(410)
  })

  it('are created once if a replay overlaps with the regular delivery', async () => {
    const idle = await startServiceForTest({ ...TO_LOOPBACK, ROLE: 'api' }) // runs no jobs by itself
    const own = await makeIntegrator(idle)
    const numbered = (count: number) =>
      waitUntil('the events', async () => ((await own.client.get('/events')).body.events.length === count ? true : undefined))
    await own.invite()
    await numbered(1)
    const webhook = await own.subscribe({ url: URL })
    await own.invite()
    await numbered(2)
    expect((await own.client.post(`${webhook.path}/replay`).send({ fromCursor: '0' })).status).toBe(200)
    const { position, replayUntil } = await idle.db.webhookEndpoint.findUniqueOrThrow({ where: { id: webhook.id } })
    expect(replayUntil).toBe(position)
    let more = true
    while (more) ({ more } = await enqueueDeliveries(idle.system))
    expect(await own.deliveries(webhook)).toHaveLength(2)
  })
})

it.each([
  ['a change', (client: Client, path: string) => client.patch(path).send({ description: 'Changed' })],
  ['a rotation', (client: Client, path: string) => client.post(`${path}/rotate-secret`)],
  ['a replay', (client: Client, path: string) => client.post(`${path}/replay`).send({ fromCursor: '0' })],
])('answers 404 if a webhook is deleted during %s', async (_, send) => {
  const own = await makeIntegrator(service)
  const { id, path } = await own.subscribe({ url: URL })
  const answer = await service.db.$transaction(async (db) => {
    await db.webhookEndpoint.update({ where: { id }, data: { deletedAt: new Date(), state: 'disabled' } })
    const sent = send(own.client, path).then((response) => response)
    await waitUntil('the request to wait for the deletion', async () => {
      const [{ waits }] = await service.db.$queryRaw<[{ waits: bigint }]>`
        SELECT count(*) AS waits FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      return waits > 0n ? true : undefined
    })
    return { sent }
  })
  const { status, body } = await answer.sent
  expect([status, body.error]).toEqual([404, 'Webhook not found'])
})

it('rejects a third secret within 24 hours, which would end the first, unless forced', async () => {
  const own = await makeIntegrator(service)
  const { id, secret, path } = await own.subscribe({ url: URL })
  const rotate = (body?: object) => own.client.post(`${path}/rotate-secret`).send(body)
  const second = await rotate()
  const refused = await rotate()
  expect([refused.status, refused.headers['x-error-code']]).toEqual([409, 'secret_rotated'])
  const endpoint = () => service.db.webhookEndpoint.findUniqueOrThrow({ where: { id } })
  expect(decryptWebhookSecrets(service.system, await endpoint())).toEqual([second.body.secret, secret])
  const forced = await rotate({ force: true })
  expect([forced.status, decryptWebhookSecrets(service.system, await endpoint())]).toEqual([
    200,
    [forced.body.secret, second.body.secret],
  ])
})

it('delivers both ranges if a second replay is requested during the first', async () => {
  const idle = await startServiceForTest({ ...TO_LOOPBACK, ROLE: 'api' }) // runs no jobs by itself
  const own = await makeIntegrator(idle)
  for (let count = 0; count < 3; count++) await own.invite()
  const cursor = await waitUntil('the events', async () => {
    const { body } = await own.client.get('/events')
    return body.events.length === 3 ? (body.events[1].position as number) : undefined
  })
  const webhook = await own.subscribe({ url: URL })
  for (const fromCursor of ['0', String(cursor)]) {
    const { status, body } = await own.client.post(`${webhook.path}/replay`).send({ fromCursor })
    expect([status, body.webhook.replayedUpTo]).toEqual([200, '0'])
  }
  let more = true
  while (more) ({ more } = await enqueueDeliveries(idle.system))
  expect(await own.deliveries(webhook)).toHaveLength(3)
})

it('keeps both secrets of a rotation when SECRET_KEY changes, even if one is encrypted with the old key', async () => {
  const NEW_KEY = 'another secret that is only good for tests 987654'
  const first = await startServiceForTest()
  const own = await makeIntegrator(first)
  const { id, secret: previous, path } = await own.subscribe({ url: URL })
  const { body } = await own.client.post(`${path}/rotate-secret`)
  const purpose = `webhook ${id}`
  const deps = { ...first.deps, secretKeys: [NEW_KEY, SECRET_KEY] }
  for (const data of [
    { encryptedPreviousSecret: encrypt([NEW_KEY], purpose, previous) },
    { encryptedPreviousSecret: encrypt([SECRET_KEY], purpose, previous) },
  ]) {
    await first.db.webhookEndpoint.update({ where: { id }, data })
    await reencryptWebhookSecrets({ ...first.system, deps })
    const endpoint = await first.db.webhookEndpoint.findUniqueOrThrow({ where: { id } })
    expect(decryptWebhookSecrets({ ...first.system, deps: { ...deps, secretKeys: [NEW_KEY] } }, endpoint)).toEqual([
      body.secret,
      previous,
    ])
  }
})

it('continues to sign after SECRET_KEY changes, and then no longer needs the old key', async () => {
  const first = await startServiceForTest(TO_LOOPBACK)
  const own = await makeIntegrator(first)
  const receiver = await startReceiver()
  const { secret } = await own.subscribe(receiver)
  await first.close()
  const NEW_KEY = 'another secret that is only good for tests 987654'
  for (const SECRET of [`${NEW_KEY},${SECRET_KEY}`, NEW_KEY]) {
    const next = await startServiceForTest({ ...TO_LOOPBACK, DATABASE_URL: first.databaseUrl, SECRET_KEY: SECRET })
    await reencryptWebhookSecrets(next.system)
    const { received } = receiver
    const count = received.length
    const again = next.v1(own.key)
    await again
      .post('/invites')
      .send({ assessmentId: own.assessmentId, recipientEmail: `${count}@example.com`, sendEmail: false })
    const message = (await receiver.waitFor(count + 1)).at(-1)!
    expect(verify(secret, message)).toEqual(message.event)
    await next.close()
  }
})
