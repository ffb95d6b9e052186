import { describe, expect, it } from 'vitest'
import { revokeAtsKey } from '../../../src/domain/ats/keys.ts'
import { testConnection } from '../../../src/domain/ats/orders.ts'
import { expireAllDueInvites } from '../../../src/domain/invites/expire-due-invites.ts'
import { reactivateInvite, revokeInvite } from '../../../src/domain/invites/operate-invite.ts'
import { reopenResult } from '../../../src/domain/submissions/grading/release-result.ts'
import { type Connected, connect, TO_FAKES } from '../../support/ats/connect.ts'
import { basic } from '../../support/ats/greenhouse.ts'
import { bearer, createRecruitee, listenAsRecruitee } from '../../support/ats/recruitee.ts'
import { DAY_MS } from '../../support/factories.ts'
import { startServiceForFile } from '../../support/service.ts'
import { waitUntil } from '../../support/wait-until.ts'

const SECRET = 'the secret of the partner'
type Options = Parameters<typeof connect>[2]

const host = await listenAsRecruitee()
const env = { ...TO_FAKES, ATS_RECRUITEE: host.url, ATS_RECRUITEE_SECRET: SECRET }
const service = await startServiceForFile(env)
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
/** Id that the connection test uses. */
const NO_REPORT = '00000000-0000-0000-0000-000000000000'

async function start(options: Options = {}) {
  const own = await connect(service, 'recruitee', options)
  const reportIds = new Set([NO_REPORT])
  const changes = () => host.changes.filter(({ reportId }) => reportIds.has(reportId))
  const waitFor = (count: number) => waitUntil(`${count} changes`, () => (changes().length >= count ? true : undefined))
  const inviteIdOf = async (reportId: string) =>
    (await service.db.atsOrder.findFirstOrThrow({ where: { naturalKey: reportId } })).inviteId!
  const recruitee = createRecruitee({ url, key: own.key })
  /** Sends a candidate. @returns the ids of the report and of the created invite. */
  const send = async (fields: Record<string, unknown> = {}) => {
    const { reportId } = await recruitee.send(own.assessment.id, fields)
    reportIds.add(reportId)
    return { reportId, inviteId: await inviteIdOf(reportId) }
  }
  return { ...own, recruitee, changes, waitFor, inviteIdOf, send }
}

it('accepts its key as a bearer token, and answers 401 to any other', async () => {
  const { recruitee, key, organization, admin } = await start()
  const status = async (authorization: string) => (await recruitee.call('GET', 'tests', undefined, authorization)).status
  for (const good of [bearer(key), basic(key)]) expect(await status(good)).toBe(200)
  for (const bad of ['', 'Bearer', bearer(organization.key), bearer(`${key}x`)]) expect(await status(bad)).toBe(401)
  const { id } = await service.db.atsKey.findFirstOrThrow({ where: { organizationId: organization.id } })
  await revokeAtsKey(admin, id)
  expect(await status(bearer(key))).toBe(401)
})

it('lists tests as a bare array, with ids that work in orders', async () => {
  const { recruitee, assessment } = await start()
  expect(await recruitee.tests()).toEqual({ status: 200, body: [{ id: assessment.id, name: assessment.name }] })
})

describe('send_candidate', () => {
  it('creates an invite and its mail once for the same report', async () => {
    const { recruitee, assessment, inviteIdOf, inviteOf, organization } = await start()
    const report_id = crypto.randomUUID()
    const send = () => recruitee.send(assessment.id, { report_id, email: 'kim@example.com', phone: '123', unknown: null })
    const answers = await Promise.all(Array.from({ length: 10 }, send))
    expect(answers.map(({ status, body }) => [status, body])).toEqual(answers.map(() => [200, {}]))
    const inviteId = await inviteIdOf(report_id)
    expect(await inviteOf(inviteId)).toMatchObject({ recipientEmail: 'kim@example.com', recipientName: 'Sam Tester' })
    expect(await service.db.inviteEmail.count({ where: { organizationId: organization.id } })).toBe(1)
  })

  it('rejects invalid orders with a text, never with 401 or 403', async () => {
    const { recruitee, assessment, organization } = await start()
    const refused = [
      await recruitee.send('x'),
      await recruitee.send(assessment.id, { email: 'nobody' }),
      await recruitee.send(assessment.id, { email: null }),
      await recruitee.send(assessment.id, { report_id: '../../x' }),
      await recruitee.send(assessment.id, { report_id: null }),
      await recruitee.call('POST', 'send_candidate', 'x'),
    ]
    expect(refused.map(({ status }) => status)).toEqual([404, 422, 422, 422, 422, 422])
    for (const { body } of refused) expect(body).toEqual({ error: expect.stringMatching(/\w/) })
    expect(await service.db.invite.count({ where: { organizationId: organization.id } })).toBe(0)
  })
})

describe('a status report', () => {
  it('sends the status that Recruitee knows, without a score before the release', async () => {
    const { send, candidate, release, changes, waitFor, inviteOf, admin, allReported } = await start()
    const { reportId, inviteId } = await send()
    await (await candidate(inviteId)).start()
    await allReported()
    expect(changes()).toEqual([])
    await (await candidate(inviteId)).finish()
    await waitFor(1)
    await release(inviteId, [4.5, 1])
    await waitFor(2)
    const { completedAt, assessmentSession } = await inviteOf(inviteId)
    await reopenResult(admin, assessmentSession!)
    await release(inviteId, [5, 3])
    await waitFor(3)
    const completed_at = completedAt!.toISOString().replace('Z', '000Z')
    expect(changes().map(({ change }) => change)).toEqual([
      { status: 'completed', completed_at },
      { status: 'completed', completed_at, score: '5.5/8 (68.75%)' },
      { status: 'completed', completed_at, score: '8/8 (100%)' },
    ])
    expect(changes()[0]).toMatchObject({ method: 'PATCH', path: `/api/p/codename/reports/${reportId}` })
    expect(changes()[0]!.headers['rt-partner-secret']).toBe(SECRET)
    expect(changes()[0]!.headers).not.toHaveProperty('authorization')
  })

  it('cancels when the invite ends, and reports when it is open again', async () => {
    const { send, candidate, admin, changes, waitFor } = await start()
    const first = await send()
    service.clock.advance(31 * DAY_MS)
    await expireAllDueInvites(service.system)
    await waitFor(1)
    await reactivateInvite(admin, first.inviteId, {})
    await waitFor(2)
    await revokeInvite(admin, first.inviteId)
    await waitFor(3)
    const second = await send()
    await (await candidate(second.inviteId)).decline()
    await waitFor(4)
    expect(changes().map(({ change, reportId }) => [change.status, reportId])).toEqual([
      ['canceled', first.reportId],
      ['sent', first.reportId],
      ['canceled', first.reportId],
      ['canceled', second.reportId],
    ])
  })

  it('contains no score if no points were released', async () => {
    const { send, submitInvite, release, changes, waitFor } = await start({ points: [0] })
    const { inviteId } = await send()
    await submitInvite(inviteId)
    await release(inviteId, [])
    await waitFor(2)
    expect(Object.keys(changes()[1]!.change)).toEqual(['status', 'completed_at'])
  })
})

describe('a second order for a candidate', () => {
  it.each<[string, (own: Connected, id: string) => Promise<unknown>, number, RegExp]>([
    ['pending', async () => {}, 409, /already/],
    ['accepted', async ({ candidate }, id) => (await candidate(id)).accept(), 409, /already/],
    ['started', async ({ candidate }, id) => (await candidate(id)).start(), 409, /already/],
    ['completed', async ({ submitInvite }, id) => submitInvite(id), 409, /already/],
    [
      'released',
      async ({ submitInvite, release }, id) => {
        await submitInvite(id)
        await release(id, [5, 3])
      },
      409,
      /released on .*\/portal\//,
    ],
    ['declined', async ({ candidate }, id) => (await candidate(id)).decline(), 422, /declined/],
  ])('is rejected with a text while the first is %s', async (_state, move, status, text) => {
    const own = await start()
    const { inviteId } = await own.send({ email: 'kim@example.com' })
    await move(own, inviteId)
    const second = await own.recruitee.send(own.assessment.id, { email: 'Kim@example.com' })
    expect(second).toMatchObject({ status, body: { error: expect.stringMatching(text) } })
    expect(await service.db.inviteEmail.count({ where: { inviteId } })).toBe(1)
  })

  it('invites again after a revocation', async () => {
    const { send, admin, inviteOf } = await start()
    const first = await send({ email: 'kim@example.com' })
    await revokeInvite(admin, first.inviteId)
    const second = await send({ email: 'kim@example.com' })
    expect(second.inviteId).toBe(first.inviteId)
    expect(await inviteOf(first.inviteId)).toMatchObject({ status: 'pending', linkVersion: 2 })
  })
})

it('tests the connection with a change of a nonexistent report', async () => {
  const { admin, connection, waitFor, changes } = await start()
  await testConnection(admin, connection.id)
  await waitFor(1)
  expect(changes()[0]).toMatchObject({ reportId: NO_REPORT, change: {} })
  expect(changes()[0]!.headers['rt-partner-secret']).toBe(SECRET)
})
