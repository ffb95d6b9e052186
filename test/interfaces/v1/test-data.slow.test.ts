import { describe, expect, it } from 'vitest'
import { createApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { type Context, enterOrganization } from '../../../src/domain/context.ts'
import { removeFiles } from '../../../src/domain/submissions/media/remove-files.ts'
import { continueDeletion, deleteTestData } from '../../../src/domain/test-data/delete-test-data.ts'
import { simulate } from '../../../src/domain/test-data/simulate.ts'
import { inTransaction } from '../../../src/domain/transaction.ts'
import { readFeed } from '../../support/events.ts'
import { rowsOf } from '../../support/forms.ts'
import { play } from '../../support/play.ts'
import { signInAs } from '../../support/portal.ts'
import { startReceiver, verify } from '../../support/receiver.ts'
import { startServiceForFile } from '../../support/service.ts'
import { PATIENT, waitUntil } from '../../support/wait-until.ts'
import { TO_LOOPBACK } from '../../support/webhooks.ts'

const service = await startServiceForFile(TO_LOOPBACK)

const EVERY_KIND = ['text', 'audio', 'video', 'mixed']

/** Creates an organization with a test key, a grader, and an assessment that is answered in writing by default. */
async function start({ graders = 1, secondGrader = false, kinds = Array(4).fill('text') as string[] } = {}) {
  const organization = await service.make.organization({ mode: 'test' })
  const assessment = await service.make.assessment(organization.id, { secondGrader })
  for (const [i, responseType] of kinds.entries())
    await service.make.question(assessment, { order: i + 1, responseType, points: 5 })
  for (let i = 0; i < graders; i++) await service.make.member(organization.id, { roles: ['grader'] })
  const v1 = service.v1(organization.key)
  let count = 0
  const invite = async (fields: object = {}): Promise<string> => {
    const given = { assessmentId: assessment.id, recipientEmail: `kim${++count}@example.com`, ...fields }
    const { status, body } = await v1.post('/invites').send(given)
    expect([status, body.error]).toEqual([201, undefined])
    return body.invite.id
  }
  const act = async (id: string, action: string, given: object = {}) => {
    const { status, body } = await v1.post(`/invites/${id}/simulate`).send({ action, ...given })
    return status === 200 ? body.invite.status : [status, body.error]
  }
  const read = async (id: string) => (await v1.get(`/invites/${id}/submission`)).body
  const ctx = enterOrganization(service.system, { ...organization, tier: 'standard' }, 'test') as Context
  const asKey: Context = { ...ctx, actor: { kind: 'apiKey', id: organization.apiKeyId, mode: 'test', createdById: null } }
  return { organization, assessment, v1, invite, act, read, ctx: asKey }
}

const PLAIN = { proctoringSettings: { screenRecording: false, webcamMonitoring: false, requireIdCapture: false } }

describe('POST /invites/{id}/simulate', () => {
  it('leads a pending invite with all checks to its released result, with real events, webhooks, and recordings', async () => {
    const { organization, v1, invite, act, read } = await start({ kinds: EVERY_KIND })
    const receiver = await startReceiver()
    const { secret } = (await v1.post('/webhooks').send({ url: receiver.url })).body
    const id = await invite()
    expect(await act(id, 'release')).toBe('completed')

    const { events } = await readFeed(service, organization.key)
    const inviteTypes = ['created', 'accepted', 'started', 'completed'].map((what) => `invite.${what}`)
    expect(events.map(({ type }) => type)).toEqual([...inviteTypes, 'submission.released'])
    expect(events.map(({ actor }) => actor.type)).toEqual(['api_key', 'candidate', 'candidate', 'candidate', 'member'])
    expect(events.at(-1)!.data).toMatchObject({ percent: 80, reportUrl: expect.stringContaining('/portal/test/') })
    const messages = await receiver.waitFor(events.length)
    for (const message of messages) verify(secret, message)
    expect(messages.map(({ id }) => id).sort()).toEqual(events.map(({ id }) => id).sort())

    const ready = await waitUntil('the recordings', async () => {
      const submission = await read(id)
      const media = await service.db.mediaFile.findMany({ where: { organizationId: organization.id, state: 'ready' } })
      return media.length === 6 ? { submission, media } : undefined
    })
    expect(ready.media.map(({ kind }) => kind).sort()).toEqual(['answer', 'answer', 'face_photo', 'id_photo', 'screen', 'webcam'])
    const { state, result, ...rest } = await read(id)
    expect({ state, result }).toMatchObject({ state: 'released', result: { points: 16, ofPoints: 20, version: 1 } })
    const urls = JSON.stringify(rest).match(/http[^"]*\/media\/[^"]*/g)!
    expect(urls).toHaveLength(2)
    for (const url of urls) {
      const { body } = await service.http().get(new URL(url).pathname).responseType('blob')
      expect((await play(body)).duration).toBeGreaterThan(0.5)
    }
  })

  it('accepts given answers and grades, and grades a released result again', async () => {
    const { invite, act, read } = await start()
    const id = await invite(PLAIN)
    const answers = [{ number: 1, text: 'I would ask first.' }]
    expect(await act(id, 'complete', { answers })).toBe('completed')
    expect(JSON.stringify(await read(id))).toContain('I would ask first.')
    const grades = [{ number: 1, points: 4.5, comment: 'To the point.' }]
    expect(await act(id, 'grade', { grades })).toBe('completed')
    expect(await read(id)).toMatchObject({ state: 'submitted', result: null })
    expect(await act(id, 'release')).toBe('completed')
    expect((await read(id)).result).toMatchObject({ points: 4.5 + 3 * 4, version: 1 })
    expect(JSON.stringify(await read(id))).toContain('To the point.')
    for (const again of ['release', 'grade', 'complete', 'accept']) await act(id, again)
    expect((await read(id)).result).toMatchObject({ version: 1 })
    expect(await act(id, 'release', { grades: [{ number: 2, points: 0 }] })).toBe('completed')
    expect((await read(id)).result).toMatchObject({ points: 4.5 + 2 * 4, version: 2 })
  })

  it('rejects invalid input, and keeps the invite unchanged', async () => {
    const { invite, act, v1 } = await start({ kinds: EVERY_KIND })
    const id = await invite(PLAIN)
    const refused = [
      [{ answers: [{ number: 2, text: 'x' }] }, 'answers.0.number must be one of 1, 4'],
      [{ grades: [{ number: 5, points: 1 }] }, 'grades.0.number must be one of 1, 2, 3, 4'],
      [{ grades: [{ number: 1, points: 5.5 }] }, 'grades.0.points must be between 0 and 5, in steps of 0.5'],
      [{ grades: [{ number: 1, points: 0.3 }] }, 'grades.0.points must be between 0 and 5, in steps of 0.5'],
    ] as const
    for (const [given, error] of refused) expect(await act(id, 'release', given)).toEqual([400, error])
    expect((await v1.get(`/invites/${id}`)).body.status).toBe('pending')
  })

  it('moves through the documented states, and names the state that prevents an action', async () => {
    const { invite, act, v1 } = await start()
    const steps: [actions: string[], last: unknown][] = [
      [['accept', 'accept'], 'accepted'],
      [['start', 'start'], 'started'],
      [
        ['start', 'accept'],
        [409, 'The invite is started and can not be accepted'],
      ],
      [
        ['start', 'expire'],
        [409, 'The invite is started and can not be expired'],
      ],
      [['start', 'decline'], 'revoked'],
      [['expire', 'expire'], 'expired'],
      [
        ['expire', 'release'],
        [409, 'The invite is expired and can not be started'],
      ],
      [
        ['decline', 'complete'],
        [409, 'The invite is revoked and can not be started'],
      ],
      [
        ['complete', 'decline'],
        [409, 'The invite is completed and can not be declined'],
      ],
    ]
    for (const [actions, last] of steps) {
      const id = await invite(PLAIN)
      let answer: unknown
      for (const action of actions) answer = await act(id, action)
      expect([actions, answer]).toEqual([actions, last])
    }
    const id = await invite(PLAIN)
    await act(id, 'expire')
    expect((await v1.post(`/invites/${id}/reactivate`)).body.invite.status).toBe('pending')
    expect(await act(id, 'release')).toBe('completed')
  })

  it('bounces the newest mail once, and sends one if there was none', async () => {
    const { organization, invite, act, v1 } = await start()
    for (const fields of [{}, { sendEmail: false }]) {
      const id = await invite(fields)
      for (let i = 0; i < 2; i++) expect(await act(id, 'bounce')).toBe('pending')
      const { emails } = (await v1.get(`/invites/${id}/emails`)).body
      expect(emails).toMatchObject([{ status: 'failed', reason: expect.stringContaining('550') }])
      const { events } = await readFeed(service, organization.key, { inviteId: id })
      expect(events.filter(({ type }) => type === 'email.failed')).toMatchObject([
        { data: { emailId: emails[0].id, reason: 'refused' } },
      ])
    }
  })

  it('simulates a reminder once, and none if reminders are stopped or the invite is closed', async () => {
    const { organization, invite, act } = await start()
    const [id, stopped, over] = [await invite({}), await invite({}), await invite({})]
    for (let i = 0; i < 2; i++) expect(await act(id, 'remind')).toBe('pending')
    const { events } = await readFeed(service, organization.key, { inviteId: id })
    const reminders = events.filter(({ type }) => type === 'reminder.sent')
    const email = await service.db.inviteEmail.findFirstOrThrow({ where: { inviteId: id, kind: 'not_accepted' } })
    expect(reminders).toMatchObject([{ data: { emailId: email.id, status: 'pending' } }])
    await act(stopped, 'unsubscribe')
    expect(await act(stopped, 'remind')).toBe('pending')
    const types = (await readFeed(service, organization.key, { inviteId: stopped })).events.map(({ type }) => type)
    expect(types).not.toContain('reminder.sent')
    await act(over, 'expire')
    expect(await act(over, 'remind')).toEqual([409, 'The invite is expired and can not be sent a reminder'])
  })

  it.each([
    ['complain', 'email.complained', 'complaint'],
    ['unsubscribe', 'email.unsubscribed', 'unsubscribed'],
  ])('simulates %s once, with its event, and sends no further mail to the address', async (action, type, reason) => {
    const { organization, invite, act, v1 } = await start()
    const id = await invite({})
    for (let i = 0; i < 2; i++) expect(await act(id, action)).toBe('pending')
    const { events } = await readFeed(service, organization.key, { inviteId: id })
    expect(events.filter((event) => event.type === type)).toHaveLength(1)
    const { suppressions } = (await v1.get('/suppressions')).body
    expect(suppressions.map((one: { reason: string }) => one.reason)).toEqual([reason])
  })

  it('lets two graders agree if required, and reports a missing grader', async () => {
    const twice = await start({ graders: 2, secondGrader: true })
    const id = await twice.invite(PLAIN)
    expect(await twice.act(id, 'release')).toBe('completed')
    expect((await twice.read(id)).result).toMatchObject({ points: 16 })
    const grades = await service.db.grade.findMany({ where: { organizationId: twice.organization.id } })
    expect(new Set(grades.map(({ graderId }) => graderId)).size).toBe(2)

    const [alone, none] = [await start({ secondGrader: true }), await start({ graders: 0 })]
    for (const { act, invite } of [alone, none])
      expect(await act(await invite(PLAIN), 'grade')).toEqual([409, expect.stringContaining('There is nobody to grade it')])
  })

  it('moves only the invite if candidates use an external player', async () => {
    const { ctx, invite } = await start()
    const elsewhere: Context = { ...ctx, deps: { ...ctx.deps, hasOwnPlayer: false } }
    const given = { answers: [], grades: [] }
    const id = await invite()
    expect((await simulate(elsewhere, id, 'start', given)).status).toBe('started')
    expect((await simulate(elsewhere, id, 'complete', given)).status).toBe('completed')
    await expect(simulate(elsewhere, id, 'grade', given)).rejects.toMatchObject({ kind: 'submission_not_found' })
  })

  it('runs once for an Idempotency-Key, and only for test data', async () => {
    const { organization, assessment, v1, invite } = await start()
    const id = await invite(PLAIN)
    const send = () => v1.post(`/invites/${id}/simulate`).set('Idempotency-Key', 'once').send({ action: 'release' })
    const [first, second] = [await send(), await send()]
    expect([first.status, second.headers['idempotent-replayed'], second.text]).toEqual([200, 'true', first.text])

    const live = await service.make.invite(assessment)
    const { key } = await createApiKey(service.system, { organizationId: organization.id, name: 'Live', mode: 'live' })
    const tried = async (by: string, of: string) => {
      const { status, headers } = await service.v1(by).post(`/invites/${of}/simulate`).send({ action: 'accept' })
      return [status, headers['x-error-code']]
    }
    expect(await tried(organization.key, live.id)).toEqual([404, 'invite_not_found'])
    for (const of of [live.id, id, 'x']) expect(await tried(key, of)).toEqual([403, 'test_key_required'])
    expect((await service.v1(key).delete('/test-data')).headers['x-error-code']).toBe('test_key_required')
    expect(await service.db.invite.findUnique({ where: { id: live.id } })).toMatchObject({ status: 'pending' })
  })
})

describe('concurrent POST /invites/{id}/simulate requests', () => {
  it('run one after the other, and the first does all the work of an invite', async () => {
    const { organization, invite, v1 } = await start({ kinds: EVERY_KIND })
    const id = await invite()
    // A request that has waited too long gets 429, and is repeated.
    const send = async () => {
      for (;;) {
        const answer = await v1.post(`/invites/${id}/simulate`).send({ action: 'release' })
        if (answer.status !== 429) return answer
      }
    }
    const answers = await Promise.all(Array.from({ length: 6 }, send))
    expect(answers.map(({ status, body }) => [status, body.invite?.status])).toEqual(Array(6).fill([200, 'completed']))
    const { events } = await readFeed(service, organization.key, { inviteId: id })
    expect(events.filter(({ type }) => type === 'submission.released')).toHaveLength(1)
  })

  it('wait in a limited queue, and do not delay other organizations', async () => {
    const { invite, v1 } = await start({ kinds: EVERY_KIND })
    const other = await start()
    const [id, others] = [await invite(), await other.invite(PLAIN)]
    const send = async () => await v1.post(`/invites/${id}/simulate`).send({ action: 'complete' })
    const all = Array.from({ length: 40 }, send)
    expect(await other.act(others, 'accept')).toBe('accepted')
    const answers = await Promise.all(all)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.length).toBeGreaterThan(0)
    for (const { status, headers } of refused)
      expect([status, headers['x-error-code'], headers['retry-after']]).toEqual([429, 'too_many_simulations', '5'])
    expect(await v1.post(`/invites/${id}/simulate`).send({ action: 'complete' })).toMatchObject({ status: 200 })
  })

  it('resume after a failed one, even with its Idempotency-Key, in separate transactions', async () => {
    const { organization, invite, v1, read } = await start({ graders: 0 })
    const id = await invite(PLAIN)
    const send = () => v1.post(`/invites/${id}/simulate`).set('Idempotency-Key', 'later').send({ action: 'release' })
    expect((await send()).headers['x-error-code']).toBe('graders_missing')
    expect((await v1.get(`/invites/${id}`)).body.status).toBe('completed')
    await service.make.member(organization.id, { roles: ['grader'] })
    const [first, second] = [await send(), await send()]
    expect([first.status, second.headers['idempotent-replayed'], second.text]).toEqual([200, 'true', first.text])
    expect((await read(id)).state).toBe('released')
    const other = v1.post(`/invites/${id}/simulate`).set('Idempotency-Key', 'later').send({ action: 'accept' })
    expect((await other).headers['x-error-code']).toBe('idempotency_key_reused')
  })
})

describe('DELETE /test-data', () => {
  it('deletes all test data with files, and keeps live data, shared data, and the feed', async () => {
    const { organization, assessment, v1, invite, act } = await start({ kinds: EVERY_KIND })
    const organizationId = organization.id
    const live = await service.make.invite(assessment, { recipientEmail: 'kim1@example.com' })
    const id = await invite()
    await act(id, 'release')
    const media = await service.db.mediaFile.findMany({ where: { organizationId } })
    const photos = media.filter(({ kind }) => kind.endsWith('_photo'))
    const before = await readFeed(service, organization.key)
    const { status, body } = await v1.delete('/test-data')
    expect([status, body]).toEqual([200, { deleted: { invites: 1, submissions: 1, media: 6, lists: 0 }, remaining: 0 }])
    expect((await v1.delete('/test-data')).body).toEqual({
      deleted: { invites: 0, submissions: 0, media: 0, lists: 0 },
      remaining: 0,
    })

    expect((await v1.get(`/invites/${id}`)).status).toBe(404)
    expect((await v1.get('/submissions')).body.pagination.total).toBe(0)
    expect((await v1.get(`/assessments/${assessment.id}`)).body.inviteCount).toBe(0)
    expect((await readFeed(service, organization.key)).events).toEqual(before.events)
    expect(await service.db.invite.findMany({ where: { organizationId } })).toMatchObject([{ id: live.id }])
    const days = await service.db.organizationDailyInviteCount.findMany({ where: { organizationId, mode: 'test' } })
    expect(days.reduce((sum, { invited, completed }) => sum + invited + completed, 0)).toBe(0)
    expect(await service.db.questionResult.findMany({ where: { organizationId, results: { not: 0 } } })).toEqual([])
    const bytes = await service.db.organizationMediaBytes.aggregate({ where: { organizationId }, _sum: { bytes: true } })
    expect(bytes._sum.bytes).toBe(0n)

    const where = { key: { in: media.map(({ key }) => key) } }
    expect([photos.length, await service.db.deletedMediaFile.count({ where })]).toEqual([2, 6])
    for (const { key } of photos) expect(await service.deps.media.get(`${key}/file`)).not.toBeNull()
    service.clock.set(Date.now() + 2 * 60_000) // PostgreSQL has set the times of these rows
    await removeFiles(service.system)
    for (const { key } of photos) expect(await service.deps.media.get(`${key}/file`)).toBeNull()
    expect(await service.db.deletedMediaFile.count({ where })).toBe(0)
    await invite({ recipientEmail: 'kim1@example.com' })
  })

  it('deletes many rows in a job, also if repeated, but no newer ones, without blocking live requests', async () => {
    const { organization, assessment, v1, invite, ctx } = await start()
    const organizationId = organization.id
    for (let i = 0; i < 250; i++) await service.make.invite(assessment, { mode: 'test' })
    const { id: createdById } = await service.make.member(organizationId)
    const list = { organizationId, assessmentId: assessment.id, createdById, terms: {}, createdAt: service.clock.now() }
    const lists = [...Array(4).fill('test'), 'live'].map((mode) => ({ ...list, id: service.deps.newId(), mode }))
    await service.db.inviteBatch.createMany({ data: lists })
    const { key } = await createApiKey(service.system, { organizationId, name: 'Live', mode: 'live' })
    const asked = { assessmentId: assessment.id, recipientEmail: 'live@example.com' }
    // The transaction is still open, and locks nothing that live requests need.
    const until = service.clock.now()
    await inTransaction(ctx, async (inside) => {
      expect(await deleteTestData(inside)).toMatchObject({ invites: 100, lists: 3, remaining: 150 })
      expect((await service.v1(key).post('/invites').send(asked)).status).toBe(201)
      expect((await service.v1(key).get('/invites')).body.pagination.total).toBe(1)
    })
    service.clock.advance(1)
    const later = await invite(PLAIN)
    // Several jobs continue the deletion at once, as after a crash.
    await Promise.all([1, 2].map(() => continueDeletion(service.system, { organizationId, until })))
    const count = async () => (await v1.get('/invites')).body.pagination.total
    expect(await service.db.inviteBatch.findMany({ where: { organizationId } })).toMatchObject([{ mode: 'live' }])
    await expect.poll(count, PATIENT).toBe(1)
    expect((await v1.get(`/invites/${later}`)).status).toBe(200)
    const { status, body } = await v1.delete('/test-data')
    expect([status, body.deleted.invites, body.remaining]).toEqual([200, 1, 0])
    expect((await service.v1(key).get('/invites')).body.pagination.total).toBe(1)
  })

  it('is a button for admins, also next to test invites that block a deletion, and is in the audit log', async () => {
    const { organization, assessment, invite, act } = await start()
    const id = await invite(PLAIN)
    await act(id, 'release')
    const admin = await signInAs(service, organization.id, ['admin'])
    const test = admin.home.replace('/portal/', '/portal/test/')
    const page = `${admin.home}assessments/${assessment.id}`
    const refused = await admin.post(`${page}/delete`)
    expect([refused.status, refused.text]).toEqual([
      422,
      expect.stringContaining(
        'This assessment has test invites. Delete the test data first; then you can delete the assessment.',
      ),
    ])
    const button = `value="${admin.home}test-data/delete"`
    expect(refused.text).toContain(button)
    expect((await admin.get(page)).text).not.toContain(button)
    expect((await admin.get(test)).text).toContain(`value="${test}test-data/delete"`)
    expect((await admin.get(admin.home)).text).not.toContain('test-data/delete')

    const deleted = await admin.post(`${admin.home}test-data/delete`)
    expect([deleted.status, deleted.headers.location]).toEqual([303, `${test}?done=deleted`])
    expect((await admin.get(deleted.headers.location!)).text).toContain('All test data is deleted.')
    expect((await admin.post(`${page}/delete`)).status).toBe(303)

    const log = (await admin.get(`${admin.home}settings/audit-log`)).text
    const ofTests = (await admin.get(`${test}settings/audit-log`)).text
    for (const text of [log, ofTests]) expect(rowsOf(text).join()).toContain('deleted all test data')
    expect(log).toContain(`href="${test}invites/${id}"`)
    expect(rowsOf(log).join()).toContain('deleted an assessment')
    expect(rowsOf(ofTests).join()).not.toContain('deleted an assessment')
    const released = { organizationId: organization.id, action: 'released_result' }
    expect(await service.db.auditEntry.findFirst({ where: released })).toMatchObject({ mode: 'test', actorKind: 'apiKey' })
  })
})
