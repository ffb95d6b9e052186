import { Client } from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { revokeAtsKey } from '../../../src/domain/ats/keys.ts'
import { testConnection } from '../../../src/domain/ats/orders.ts'
import { recordReport } from '../../../src/domain/ats/record-report.ts'
import { expireAllDueInvites } from '../../../src/domain/invites/expire-due-invites.ts'
import { reactivateInvite, revokeInvite } from '../../../src/domain/invites/operate-invite.ts'
import { reopenResult } from '../../../src/domain/submissions/grading/release-result.ts'
import { createAshby, listenAsAshby } from '../../support/ats/ashby.ts'
import { type Connected, connect, TO_FAKES } from '../../support/ats/connect.ts'
import { basic } from '../../support/ats/greenhouse.ts'
import { bearer } from '../../support/ats/recruitee.ts'
import { DAY_MS } from '../../support/factories.ts'
import { answerWith } from '../../support/receiver.ts'
import { startServiceForFile } from '../../support/service.ts'
import { waitUntil } from '../../support/wait-until.ts'

type Options = Parameters<typeof connect>[2]

const host = await listenAsAshby()
const service = await startServiceForFile({ ...TO_FAKES, ATS_ASHBY: `${host.url}/` })
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })

async function start(options: Options = {}) {
  const own = await connect(service, 'ashby', options)
  const { updates, behave } = host.customer(own.theirKey)
  const waitFor = (count: number) => waitUntil(`${count} updates`, () => (updates.length >= count ? updates : undefined))
  return { ...own, ashby: createAshby({ url, key: own.key }), updates, behave, waitFor }
}

const status = (value: string) => ({ identifier: 'status', label: 'Status', type: 'string', value })
const cancelled = (value: string) => ({ identifier: 'cancelled_reason', label: 'Cancelled', type: 'string', value })

describe('an ATS key of Ashby', () => {
  it('is accepted wherever Ashby puts it, and rejected with 401 otherwise', async () => {
    const { ashby, key, organization, admin } = await start()
    const greenhouse = await connect(service, 'ashby')
    const statusOf = async (authorization: string) => (await ashby.call('assessment.list', {}, authorization)).status
    for (const good of [basic(key), basic('', key), basic(key, key), bearer(key)]) expect(await statusOf(good)).toBe(200)
    for (const bad of ['', bearer('x'), basic(organization.key), basic(key.slice(1))]) expect(await statusOf(bad)).toBe(401)
    const { id } = await service.db.atsKey.findFirstOrThrow({ where: { organizationId: organization.id } })
    await revokeAtsKey(admin, id)
    expect(await statusOf(basic(key))).toBe(401)
    expect(await statusOf(basic(greenhouse.key))).toBe(200)
  })
})

it('lists the assessments that can be sent with all fields, and no custom fields', async () => {
  const { ashby, assessment } = await start()
  const results = [{ assessment_type_id: assessment.id, name: assessment.name, description: '' }]
  expect(await ashby.list()).toEqual({ status: 200, body: { success: true, results } })
  expect((await ashby.call('assessment.customField.list')).body).toEqual({ success: true, fields: [] })
})

describe('assessment.start', () => {
  it('creates an invite, and reports in the response that the candidate is invited', async () => {
    const { ashby, assessment, inviteOf, allReported, updates } = await start()
    const { status: code, body, assessmentId } = await ashby.start(assessment.id, { email: 'kim@example.com' })
    const update = { assessment_id: assessmentId, timestamp: service.clock.now().getTime(), assessment_status: status('Invited') }
    expect([code, body]).toEqual([200, { success: true, results: { assessment_id: assessmentId, update_request: update } }])
    expect(await inviteOf(assessmentId)).toMatchObject({ recipientEmail: 'kim@example.com', recipientName: 'Sam Tester' })
    expect(await service.db.inviteEmail.count({ where: { inviteId: assessmentId } })).toBe(1)
    await allReported()
    expect(updates).toEqual([])
  })

  it('creates one invite for the same application and assessment, even if ten requests arrive at once', async () => {
    const { ashby, assessment, organization } = await start()
    const again = { application: { ashby_id: 'the same', status: 'Anything' } }
    const send = () => ashby.start(assessment.id, { email: 'kim@example.com' }, again)
    const answers = await Promise.all(Array.from({ length: 10 }, send))
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(await service.db.inviteEmail.count({ where: { organizationId: organization.id } })).toBe(1)
  })

  it('reports to the recruiter the errors that they can fix', async () => {
    const { ashby, assessment } = await start()
    const refused = [
      await ashby.start(assessment.id, { email: 'nobody' }),
      await ashby.start(assessment.id, { email: null }),
      await ashby.start(assessment.id, {}, { application: null }),
    ]
    for (const { status, body } of refused) expect([status, body.message]).toEqual([422, expect.stringMatching(/\w/)])
    const unknown = await ashby.start(crypto.randomUUID())
    expect([unknown.status, unknown.body]).toEqual([
      404,
      expect.objectContaining({ success: false, errorInfo: { code: 'assessment_not_found', message: expect.any(String) } }),
    ])
  })

  it('is rejected before the API key of Ashby is entered', async () => {
    const { ashby, assessment, connection } = await start()
    await service.db.atsConnection.update({ where: { id: connection.id }, data: { encryptedApiKey: null } })
    expect((await ashby.list()).status).toBe(200)
    const { status, body } = await ashby.start(assessment.id)
    expect([status, body.message]).toEqual([422, expect.stringContaining('key')])
  })
})

describe('a status report', () => {
  it("arrives in order, with increasing times, as updates that match Ashby's schema", async () => {
    const own = await start()
    const { ashby, assessment, candidate, release, waitFor, updates, inviteOf, admin, theirKey } = own
    const { assessmentId } = await ashby.start(assessment.id)
    const kim = await candidate(assessmentId)
    await kim.start()
    service.clock.advance(46 * 60_000)
    await kim.finish()
    await waitFor(3)
    expect(JSON.stringify(updates)).not.toMatch(/score|points|example\.com|Tester/)
    await release(assessmentId, [4.5, 1])
    await waitFor(4)
    const submissionId = (await inviteOf(assessmentId)).assessmentSession!
    await reopenResult(admin, submissionId)
    await release(assessmentId, [5, 3])
    await waitFor(5)
    await own.allReported()
    const result = (score: number, points: number) => ({
      assessment_id: assessmentId,
      timestamp: expect.any(Number),
      assessment_status: status('Graded'),
      assessment_profile_url: {
        ...{ identifier: 'profile_url', label: 'Result', type: 'url' },
        value: `http://localhost:3000/portal/${own.organization.id}/results/${submissionId}`,
      },
      assessment_result: { identifier: 'score', label: 'Score (percent)', type: 'numeric_score', value: score },
      metadata: [
        { identifier: 'points', label: 'Points', type: 'numeric_score', value: points },
        { identifier: 'max_points', label: 'Of', type: 'numeric_score', value: 8 },
        { identifier: 'duration', label: 'Duration', type: 'numeric_duration_minutes', value: 46 },
      ],
    })
    const word = (value: string) => ({
      assessment_id: assessmentId,
      timestamp: expect.any(Number),
      assessment_status: status(value),
    })
    expect(updates.map(({ event }) => event)).toEqual([
      word('Opened'),
      word('Started'),
      word('Submitted, waiting for grading'),
      result(68.75, 5.5),
      result(100, 8),
    ])
    expect(updates.map(({ fault }) => fault)).toEqual(updates.map(() => undefined))
    const times = updates.map(({ event }) => event.timestamp)
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b))
    expect(times[0]).toBeGreaterThan((await inviteOf(assessmentId)).createdAt.getTime())
    expect(updates[0]).toMatchObject({ method: 'POST', path: '/assessment.update' })
    expect(updates[0]!.headers).toMatchObject({
      ...{ authorization: basic(theirKey), accept: 'application/json; version=1', 'content-type': 'application/json' },
    })
  })

  it('cancels the order when the invite ends, and reports when it is open again', async () => {
    const { ashby, assessment, candidate, admin, waitFor, updates, organization } = await start()
    const first = await ashby.start(assessment.id)
    service.clock.advance(31 * DAY_MS)
    await expireAllDueInvites(service.system)
    await waitFor(1)
    await reactivateInvite(admin, first.assessmentId, {})
    await waitFor(2)
    await revokeInvite(admin, first.assessmentId)
    await waitFor(3)
    const second = await ashby.start(assessment.id)
    await (await candidate(second.assessmentId)).decline()
    await waitFor(4)
    const day = service.clock.now().toISOString().slice(0, 10)
    expect(updates.map(({ event, fault }) => [event.cancelled_reason ?? event.assessment_status, fault])).toEqual([
      [cancelled(`Expired on ${day}`), undefined],
      [status('Invited'), undefined],
      [cancelled(`Withdrawn by ${organization.name}`), undefined],
      [cancelled('Declined by the candidate'), undefined],
    ])
    for (const { event } of updates.filter(({ event }) => event.cancelled_reason))
      expect(Object.keys(event)).toEqual(['assessment_id', 'timestamp', 'cancelled_reason'])
  })

  it('contains a result in words if no points were released', async () => {
    const { ashby, assessment, submitInvite, release, waitFor, updates } = await start({ points: [0] })
    const { assessmentId } = await ashby.start(assessment.id)
    await submitInvite(assessmentId)
    await release(assessmentId, [])
    await waitFor(4)
    const { event, fault } = updates[3]!
    expect([event.assessment_result.type, event.assessment_status.value, fault]).toEqual(['string', 'Graded', undefined])
  })

  it('reports a permanently refused mail', async () => {
    const { ashby, assessment, waitFor, updates } = await start()
    const { assessmentId: inviteId } = await ashby.start(assessment.id)
    const { organizationId } = await service.db.invite.findUniqueOrThrow({ where: { id: inviteId } })
    await service.db.event.create({
      data: {
        ...{ id: service.deps.newId(), organizationId, inviteId, type: 'email.failed', mode: 'live', actorType: 'system' },
        data: { inviteId, assessmentId: assessment.id, status: 'pending', emailId: inviteId, reason: 'given_up' },
        createdAt: service.clock.now(),
      },
    })
    await waitFor(1)
    expect(updates[0]!.event.assessment_status).toEqual(status('Invitation could not be delivered'))
  })
})

describe('assessment.cancel', () => {
  it.each<[string, (own: Connected, id: string) => Promise<unknown>]>([
    ['pending', async () => {}],
    ['accepted', async ({ candidate }, id) => (await candidate(id)).accept()],
    ['started', async ({ candidate }, id) => (await candidate(id)).start()],
  ])('revokes an invite that is %s, and reports nothing back', async (_state, move) => {
    const own = await start()
    const { ashby, assessment, inviteOf, updates } = own
    const { assessmentId } = await ashby.start(assessment.id)
    await move(own, assessmentId)
    await own.allReported()
    const before = updates.length
    const answer = { status: 200, body: { success: true, results: { assessment_id: assessmentId } } }
    expect(await ashby.cancel(assessmentId)).toEqual(answer)
    expect((await inviteOf(assessmentId)).status).toBe('revoked')
    expect(await ashby.cancel(assessmentId)).toEqual(answer)
    await own.allReported()
    expect(updates).toHaveLength(before)
  })

  it('keeps a closed invite unchanged, and accepts unknown ids without an error', async () => {
    const own = await start()
    const { ashby, assessment, submitInvite, inviteOf } = own
    const { assessmentId } = await ashby.start(assessment.id)
    await submitInvite(assessmentId)
    expect((await ashby.cancel(assessmentId)).status).toBe(200)
    expect((await inviteOf(assessmentId)).status).toBe('completed')
    const foreign = await connect(service, 'ashby')
    const theirs = await service.make.invite(foreign.assessment)
    for (const id of [crypto.randomUUID(), 'x', null, theirs.id]) expect((await ashby.cancel(id)).status).toBe(200)
    expect((await foreign.inviteOf(theirs.id)).status).toBe('pending')
  })

  it('does not wait for a concurrently recorded report, and deletes those behind it', async () => {
    const own = await start()
    const { assessmentId } = await own.ashby.start(own.assessment.id)
    await own.allReported()
    const order = await service.db.atsOrder.findFirstOrThrow({ where: { inviteId: assessmentId } })
    const { organizationId, connectionId, id: orderId } = order
    const now = service.clock.now()
    const reports = [1_000_000n, 1_000_001n].map((position, i) => ({
      ...{ organizationId, connectionId, orderId, position, id: service.deps.newId(), status: 'accepted' },
      ...{ happenedAt: now, queuedAt: now, nextAttemptAt: now, leasedUntil: i === 0 ? new Date(Date.now() + DAY_MS) : null },
    }))
    await service.db.atsReport.createMany({ data: reports })
    const [underWay, behind] = reports
    const report = { ...underWay!, status: 'accepted' as const, attemptCount: 0 }
    const connection = {
      id: connectionId,
      ats: 'ashby',
      mode: 'live',
      organization: { ...own.organization, tier: 'standard' },
    } as const
    const taken = {
      report,
      connection,
      order: { ...order, inviteId: assessmentId },
      credentials: { inboundKey: null, apiKey: null },
    }
    const canceling = new Client(service.databaseUrl)
    await canceling.connect()
    onTestFinished(() => canceling.end())
    // Locks in the same order as cancelOrder: the order, then its reports.
    await canceling.query('BEGIN')
    await canceling.query('UPDATE ats_orders SET cancelled_at = now() WHERE id = $1', [orderId])
    const recording = recordReport(service.system, taken, { startedAt: now, milliseconds: 1, answer: { error: 'away' } })
    const isWaiting = async () => {
      const { rows } = await canceling.query('SELECT FROM pg_locks WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))')
      return rows.length > 0 || undefined
    }
    await waitUntil('the report to wait for the order', isWaiting)
    await canceling.query("SET LOCAL lock_timeout = '500ms'")
    const { rowCount } = await canceling.query('DELETE FROM ats_reports WHERE id = $1', [behind!.id])
    await canceling.query('COMMIT')
    expect(rowCount).toBe(1)
    expect(await recording).toBe('retried')
  })

  it('is followed by another order for the same application, which invites again', async () => {
    const { ashby, assessment, inviteOf, candidate, waitFor, updates } = await start()
    const again = { application: { ashby_id: 'the same' } }
    const first = await ashby.start(assessment.id, { email: 'kim@example.com' }, again)
    await ashby.cancel(first.assessmentId)
    const second = await ashby.start(assessment.id, { email: 'kim@example.com' }, again)
    expect([second.status, second.assessmentId]).toEqual([200, first.assessmentId])
    expect(await inviteOf(first.assessmentId)).toMatchObject({ status: 'pending', linkVersion: 2 })
    expect(await service.db.inviteEmail.count({ where: { inviteId: first.assessmentId } })).toBe(2)
    await (await candidate(second.assessmentId)).accept()
    await waitFor(1)
    expect(updates.map(({ event }) => event.assessment_status)).toEqual([status('Opened')])
  })
})

const refusal = (code: string) => ({
  ...{ success: false, message: expect.any(String), errors: [code], errorInfo: { code, message: expect.any(String) } },
})

describe('a second order for a candidate', () => {
  const twice = async (between: (own: Awaited<ReturnType<typeof start>>, id: string) => Promise<unknown>) => {
    const own = await start()
    const first = await own.ashby.start(own.assessment.id, { email: 'kim@example.com' })
    await between(own, first.assessmentId)
    const second = await own.ashby.start(own.assessment.id, { email: 'Kim@example.com' })
    const mails = await service.db.inviteEmail.count({ where: { inviteId: first.assessmentId } })
    return { ...own, first, second, mails }
  }

  it.each<[string, (own: Connected, id: string) => Promise<unknown>]>([
    ['pending', async () => {}],
    ['accepted', async ({ candidate }, id) => (await candidate(id)).accept()],
    ['started', async ({ candidate }, id) => (await candidate(id)).start()],
    ['completed', async ({ submitInvite }, id) => submitInvite(id)],
  ])('is rejected with 409 while the first is %s', async (_state, move) => {
    const { second, mails, organization } = await twice(move)
    expect([second.status, mails]).toEqual([409, 1])
    expect(await service.db.atsOrder.count({ where: { organizationId: organization.id } })).toBe(1)
  })

  it("reports the release date and the result's address after the release", async () => {
    const { second, first, organization, inviteOf } = await twice(async ({ submitInvite, release }, id) => {
      await submitInvite(id)
      await release(id, [5, 3])
    })
    expect(second.status).toBe(422)
    expect(second.body).toEqual(refusal('already_assessed'))
    expect(second.body.message).toContain(service.clock.now().toISOString().slice(0, 10))
    const { assessmentSession } = await inviteOf(first.assessmentId)
    expect(second.body.message).toContain(`/portal/${organization.id}/results/${assessmentSession}`)
  })

  it('invites again after a revocation, and not after the candidate declined', async () => {
    const revoked = await twice(({ admin }, id) => revokeInvite(admin, id))
    expect([revoked.second.status, revoked.second.assessmentId, revoked.mails]).toEqual([200, revoked.first.assessmentId, 2])
    const declined = await twice(async ({ candidate }, id) => (await candidate(id)).decline())
    expect([declined.second.status, declined.mails]).toEqual([422, 1])
    expect(declined.second.body.message).toContain('declined')
    expect(declined.second.body).toEqual(refusal('invite_declined'))
  })
})

it('shows the admins a rejected update, and continues with the next', async () => {
  const { ashby, assessment, candidate, behave, waitFor } = await start()
  behave(answerWith(403, {}, '{"success":false,"errors":["missing_permission"]}'))
  const { assessmentId } = await ashby.start(assessment.id)
  const kim = await candidate(assessmentId)
  await kim.accept()
  const order = () => service.db.atsOrder.findFirstOrThrow({ where: { inviteId: assessmentId } })
  await waitUntil('the refusal', async () => ((await order()).lastError.includes('missing_permission') ? true : undefined))
  behave(answerWith(200))
  await kim.start()
  await waitFor(2)
  await waitUntil('the error to be cleared', async () => ((await order()).lastError === '' ? true : undefined))
})

it('tests the connection with an update of a nonexistent assessment', async () => {
  const { admin, connection, waitFor, updates, theirKey } = await start()
  await testConnection(admin, connection.id)
  await waitFor(1)
  expect(updates[0]).toMatchObject({ fault: undefined, event: { assessment_id: '00000000-0000-0000-0000-000000000000' } })
  expect(updates[0]!.headers.authorization).toBe(basic(theirKey))
})
