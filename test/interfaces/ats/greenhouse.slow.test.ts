import { describe, expect, it } from 'vitest'
import { listCalls } from '../../../src/domain/ats/calls.ts'
import { getConnection } from '../../../src/domain/ats/connections.ts'
import { generateAtsKey, revokeAtsKey } from '../../../src/domain/ats/keys.ts'
import { reportAgain } from '../../../src/domain/ats/orders.ts'
import { expireAllDueInvites } from '../../../src/domain/invites/expire-due-invites.ts'
import { extendInvite, reactivateInvite, revokeInvite } from '../../../src/domain/invites/operate-invite.ts'
import { reopenResult } from '../../../src/domain/submissions/grading/release-result.ts'
import { type Connected, connect, TO_FAKES } from '../../support/ats/connect.ts'
import { basic, type Greenhouse, startGreenhouse } from '../../support/ats/greenhouse.ts'
import { DAY_MS } from '../../support/factories.ts'
import { answerWith } from '../../support/receiver.ts'
import { startServiceForFile } from '../../support/service.ts'
import { waitUntil } from '../../support/wait-until.ts'

const service = await startServiceForFile({ ...TO_FAKES, ATS_GREENHOUSE: 'on' })
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })

type Options = Parameters<typeof connect>[2]
async function start(options: Options = {}): Promise<Connected & { greenhouse: Greenhouse }> {
  const connected = await connect(service, 'greenhouse', options)
  return { ...connected, greenhouse: await startGreenhouse({ url, key: connected.key }) }
}

const wordsSeen = ({ patched }: Greenhouse) => patched.map(({ seen }) => seen.partner_status)

describe('an ATS key of Greenhouse', () => {
  it('is accepted as the user name of Basic, with or without a password; anything else gets the same 401', async () => {
    const { key, greenhouse, organization, admin } = await start()
    const foreign = await connect(service, 'greenhouse')
    const status = async (authorization: string) => (await greenhouse.call('GET', 'list_tests', undefined, authorization)).status
    expect(key).toMatch(/^ak_live_\w{32}$/)
    expect(key.length).toBeLessThan(171)
    expect(await status(basic(key))).toBe(200)
    expect(await status(basic(key, 'whatever'))).toBe(200)
    const refused = async (authorization: string) => {
      const answer = await greenhouse.call('GET', 'list_tests', undefined, authorization)
      expect(answer).toEqual({ status: 401, body: { message: 'The key is not valid.' } })
    }
    for (const none of ['', 'Basic', basic(''), basic('x'), basic(key.replace(/.$/, '?'))]) await refused(none)
    const { id } = await service.db.atsKey.findFirstOrThrow({ where: { organizationId: organization.id } })
    await revokeAtsKey(admin, id)
    await refused(basic(key))
    expect(await status(basic(foreign.key))).toBe(200)
  })

  it('opens no other interface, and is stored only encrypted', async () => {
    const { key } = await start()
    expect((await service.v1(key).get('/tags')).status).toBe(401)
    expect((await service.alternate(key).get('/tags')).status).toBe(401)
    const stored = await service.db.$queryRaw<{ text: string }[]>`SELECT k::text AS text FROM ats_keys k`
    expect(stored.some(({ text }) => text.includes(key) || text.includes(Buffer.from(key).toString('hex')))).toBe(false)
  })

  it('creates invites of its mode', async () => {
    const { assessment, greenhouse, inviteOf, key, member } = await start({ mode: 'test' })
    expect(key).toMatch(/^ak_test_/)
    const { interviewId } = await greenhouse.sendTest(assessment.id)
    expect(await inviteOf(interviewId)).toMatchObject({ mode: 'test', createdById: member.id, createdByKeyId: null })
  })

  it('shows nothing of another organization', async () => {
    const [own, foreign] = [await start(), await start()]
    const { interviewId } = await own.greenhouse.sendTest(own.assessment.id)
    expect((await foreign.greenhouse.status(interviewId)).status).toBe(404)
    expect((await foreign.greenhouse.sendTest(own.assessment.id)).status).toBe(404)
  })
})

describe('list_tests', () => {
  it('returns a bare array of assessments that can be sent, sorted by their distinct names', async () => {
    const { assessment, organization, greenhouse } = await start()
    const make = async (name: string, data: object = {}) => {
      const made = await service.make.assessment(organization.id, { name, ...data })
      await service.make.question(made)
      return made
    }
    const first = await make('A test')
    const twins = [await make('Twin'), await make('Twin')]
    const open = await make('Public', { audience: 'public' })
    await service.make.assessment(organization.id, { name: 'Without questions' })
    const twin = ({ id }: { id: string }) => ({ partner_test_id: id, partner_test_name: `Twin (${id.slice(-8)})` })
    expect((await greenhouse.listTests()).body).toEqual([
      { partner_test_id: first.id, partner_test_name: 'A test' },
      { partner_test_id: assessment.id, partner_test_name: assessment.name },
      { partner_test_id: open.id, partner_test_name: 'Public' },
      ...twins.map(twin),
    ])
  })
})

describe('send_test', () => {
  it('creates an invite, sends its mail, and answers with its id', async () => {
    const { assessment, greenhouse, inviteOf } = await start()
    const { status, body, interviewId } = await greenhouse.sendTest(assessment.id, { email: 'Kim@example.com' })
    expect([status, body]).toEqual([200, { partner_interview_id: interviewId }])
    expect(await inviteOf(interviewId)).toMatchObject({
      ...{ assessmentId: assessment.id, recipientEmail: 'Kim@example.com', recipientName: 'Sammy Tester', status: 'pending' },
      ...{ screenRecording: false, requireIdCapture: false, mode: 'live' },
    })
    expect(await service.db.inviteEmail.count({ where: { inviteId: interviewId } })).toBe(1)
    const order = await service.db.atsOrder.findFirstOrThrow({ where: { inviteId: interviewId } })
    expect(order.profileUrl).toBe('https://app.greenhouse.io/people/17?application_id=26')
  })

  it('distinguishes orders by their whole address, not only by its last part', async () => {
    const { assessment, greenhouse, inviteOf } = await start()
    const host = `http://127.0.0.1:${greenhouse.receiver.port}`
    const urls = ['/v1/interviews/7', '/v2/interviews/7', '/v1/interviews/7?silo=2', `/v1/${'%C3%BC'.repeat(300)}/7`]
    const sent = await Promise.all(
      urls.map((url, i) => greenhouse.sendTest(assessment.id, { email: `kim${i}@example.com` }, { url: `${host}${url}` })),
    )
    const recipients = await Promise.all(sent.map(async ({ interviewId }) => (await inviteOf(interviewId)).recipientEmail))
    expect(recipients).toEqual(urls.map((_, i) => `kim${i}@example.com`))
    const again = await greenhouse.sendTest(assessment.id, { email: 'kim0@example.com' }, { url: `${host}${urls[0]}` })
    expect(again.interviewId).toBe(sent[0]!.interviewId)
  })

  it('accepts unknown, missing, null, and long fields, and any characters', async () => {
    const { assessment, greenhouse, inviteOf } = await start()
    const names: [object, string | null][] = [
      [{ preferred_name: undefined }, 'Sam Tester'],
      [{ preferred_name: null, first_name: null }, 'Tester'],
      [{ first_name: '', last_name: '', preferred_name: '' }, null],
      [{ preferred_name: '🦊 Ünï', unknown: { deep: [1] }, greenhouse_profile_url: null }, '🦊 Ünï Tester'],
      [{ preferred_name: 'x'.repeat(1_000_000) }, 'x'.repeat(200)],
      [{ preferred_name: '🦊'.repeat(1_000), id: 17 }, '🦊'.repeat(200)],
      [{ preferred_name: 'a\u0000b\uD800c' }, 'ab\uFFFDc Tester'],
    ]
    for (const [candidate, recipientName] of names) {
      const { status, interviewId } = await greenhouse.sendTest(
        assessment.id,
        { ...candidate },
        { application: { id: 26 }, sent_by: null },
      )
      expect(status).toBe(200)
      expect((await inviteOf(interviewId)).recipientName).toBe(recipientName)
    }
  })

  it('rejects invalid orders with a sentence', async () => {
    const { assessment, greenhouse, organization } = await start()
    const empty = await service.make.assessment(organization.id)
    const refusals: [() => Promise<{ status: number; body: unknown }>, number][] = [
      [() => greenhouse.sendTest(crypto.randomUUID()), 404],
      [() => greenhouse.sendTest('no id'), 404],
      [() => greenhouse.sendTest(empty.id), 404],
      [() => greenhouse.sendTest(assessment.id, { email: 'nobody' }), 422],
      [() => greenhouse.sendTest(assessment.id, { email: null }), 422],
      [() => greenhouse.sendTest('', {}), 422],
      [() => greenhouse.sendTest(assessment.id, {}, { candidate: null }), 422],
      [() => greenhouse.sendTest(assessment.id, {}, { url: null }), 422],
      [() => greenhouse.call('POST', 'send_test', []), 422],
      [() => greenhouse.call('POST', 'elsewhere', {}), 404],
    ]
    for (const [attempt, status] of refusals)
      expect(await attempt()).toMatchObject({ status, body: { message: expect.stringMatching(/\w/) } })
    expect(await service.db.atsOrder.count({ where: { organizationId: organization.id } })).toBe(0)
    expect(await service.db.invite.count({ where: { organizationId: organization.id } })).toBe(0)
  })

  it('creates one invite and one mail for the same order, even if ten requests arrive at once', async () => {
    const { assessment, greenhouse, organization } = await start()
    const again = { url: greenhouse.callback('the-same') }
    const send = () => greenhouse.sendTest(assessment.id, { email: 'kim@example.com' }, again)
    const answers = await Promise.all(Array.from({ length: 10 }, send))
    const own = { organizationId: organization.id }
    expect(new Set(answers.map(({ status, interviewId }) => `${status} ${interviewId}`))).toEqual(
      new Set([`200 ${answers[0]!.interviewId}`]),
    )
    expect((await send()).interviewId).toBe(answers[0]!.interviewId)
    expect(await service.db.invite.count({ where: own })).toBe(1)
    expect(await service.db.inviteEmail.count({ where: own })).toBe(1)
    expect(await service.db.atsOrder.count({ where: own })).toBe(1)
  })

  it('creates one invite for ten concurrent orders for one candidate', async () => {
    const { assessment, greenhouse, organization } = await start()
    const send = () => greenhouse.sendTest(assessment.id, { email: 'kim@example.com' })
    const answers = await Promise.all(Array.from({ length: 10 }, send))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
    expect(new Set(answers.map(({ interviewId }) => interviewId)).size).toBe(1)
    expect(await service.db.inviteEmail.count({ where: { organizationId: organization.id } })).toBe(1)
    expect(await service.db.atsOrder.count({ where: { organizationId: organization.id } })).toBe(10)
  })
})

describe('a status report', () => {
  it('matches test_status, and is sent to Greenhouse when a result can be read', async () => {
    const own = await start()
    const { assessment, greenhouse, candidate, release, admin, inviteOf } = own
    const { interviewId: id, orderId } = await greenhouse.sendTest(assessment.id)
    const status = async () => (await greenhouse.status(id)).body
    expect(await status()).toEqual({ partner_status: 'invited' })
    const kim = await candidate(id)
    await kim.accept()
    expect(await status()).toEqual({ partner_status: 'accepted' })
    await kim.start()
    expect(await status()).toEqual({ partner_status: 'started' })
    service.clock.advance(46 * 60_000)
    await kim.finish()
    expect(await status()).toEqual({ partner_status: 'in_review' })
    await own.allReported()
    expect(greenhouse.patched).toEqual([])
    await release(id, [4.5, 1])
    const [patched] = (await greenhouse.waitFor(1)) as [Greenhouse['patched'][number]]
    const { startedAt, completedAt, assessmentSession } = await inviteOf(id)
    const complete = {
      partner_status: 'complete',
      partner_profile_url: `http://localhost:3000/portal/${own.organization.id}/results/${assessmentSession}`,
      partner_score: 68.75,
      metadata: { Points: '5.5 of 8', Started: wordTime(startedAt!), Finished: wordTime(completedAt!) },
    }
    expect(patched.seen).toEqual(complete)
    expect(await status()).toEqual(complete)
    expect(patched).toMatchObject({ method: 'PATCH', orderId, body: '' })
    expect(patched.headers.authorization).toBe(basic(own.key))
    expect(patched.headers['user-agent']).toMatch(/\w/)
    // The result is released again with other points.
    await reopenResult(admin, assessmentSession!)
    expect(await status()).toEqual(complete)
    await release(id, [5, 3])
    await greenhouse.waitFor(2)
    expect(greenhouse.patched[1]!.seen).toMatchObject({ partner_status: 'complete', partner_score: 100 })
    await own.allReported()
    expect(greenhouse.patched).toHaveLength(2)
  })

  it('reports an invite that expired, was revoked, or was declined, and one that is open again', async () => {
    const own = await start()
    const { assessment, greenhouse, candidate, admin } = own
    const expiring = await greenhouse.sendTest(assessment.id)
    service.clock.advance(31 * DAY_MS)
    await expireAllDueInvites(service.system)
    await greenhouse.waitFor(1)
    await reactivateInvite(admin, expiring.interviewId, {})
    await greenhouse.waitFor(2)
    await extendInvite(admin, expiring.interviewId, { expiresInDays: 60 })
    await greenhouse.waitFor(3)
    await revokeInvite(admin, expiring.interviewId)
    await greenhouse.waitFor(4)
    const declining = await greenhouse.sendTest(assessment.id)
    await (await candidate(declining.interviewId)).decline()
    await greenhouse.waitFor(5)
    await own.allReported()
    expect(wordsSeen(greenhouse)).toEqual(['expired', 'invited', 'invited', 'revoked', 'declined'])
  })

  it('reports a permanently refused mail', async () => {
    const { assessment, greenhouse } = await start()
    const { interviewId } = await greenhouse.sendTest(assessment.id)
    const mail = await waitUntil('the mail', async () => {
      const sent = await service.db.inviteEmail.findFirst({ where: { inviteId: interviewId, state: { not: 'queued' } } })
      return sent ?? undefined
    })
    await service.db.inviteEmail.update({ where: { id: mail.id }, data: { state: 'failed', failure: 'refused' } })
    const { organizationId, inviteId } = mail
    await service.db.event.create({
      data: {
        ...{ id: service.deps.newId(), organizationId, inviteId, type: 'email.failed', mode: 'live', actorType: 'system' },
        data: { inviteId, assessmentId: assessment.id, status: 'pending', emailId: mail.id, reason: 'refused' },
        createdAt: service.clock.now(),
      },
    })
    await greenhouse.waitFor(1)
    expect(wordsSeen(greenhouse)).toEqual(['invite_failed'])
  })

  it('contains no score if no points were released', async () => {
    const { assessment, greenhouse, submitInvite, release } = await start({ points: [0] })
    const { interviewId } = await greenhouse.sendTest(assessment.id)
    await submitInvite(interviewId)
    await release(interviewId, [])
    const [{ seen }] = (await greenhouse.waitFor(1)) as [Greenhouse['patched'][number]]
    expect(seen.partner_status).toBe('complete')
    expect(seen).toHaveProperty('partner_profile_url')
    expect(seen).not.toHaveProperty('partner_score')
  })
})

const wordTime = (at: Date) => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

describe('a second order for a candidate', () => {
  const twice = async (between: (own: Connected & { greenhouse: Greenhouse }, id: string) => Promise<unknown>) => {
    const own = await start()
    const { assessment, greenhouse } = own
    const email = 'Kim@example.com'
    const { interviewId } = await greenhouse.sendTest(assessment.id, { email })
    await between(own, interviewId)
    const second = await greenhouse.sendTest(assessment.id, { email: email.toLowerCase() })
    const mails = () => service.db.inviteEmail.count({ where: { inviteId: interviewId } })
    return { ...own, interviewId, second, mails }
  }

  it.each<[string, (own: Connected, id: string) => Promise<unknown>]>([
    ['invited', async () => {}],
    ['accepted', async ({ candidate }, id) => (await candidate(id)).accept()],
    ['started', async ({ candidate }, id) => (await candidate(id)).start()],
    ['in_review', async ({ submitInvite }, id) => submitInvite(id)],
  ])('shares the invite while the first is %s, and both are reported', async (word, move) => {
    const { second, interviewId, greenhouse, candidate, submitInvite, release, mails } = await twice(move)
    expect(second).toMatchObject({ status: 200, interviewId })
    expect(await mails()).toBe(1)
    expect((await greenhouse.status(interviewId)).body).toEqual({ partner_status: word })
    if (word === 'started') await (await candidate(interviewId)).finish()
    else if (word !== 'in_review') await submitInvite(interviewId)
    await release(interviewId, [5, 3])
    await greenhouse.waitFor(2)
    expect(greenhouse.patched.map(({ orderId }) => orderId).sort()).toEqual(['order-1', 'order-2'])
    expect(wordsSeen(greenhouse)).toEqual(['complete', 'complete'])
  })

  it('reports an existing result at once', async () => {
    const { second, interviewId, greenhouse } = await twice(async (own, id) => {
      await own.submitInvite(id)
      await own.release(id, [5, 3])
      await own.greenhouse.waitFor(1)
    })
    expect(second).toMatchObject({ status: 200, interviewId })
    await greenhouse.waitFor(2)
    expect(greenhouse.patched[1]).toMatchObject({ orderId: 'order-2', seen: { partner_status: 'complete' } })
  })

  it.each<[string, (own: Connected, id: string) => Promise<unknown>]>([
    [
      'expired',
      async () => {
        service.clock.advance(31 * DAY_MS)
        await expireAllDueInvites(service.system)
      },
    ],
    ['expired, but not recorded as such', async () => service.clock.advance(31 * DAY_MS)],
    ['revoked', async ({ admin }, id) => revokeInvite(admin, id)],
  ])('sends a new mail after the first is %s', async (_word, move) => {
    const { second, interviewId, greenhouse, mails, inviteOf } = await twice(move)
    expect(second).toMatchObject({ status: 200, interviewId })
    expect(await mails()).toBe(2)
    expect(await inviteOf(interviewId)).toMatchObject({ status: 'pending', linkVersion: 2 })
    expect((await greenhouse.status(interviewId)).body).toEqual({ partner_status: 'invited' })
    // The first order gets two reports: the invite ended, and it is open again. The second order gets a response.
    await greenhouse.waitFor(2)
    expect(greenhouse.patched.map(({ orderId }) => orderId)).toEqual(['order-1', 'order-1'])
  })

  it('is rejected after the candidate declined, and mails nobody', async () => {
    const { second, mails, organization } = await twice(async ({ candidate }, id) => (await candidate(id)).decline())
    expect(second).toMatchObject({ status: 422, body: { message: expect.stringContaining('declined') } })
    expect(await mails()).toBe(1)
    expect(await service.db.atsOrder.count({ where: { organizationId: organization.id } })).toBe(1)
  })
})

describe('a report', () => {
  /** Sends an order and revokes its invite, which is reported to Greenhouse. */
  const revoke = async (own: Connected & { greenhouse: Greenhouse }) => {
    const { interviewId } = await own.greenhouse.sendTest(own.assessment.id)
    await revokeInvite(own.admin, interviewId)
    return service.db.atsOrder.findFirstOrThrow({ where: { inviteId: interviewId } })
  }
  const becomes = (orderId: string, state: string, attemptCount: number) =>
    waitUntil(`a report that is ${state} after ${attemptCount}`, async () => {
      const report = await service.db.atsReport.findFirst({ where: { orderId } })
      return report?.state === state && report.attemptCount === attemptCount ? report : undefined
    })
  const orderOf = (id: string) => service.db.atsOrder.findUniqueOrThrow({ where: { id } })

  it.each([
    ['500', answerWith(500)],
    ['429', answerWith(429)],
    ['no answer', ((response) => void response.destroy()) as ReturnType<typeof answerWith>],
  ])('is retried after %s, at the intervals of webhooks', async (_what, behavior) => {
    const own = await start()
    own.greenhouse.behave(behavior)
    const { id } = await revoke(own)
    const { nextAttemptAt } = await becomes(id, 'waiting', 1)
    const wait = nextAttemptAt.getTime() - service.clock.now().getTime()
    expect(wait / 5_000).toBeGreaterThan(0.89)
    expect(wait / 5_000).toBeLessThan(1.11)
    expect((await orderOf(id)).lastError).not.toBe('')
    own.greenhouse.behave(answerWith(200))
    service.clock.advance(wait)
    await becomes(id, 'delivered', 2)
    expect(await orderOf(id)).toMatchObject({ lastError: '', reportedStatus: 'revoked' })
  })

  it('waits as long as Retry-After requires', async () => {
    const own = await start()
    own.greenhouse.behave(answerWith(503, { 'retry-after': '3600' }))
    const { id } = await revoke(own)
    const { nextAttemptAt } = await becomes(id, 'waiting', 1)
    expect(nextAttemptAt.getTime() - service.clock.now().getTime()).toBe(3_600_000)
  })

  it.each([400, 401, 404, 422, 302])('fails on a response of %i, and can be sent again', async (status) => {
    const own = await start()
    const elsewhere = await startGreenhouse({ url, key: own.key })
    own.greenhouse.behave(answerWith(status, { location: elsewhere.callback('order-1') }, '{"errors":["no"]}'))
    const { id } = await revoke(own)
    await becomes(id, 'failed', 1)
    expect((await orderOf(id)).lastError).toBe(`${status} {"errors":["no"]}`)
    expect(elsewhere.receiver.connections()).toBe(0)
    own.greenhouse.behave(answerWith(200))
    await reportAgain(own.admin, id)
    await own.greenhouse.waitFor(2)
    await waitUntil('the error to be cleared', async () => ((await orderOf(id)).lastError === '' ? true : undefined))
  })

  it('waits for the previous report of its order, and not for other orders', async () => {
    const own = await start()
    const { greenhouse, admin } = own
    greenhouse.behave((response, { path }) => void response.writeHead(path.endsWith('order-1') ? 500 : 200).end())
    const first = await revoke(own)
    await becomes(first.id, 'waiting', 1)
    await reactivateInvite(admin, first.inviteId!, {})
    const other = await revoke(own)
    await becomes(other.id, 'delivered', 1)
    await allHandedOver()
    const standings = await service.db.atsReport.findMany({ where: { orderId: first.id }, orderBy: { position: 'asc' } })
    expect(standings.map(({ status, attemptCount }) => [status, attemptCount])).toEqual([
      ['revoked', 1],
      ['invited', 0],
    ])
    greenhouse.behave(answerWith(200))
    service.clock.advance(6_000)
    await waitUntil('both', async () => ((await orderOf(first.id)).reportedStatus === 'invited' ? true : undefined))
  })

  const allHandedOver = () =>
    waitUntil('all to be handed over', async () => {
      const { position } = await service.db.atsFanout.findUniqueOrThrow({ where: { id: 1 } })
      const unnumbered = await service.db.event.count({ where: { position: null } })
      const { position: head } = await service.db.eventSequence.findUniqueOrThrow({ where: { id: 1 } })
      return unnumbered === 0 && position >= head ? true : undefined
    })

  it('is not sent with a revoked key, but with the next key', async () => {
    const own = await start()
    const { interviewId } = await own.greenhouse.sendTest(own.assessment.id)
    for (const { id } of await service.db.atsKey.findMany({ where: { organizationId: own.organization.id } }))
      await revokeAtsKey(own.admin, id)
    await revokeInvite(own.admin, interviewId)
    const order = await service.db.atsOrder.findFirstOrThrow({ where: { inviteId: interviewId } })
    await becomes(order.id, 'waiting', 0)
    // Another organization's report is sent meanwhile, so the sender has checked all due reports.
    const other = await start()
    await revoke(other)
    await other.greenhouse.waitFor(1)
    expect(own.greenhouse.patched).toEqual([])
    const next = await generateAtsKey(own.admin, 'greenhouse', 'live')
    await own.greenhouse.waitFor(1)
    expect(own.greenhouse.patched[0]!.headers.authorization).toBe(basic(next))
  })

  it('contains no score, name, or address before the release, and neither does any other response', async () => {
    const { assessment, greenhouse, submitInvite } = await start()
    const { interviewId } = await greenhouse.sendTest(assessment.id, { email: 'kim.secret@example.com', last_name: 'Secretname' })
    await submitInvite(interviewId)
    const { body } = await greenhouse.status(interviewId)
    expect(body).toEqual({ partner_status: 'in_review' })
    expect(JSON.stringify([body, greenhouse.receiver.received])).not.toMatch(/secret|score/i)
  })
})

describe('a callback address', () => {
  it.each([
    'http://app.greenhouse.io/v1/order/1',
    'https://127.0.0.2/v1/order/1',
    'https://localhost/v1/order/1',
    'https://greenhouse.io.example.com/1',
    'https://notgreenhouse.io/1',
    'https://user:password@app.greenhouse.io/1',
    'https://app.greenhouse.io:22/1',
    'ftp://app.greenhouse.io/1',
    `https://app.greenhouse.io/${'x'.repeat(3_000)}`,
    'nothing',
  ])('is rejected: %.60s', async (callback) => {
    const { assessment, greenhouse, organization } = await start()
    expect((await greenhouse.sendTest(assessment.id, {}, { url: callback })).status).toBe(422)
    expect(await service.db.invite.count({ where: { organizationId: organization.id } })).toBe(0)
  })

  it('is accepted for the domain of Greenhouse and its subdomains', async () => {
    const { assessment, greenhouse } = await start()
    for (const host of ['greenhouse.io', 'app.greenhouse.io', 'app.eu.greenhouse.io'])
      expect((await greenhouse.sendTest(assessment.id, {}, { url: `https://${host}/v1/order/${host}` })).status).toBe(200)
  })

  it('is checked again before a report, and is not called if it is no longer allowed', async () => {
    const own = await start()
    const { interviewId } = await own.greenhouse.sendTest(own.assessment.id)
    const order = await service.db.atsOrder.findFirstOrThrow({ where: { inviteId: interviewId } })
    const callbackUrl = own.greenhouse.callback('order-1').replace('127.0.0.1', 'localhost')
    await service.db.atsOrder.update({ where: { id: order.id }, data: { callbackUrl } })
    await revokeInvite(own.admin, interviewId)
    await waitUntil('the refusal', async () => {
      const { lastError } = await service.db.atsOrder.findUniqueOrThrow({ where: { id: order.id } })
      return lastError.includes('not one of Greenhouse') ? true : undefined
    })
    expect(own.greenhouse.receiver.connections()).toBe(0)
  })
})

it('stores the complaints of Greenhouse about a response, without the address, and acknowledges them', async () => {
  const own = await start()
  const { assessment, greenhouse, admin, connection } = own
  const { interviewId } = await greenhouse.sendTest(assessment.id, { email: 'kim@example.com' })
  const answer = await greenhouse.complain({
    ...{ api_call: 'test_status', errors: ['partner_profile_url is missing', 'of kim@example.com'] },
    ...{ partner_interview_id: interviewId, candidate_email: 'kim@example.com' },
  })
  expect(answer).toEqual({ status: 200, body: { status: 200 } })
  const order = await service.db.atsOrder.findFirstOrThrow({ where: { inviteId: interviewId } })
  expect(order.lastError).toBe('test_status: partner_profile_url is missing; of …')
  expect(await service.metrics.registry.getSingleMetricAsString('ats_refused_answers_total')).toMatch(
    /ats_refused_answers_total [1-9]/,
  )
  for (const body of [{}, [], { api_call: 5, errors: 'x' }]) expect((await greenhouse.complain(body)).status).toBe(200)
  const calls = () => getConnection(admin, connection.id).then((of) => listCalls(admin, of, { number: 1, size: 50 }))
  await waitUntil('the log of calls', async () => ((await calls()).total >= 5 ? true : undefined))
  const { items } = await calls()
  expect(items.map(({ name }) => name)).toContain('send_test')
  expect(items.find(({ name }) => name === 'send_test')).toMatchObject({
    isInbound: true,
    status: 200,
    orderId: order.id,
    error: '',
  })
})

it('answers test_status with 404 for a deleted or unknown invite', async () => {
  const { greenhouse, assessment } = await start()
  const { interviewId } = await greenhouse.sendTest(assessment.id)
  await service.db.invite.delete({ where: { id: interviewId } })
  for (const id of [interviewId, '', 'x', crypto.randomUUID()]) expect((await greenhouse.status(id)).status).toBe(404)
})
