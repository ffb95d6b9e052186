import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { Webhook } from 'standardwebhooks'
import { beforeAll, describe, expect, it } from 'vitest'
import { createApiKey } from '../../src/domain/api-keys/api-keys.ts'
import { EVENT_TYPES } from '../../src/domain/events/event.ts'
import { findMemberEmails } from '../../src/domain/mails/member-emails.ts'
import { renderMemberEmail } from '../../src/mail/member-email.ts'
import { DAY_MS } from '../support/factories.ts'
import { readDocument } from '../support/openapi.ts'
import { answerWith, hang, type Received, startReceiver, verify } from '../support/receiver.ts'
import { startServiceForFile, startServiceForTest } from '../support/service.ts'
import { itSlow } from '../support/slow.ts'
import { waitUntil } from '../support/wait-until.ts'
import { makeIntegrator, TO_LOOPBACK } from '../support/webhooks.ts'

const service = await startServiceForFile(TO_LOOPBACK)

type Integrator = Awaited<ReturnType<typeof makeIntegrator>>
type Subscribed = Awaited<ReturnType<Integrator['subscribe']>>

const SECOND = 1_000
const HOUR = 3_600 * SECOND

/** Waits until the only delivery of a webhook has the expected fields. */
const becomes = (of: Integrator, webhook: Subscribed, expected: object) =>
  waitUntil(`a delivery like ${JSON.stringify(expected)}`, async () => {
    const [delivery] = await of.deliveries(webhook)
    const isSo = Object.entries(expected).every(([field, value]) => delivery?.[field as 'state'] === value)
    return isSo ? delivery : undefined
  })

/** Expects mails about webhooks to the organization's admin, which contain only the host of the webhook's URL. */
async function expectMails(organizationId: string, adminId: string, kinds: string[]): Promise<void> {
  const queued = await service.db.memberEmail.findMany({ where: { organizationId }, orderBy: { id: 'asc' } })
  expect(queued.map(({ kind, memberId }) => [kind, memberId])).toEqual(kinds.map((kind) => [kind, adminId]))
  const settings = { ...service.mailSettings, mailFrom: 'a@example.com' }
  for (const email of await findMemberEmails(service.system, queued)) {
    const { subject, text, html } = renderMemberEmail(settings, email)
    expect(subject).toMatch(/^A webhook of .+ (has been failing|was disabled)$/)
    for (const part of [text, html]) {
      expect(part).toMatch(/\b[Ss]ince (?:<bdi>)?\w+, \d+ \w+ \d{4} at/)
      expect(part).toContain('127.0.0.1')
      expect(part).not.toContain('token')
    }
  }
}

describe('a message', () => {
  it('is the event as in the feed, with a signature that the standard library verifies', async () => {
    const own = await makeIntegrator(service)
    const receiver = await startReceiver()
    const { secret } = await own.subscribe(receiver)
    const inviteId = await own.invite()
    const [message] = (await receiver.waitFor(1)) as [Received]
    const { body } = await own.client.get('/events')
    expect(message.event).toEqual(body.events[0])
    expect(message.event).toMatchObject({ type: 'invite.created', data: { inviteId } })
    expect(message.id).toBe(message.event.id)
    expect(verify(secret, message)).toEqual(message.event)
    expect(() => verify(`whsec_${Buffer.from('x'.repeat(32)).toString('base64')}`, message)).toThrow()
    expect(() => verify(secret, { ...message, body: `${message.body} ` })).toThrow()
  })

  it('is sent once to each subscribed webhook, and to no other', async () => {
    const [own, foreign] = [await makeIntegrator(service), await makeIntegrator(service)]
    const [all, some, test, theirs] = [await startReceiver(), await startReceiver(), await startReceiver(), await startReceiver()]
    await own.subscribe(all)
    await own.subscribe(some, { types: ['invite.revoked'] })
    const { key } = await createApiKey(service.system, { organizationId: own.id, name: 'Trials', mode: 'test' })
    await service.v1(key).post('/webhooks').send({ url: test.url }).expect(201)
    await foreign.subscribe(theirs)
    const inviteId = await own.invite()
    await own.client.post(`/invites/${inviteId}/revoke`)
    await foreign.invite()
    await Promise.all([all.waitFor(2), some.waitFor(1), theirs.waitFor(1)])
    expect(all.received.map(({ event }) => event.type).sort()).toEqual(['invite.created', 'invite.revoked'])
    expect(some.received.map(({ event }) => event.type)).toEqual(['invite.revoked'])
    expect(theirs.received.map(({ event }) => event.data.inviteId)).not.toContain(inviteId)
    expect(theirs.received).toHaveLength(1)
    expect(test.connections()).toBe(0)
  })

  it('is sent for a test event to webhooks of the mode test or all', async () => {
    const own = await makeIntegrator(service, { mode: 'test' })
    const receiver = await startReceiver()
    await own.subscribe(receiver)
    await own.invite()
    expect((await receiver.waitFor(1))[0]!.event.data.mode).toBe('test')
  })

  it('is signed with both secrets for 24 hours after a rotation, then with the new one alone', async () => {
    const own = await makeIntegrator(service)
    const receiver = await startReceiver()
    const { secret, path } = await own.subscribe(receiver)
    const rotated = await own.client.post(`${path}/rotate-secret`)
    expect(rotated.status).toBe(200)
    expect(rotated.headers['cache-control']).toBe('no-store')
    expect(rotated.body.secret).not.toBe(secret)
    await own.invite()
    const [message] = (await receiver.waitFor(1)) as [Received]
    expect(message.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/)
    for (const known of [secret, rotated.body.secret]) expect(verify(known, message)).toEqual(message.event)
    service.clock.advance(DAY_MS)
    await own.invite()
    const [, later] = (await receiver.waitFor(2)) as [Received, Received]
    const sentAt = new Date(Number(later.headers['webhook-timestamp']) * 1_000)
    expect(later.headers['webhook-signature']).toBe(new Webhook(rotated.body.secret).sign(later.id, sentAt, later.body))
  })
})

describe('a failed attempt', () => {
  itSlow('is followed by nine more of the same message at growing intervals, then the delivery fails', async () => {
    const own = await makeIntegrator(service)
    const receiver = await startReceiver(answerWith(500, {}, 'out of order\0'))
    const webhook = await own.subscribe(receiver)
    await own.invite()
    const delays = [5 * SECOND, 300 * SECOND, 1800 * SECOND, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR]
    for (const [i, delay] of delays.entries()) {
      const { nextAttemptAt } = await becomes(own, webhook, { state: 'waiting', attemptCount: i + 1 })
      const wait = new Date(nextAttemptAt!).getTime() - service.clock.now().getTime()
      expect(wait / delay).toBeGreaterThan(0.89)
      expect(wait / delay).toBeLessThan(1.11)
      service.clock.advance(wait)
    }
    const { id } = await becomes(own, webhook, { state: 'failed', attemptCount: 10, nextAttemptAt: null })
    expect(new Set(receiver.received.map((message) => message.id + message.body)).size).toBe(1)
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-signature'])).size).toBe(10)
    const { body } = await own.client.get(`${webhook.path}/deliveries/${id}`)
    expect(body.delivery.attempts.map(({ number }: { number: number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(body.delivery.attempts[0]).toMatchObject({ status: 500, error: '', answer: 'out of order' })
  })

  it.each([
    ['a redirect', answerWith(302, { location: 'http://127.0.0.1/' }), { status: 302 }],
    ['no answer', (response: { destroy: () => void }) => response.destroy(), { status: null, error: 'socket hang up' }],
    ['404', answerWith(404), { status: 404 }],
  ])('is recorded for %s', async (_what, behavior, expected) => {
    const own = await makeIntegrator(service)
    const receiver = await startReceiver(behavior)
    const webhook = await own.subscribe(receiver)
    await own.invite()
    const { id } = await becomes(own, webhook, { state: 'waiting', attemptCount: 1 })
    const { body } = await own.client.get(`${webhook.path}/deliveries/${id}`)
    expect(body.delivery.attempts).toEqual([expect.objectContaining(expected)])
    receiver.behave(answerWith(200, {}, 'x'.repeat(5_000)))
    service.clock.advance(6 * SECOND)
    await becomes(own, webhook, { state: 'delivered', attemptCount: 2, nextAttemptAt: null })
    const again = await own.client.get(`${webhook.path}/deliveries/${id}`)
    expect(again.body.delivery.attempts[1]).toMatchObject({ number: 2, status: 200, answer: 'x'.repeat(1024) })
  })

  it.each([
    ['60', 60 * SECOND],
    ['99999999', DAY_MS],
    ['later', 5 * SECOND],
    ['', 5 * SECOND],
    ['-5', 5 * SECOND],
  ])('is repeated after Retry-After, within a day: %s', async (retryAfter, expected) => {
    const own = await makeIntegrator(service)
    const webhook = await own.subscribe(await startReceiver(answerWith(429, { 'retry-after': retryAfter })))
    await own.invite()
    const { nextAttemptAt } = await becomes(own, webhook, { state: 'waiting', attemptCount: 1 })
    const wait = new Date(nextAttemptAt!).getTime() - service.clock.now().getTime()
    expect(wait / expected).toBeGreaterThan(0.89)
    expect(wait / expected).toBeLessThan(1.11)
  })
})

describe('an endpoint', () => {
  const state = async (of: Integrator, { path }: Subscribed) => (await of.client.get(path)).body.webhook
  const waitForState = (of: Integrator, webhook: Subscribed, wanted: string) =>
    waitUntil(`the webhook to be ${wanted}`, async () => {
      const now = await state(of, webhook)
      return now.state === wanted ? now : undefined
    })

  it('is disabled by a 410, and receives nothing until it is enabled', async () => {
    const own = await makeIntegrator(service)
    const receiver = await startReceiver(answerWith(410))
    const webhook = await own.subscribe(receiver)
    await own.invite()
    const gone = await waitForState(own, webhook, 'disabled')
    expect(gone).toMatchObject({ disabledReason: 'gone', missedFrom: expect.stringMatching(/^\d+$/) })
    await becomes(own, webhook, { state: 'failed', attemptCount: 1 })
    receiver.behave(answerWith(204))
    const missed = await own.invite()
    await waitUntil('it to be in the feed', async () =>
      (await own.client.get('/events')).body.events.length === 2 ? true : undefined,
    )
    expect((await own.client.post(`${webhook.path}/test`)).status).toBe(409)
    expect((await own.client.post(`${webhook.path}/replay`).send({ fromCursor: gone.missedFrom })).status).toBe(409)
    const enabled = await own.client.patch(webhook.path).send({ state: 'active' })
    expect(enabled.body.webhook).toMatchObject({ state: 'active', disabledReason: null, missedFrom: gone.missedFrom })
    const laterInvite = await own.invite()
    await receiver.waitFor(2)
    expect(receiver.received[1]!.event.data.inviteId).toBe(laterInvite)

    const replay = await own.client.post(`${webhook.path}/replay`).send({ fromCursor: gone.missedFrom })
    expect([replay.status, replay.body.webhook.replayedUpTo]).toEqual([200, gone.missedFrom])
    expect(replay.body.webhook.missedFrom).toBeNull()
    await receiver.waitFor(4)
    const again = receiver.received.slice(2).map(({ event }) => event.data.inviteId)
    expect(again.sort()).toEqual([missed, laterInvite].sort())
    await waitUntil('the replay to be over', async () => ((await state(own, webhook)).replayedUpTo === null ? true : undefined))
  })

  it('is disabled after 5 days of failures, after two warnings to its organization', async () => {
    const own = await makeIntegrator(service)
    const { id: adminId } = await service.make.member(own.id, { roles: ['admin'] })
    await service.make.member(own.id, { roles: ['grader'] })
    const { url } = await startReceiver(answerWith(500))
    const webhook = await own.subscribe({ url: `${url}?token=very-secret` })
    const notices = () =>
      service.logLines.map((line) => JSON.parse(line)).filter((line) => line.endpointId === webhook.id && line.level === 40)
    await own.invite()
    // The endpoint's state changes after the attempt is recorded.
    const failingSince = await waitUntil('the failure', async () => (await state(own, webhook)).failingSince ?? undefined)
    expect(failingSince).toBe(service.clock.now().toISOString())
    for (const [i, days] of [1, 1, 1, 1].entries()) {
      service.clock.advance(days * DAY_MS)
      await becomes(own, webhook, { attemptCount: i + 2 })
    }
    await waitUntil('both warnings', () => notices().length >= 2 || undefined)
    expect(notices().map(({ msg }) => msg)).toEqual(Array(2).fill('a webhook endpoint has been failing for days'))
    expect(await state(own, webhook)).toMatchObject({ state: 'active', failingSince })
    service.clock.advance(DAY_MS)
    expect(await waitForState(own, webhook, 'disabled')).toMatchObject({ disabledReason: 'failing', failingSince })
    await waitUntil('the notice', () => notices()[2])
    await expectMails(own.id, adminId, ['webhook_failing', 'webhook_failing', 'webhook_disabled'])
    const { body } = await own.client.patch(webhook.path).send({ state: 'active' })
    expect(body.webhook).toMatchObject({ state: 'active', failingSince: null, disabledReason: null })
  })

  it('stops counting failures after a success', async () => {
    const own = await makeIntegrator(service)
    const receiver = await startReceiver(answerWith(500))
    const webhook = await own.subscribe(receiver)
    await own.invite()
    await waitUntil('it to fail', async () => (await state(own, webhook)).failingSince ?? undefined)
    receiver.behave(answerWith(204))
    service.clock.advance(6 * SECOND)
    await waitUntil('it to be well', async () => ((await state(own, webhook)).failingSince === null ? true : undefined))
  })

  it('keeps waiting deliveries while disabled, and receives them once enabled', async () => {
    const own = await makeIntegrator(service)
    const receiver = await startReceiver(answerWith(503))
    const webhook = await own.subscribe(receiver)
    await own.invite()
    await becomes(own, webhook, { state: 'waiting', attemptCount: 1 })
    await own.client.patch(webhook.path).send({ state: 'disabled' })
    receiver.behave(answerWith(204))
    service.clock.advance(DAY_MS)
    const other = await own.subscribe(await startReceiver())
    await own.invite()
    await becomes(own, other, { state: 'delivered' }) // so the sender has taken due deliveries since then
    expect(receiver.received).toHaveLength(1)
    await own.client.patch(webhook.path).send({ state: 'active' })
    await becomes(own, webhook, { state: 'delivered', attemptCount: 2 })
  })

  it('delays no other endpoint if it hangs, fails, or is unreachable', async () => {
    const own = await makeIntegrator(service)
    const hanging = await startReceiver(hang)
    const [broken, well] = [await startReceiver(answerWith(500)), await startReceiver()]
    for (const receiver of [hanging, broken]) await own.subscribe(receiver)
    const metadata = await own.subscribe({ url: 'https://example.com/' })
    await service.db.webhookEndpoint.update({
      where: { id: metadata.id },
      data: { url: 'https://169.254.169.254/latest/meta-data/' },
    })
    await own.subscribe(well)
    for (let i = 0; i < 10; i++) await own.invite()
    await well.waitFor(10)
    await hanging.waitFor(4)
    // None of the hanging attempts has ended. There are four, and no further one starts before one times out.
    expect(hanging.received).toHaveLength(4)
    const [delivery] = await own.deliveries(metadata)
    await waitUntil('the refusal', async () => {
      const { body } = await own.client.get(`${metadata.path}/deliveries/${delivery!.id}`)
      return body.delivery.attempts[0]
    })
    const { body } = await own.client.get(`${metadata.path}/deliveries/${delivery!.id}`)
    expect(body.delivery.attempts[0]).toMatchObject({ status: null, error: 'The address is refused: its host is not allowed' })
  })

  it('gets up to 32 concurrent attempts if it answers, and four at most if it fails', async () => {
    const own = await makeIntegrator(service)
    const [well, hanging] = [await startReceiver(), await startReceiver(hang)]
    const webhook = await own.subscribe(well, { types: ['invite.created'] })
    await own.subscribe(hanging, { types: ['invite.created'] })
    const inviteAll = (count: number) => Promise.all(Array.from({ length: count }, () => own.invite()))
    await inviteAll(40)
    await waitUntil('all to be delivered', async () => {
      const deliveries = await own.deliveries(webhook)
      return deliveries.filter(({ state }) => state === 'delivered').length === 40 || undefined
    })
    well.behave(hang)
    await inviteAll(40)
    await well.waitFor(40 + 32)
    await hanging.waitFor(4)
    // None of the hanging attempts has ended.
    expect([well.received.length, hanging.received.length]).toEqual([40 + 32, 4])
  })

  it('delays no other endpoint even if more of them hang than there are concurrent attempts', async () => {
    const own = await makeIntegrator(service)
    const hanging = await startReceiver(hang)
    for (let i = 0; i < 19; i++) await own.subscribe(hanging, { types: ['invite.created'] })
    const [first, ...others] = [await own.invite(), await own.invite(), await own.invite(), await own.invite()]
    await hanging.waitFor(50)
    const well = await startReceiver()
    await own.subscribe(well, { types: ['invite.revoked'] })
    for (const invite of [first, ...others]) await own.client.post(`/invites/${invite}/revoke`)
    await well.waitFor(4)
    // None of the hanging attempts has ended.
    expect(await service.db.webhookAttempt.count({ where: { organizationId: own.id, status: null } })).toBe(0)
  })
})

describe('a replay', () => {
  it("sends a delivery's message again, with all retries", async () => {
    const own = await makeIntegrator(service)
    const receiver = await startReceiver()
    const webhook = await own.subscribe(receiver)
    await own.invite()
    const { id } = await becomes(own, webhook, { state: 'delivered', attemptCount: 1 })
    receiver.behave(answerWith(500))
    const { status, body } = await own.client.post(`${webhook.path}/deliveries/${id}/replay`)
    expect([status, body.delivery.state]).toEqual([200, 'waiting'])
    const { nextAttemptAt } = await becomes(own, webhook, { state: 'waiting', attemptCount: 2 })
    expect(new Date(nextAttemptAt!).getTime() - service.clock.now().getTime()).toBeLessThan(6 * SECOND)
    expect(receiver.received.map((message) => message.id)).toEqual([id, id])
  })

  it('sends a delivery in progress again at once, regardless of its result', async () => {
    const own = await makeIntegrator(service)
    const receiver = await startReceiver(hang)
    const webhook = await own.subscribe(receiver)
    await own.invite()
    const [{ id }] = (await receiver.waitFor(1)) as [Received]
    receiver.behave(answerWith(204))
    await own.client.post(`${webhook.path}/deliveries/${id}/replay`)
    await becomes(own, webhook, { state: 'delivered', attemptCount: 1 })
    expect(receiver.received.map((message) => message.id)).toEqual([id, id])
  })

  it('fails if the feed no longer has the event, and delays nothing', async () => {
    const own = await makeIntegrator(service)
    const receiver = await startReceiver()
    const webhook = await own.subscribe(receiver)
    await own.invite()
    const { id } = await becomes(own, webhook, { state: 'delivered', attemptCount: 1 })
    await service.db.event.delete({ where: { id } })
    await own.client.post(`${webhook.path}/deliveries/${id}/replay`)
    await becomes(own, webhook, { state: 'failed', attemptCount: 1 })
    expect(receiver.received).toHaveLength(1)
  })

  it("sends earlier events of the webhook's types from a cursor", async () => {
    const own = await makeIntegrator(service)
    const invites = [await own.invite(), await own.invite(), await own.invite()]
    await own.client.post(`/invites/${invites[0]}/revoke`)
    await waitUntil('the events', async () => ((await own.client.get('/events')).body.events.length === 4 ? true : undefined))
    const { body: first } = await own.client.get('/events?limit=1')
    const receiver = await startReceiver()
    const webhook = await own.subscribe(receiver, { types: ['invite.created'] })
    await own.client.post(`${webhook.path}/replay`).send({ fromCursor: first.cursor })
    await receiver.waitFor(2)
    expect(receiver.received.map(({ event }) => event.data.inviteId).sort()).toEqual(invites.slice(1).sort())
  })

  it('retries failed deliveries at once from a cursor', async () => {
    const own = await makeIntegrator(service)
    const receiver = await startReceiver(answerWith(503, { 'retry-after': '80000' }))
    const webhook = await own.subscribe(receiver)
    const { body: before } = await own.client.get('/events')
    await own.invite()
    const { id } = await becomes(own, webhook, { state: 'waiting', attemptCount: 1 })
    receiver.behave(answerWith(204))
    await own.client.post(`${webhook.path}/replay`).send({ fromCursor: before.cursor })
    await becomes(own, webhook, { state: 'delivered', attemptCount: 2 })
    expect(receiver.received.map((message) => message.id)).toEqual([id, id])
  })
})

it('sends a test event to its webhook regardless of the subscribed types, and to no other webhook', async () => {
  const own = await makeIntegrator(service)
  const [receiver, other] = [await startReceiver(), await startReceiver()]
  const webhook = await own.subscribe(receiver, { types: ['email.failed'] })
  await own.subscribe(other)
  const { status, body, headers } = await own.client.post(`${webhook.path}/test`)
  expect([status, body.delivery]).toMatchObject([201, { type: 'webhook.test', state: 'waiting', attempts: [] }])
  expect(headers.location).toMatch(new RegExp(`${webhook.path}/deliveries/${body.delivery.id}$`))
  const [message] = (await receiver.waitFor(1)) as [Received]
  expect(message.event).toMatchObject({ id: body.delivery.id, type: 'webhook.test', data: { endpointId: webhook.id } })
  expect((await own.client.get('/events?mode=all')).body.events).toEqual([])
  await own.invite()
  await other.waitFor(1)
  expect(other.received.map(({ event }) => event.type)).toEqual(['invite.created'])
})

describe('a test of an event type', () => {
  let validate: ValidateFunction
  beforeAll(async () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    validate = ajv.addSchema(await readDocument(service, 'v1'), 'v1').getSchema('v1#/components/schemas/Event')!
  })

  it.each(EVENT_TYPES)('sends %s as documented, marked as a test, and not in the feed', async (type) => {
    const own = await makeIntegrator(service)
    const receiver = await startReceiver()
    const webhook = await own.subscribe(receiver)
    const { status, body } = await own.client.post(`${webhook.path}/test`).send({ type })
    expect([status, body.delivery.type]).toEqual([201, 'webhook.test'])
    const [{ event, headers }] = (await receiver.waitFor(1)) as [Received]
    expect([event.id, event.type, headers['webhook-test']]).toEqual([body.delivery.id, type, 'true'])
    expect([validate(event), validate.errors]).toEqual([true, null])
    expect((await own.client.get('/events?mode=all')).body.events).toEqual([])
    expect((await own.client.get(`/invites/${event.data.inviteId}`)).status).toBe(404)
  })

  it('is rejected for a type that does not exist', async () => {
    const own = await makeIntegrator(service)
    const webhook = await own.subscribe(await startReceiver())
    const { status, body } = await own.client.post(`${webhook.path}/test`).send({ type: 'invite.finished' })
    expect([status, body.error]).toEqual([400, expect.stringMatching(/^type must be one of webhook.test, invite.created/)])
  })

  it('adds no test header to real events', async () => {
    const own = await makeIntegrator(service)
    const receiver = await startReceiver()
    await own.subscribe(receiver)
    await own.invite()
    const [{ headers }] = (await receiver.waitFor(1)) as [Received]
    expect(headers['webhook-test']).toBeUndefined()
  })
})

itSlow('interrupts a delivery when it stops, and sends it after the next start without counting the first attempt', async () => {
  const first = await startServiceForTest(TO_LOOPBACK)
  const own = await makeIntegrator(first)
  const receiver = await startReceiver(hang)
  const webhook = await own.subscribe(receiver)
  await own.invite()
  await receiver.waitFor(1)
  await first.close()
  receiver.behave(answerWith(204))
  const second = await startServiceForTest({ ...TO_LOOPBACK, DATABASE_URL: first.databaseUrl })
  const [, message] = (await receiver.waitFor(2)) as [Received, Received]
  expect(message.id).toBe(receiver.received[0]!.id)
  const row = () => second.db.webhookDelivery.findFirstOrThrow({ where: { endpointId: webhook.id } })
  await waitUntil('it to be delivered', async () => ((await row()).state === 'delivered' ? true : undefined))
  expect(await row()).toMatchObject({ attemptCount: 1 }) // the interrupted one does not count
})
