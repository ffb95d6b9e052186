import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { MAX_SESSION_EVENTS } from '../../../../src/domain/limits.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { takeAssessment } from '../../../support/submissions.ts'

const service = await startServiceForFile({ ROLE: 'api' })

type Candidate = Awaited<ReturnType<typeof takeAssessment>>

const attempt = (candidate: Candidate, id: string, place: string, body: object = {}) =>
  candidate.post(place, body).set('idempotency-key', id)
const statusAndCode = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code]

const LIMITED_TO_ONE = { submission: { answerRecordLimit: 1, questionReplayLimit: 1 } }

describe('a repeated request with a lost response', () => {
  it.each([
    ['an attempt', 'questions/1/attempts', { kind: 'audio' }, 201],
    ['a play', 'questions/1/plays', {}, 200],
  ])('gets for %s the first response, and counts once', async (_what, place, body, status) => {
    const candidate = await takeAssessment(service, LIMITED_TO_ONE)
    const id = randomUUID()
    const first = await attempt(candidate, id, place, body)
    expect(first.status).toBe(status)
    const again = await attempt(candidate, id.toUpperCase(), place, body)
    expect([again.status, again.body]).toEqual([status, first.body])
    const other = await attempt(candidate, randomUUID(), place, body)
    expect([409, other.body.code]).toEqual([409, expect.stringMatching(/^no_(attempts|plays)_left$/)])
  })

  it.each([
    ['an attempt', 'questions/1/attempts', { kind: 'audio' }],
    ['a play', 'questions/1/plays', {}],
    ['the screen', 'media', { kind: 'screen' }],
  ])('counts once for %s if all copies arrive at once', async (_what, place, body) => {
    const candidate = await takeAssessment(service, LIMITED_TO_ONE)
    const id = randomUUID()
    const answers = await Promise.all(Array.from({ length: 6 }, () => attempt(candidate, id, place, body)))
    for (const answer of answers) expect([answer.status, answer.body]).toEqual([answers[0]!.status, answers[0]!.body])
    expect(answers[0]!.status).toBeLessThan(300)
  })

  it('is answered even after its question has closed', async () => {
    const candidate = await takeAssessment(service, LIMITED_TO_ONE)
    const id = randomUUID()
    const first = await attempt(candidate, id, 'questions/1/plays')
    const where = { submissionId: candidate.submissionId }
    await service.db.submissionQuestion.updateMany({ where, data: { closedAt: service.clock.now() } })
    expect((await attempt(candidate, id, 'questions/1/plays')).body).toEqual(first.body)
    expect(statusAndCode(await attempt(candidate, randomUUID(), 'questions/1/plays'))).toEqual([409, 'closed'])
  })

  it('is processed again if it was rejected', async () => {
    const candidate = await takeAssessment(service, LIMITED_TO_ONE)
    const id = randomUUID()
    const where = { submissionId: candidate.submissionId }
    await service.db.submissionQuestion.updateMany({ where, data: { closedAt: service.clock.now() } })
    expect(statusAndCode(await attempt(candidate, id, 'questions/1/plays'))).toEqual([409, 'closed'])
    await service.db.submissionQuestion.updateMany({ where, data: { closedAt: null } })
    expect((await attempt(candidate, id, 'questions/1/plays')).body).toEqual({ playsLeft: 0 })
  })

  it('reveals nothing to another candidate, and is rejected for another endpoint', async () => {
    const [candidate, other] = [await takeAssessment(service, LIMITED_TO_ONE), await takeAssessment(service, LIMITED_TO_ONE)]
    const id = randomUUID()
    const first = await attempt(candidate, id, 'questions/1/attempts', { kind: 'audio' })
    const others = await attempt(other, id, 'questions/1/attempts', { kind: 'audio' })
    expect(others.body.attemptId).not.toBe(first.body.attemptId)
    expect((await other.media(others.body.mediaId)).submissionId).toBe(other.submissionId)
    for (const [place, body] of [
      ['questions/2/attempts', { kind: 'audio' }],
      ['questions/1/attempts', { kind: 'video' }],
      ['questions/1/plays', {}],
      ['media', { kind: 'screen' }],
    ] as const)
      expect(statusAndCode(await attempt(candidate, id, place, body))).toEqual([422, 'idempotency_key_reused'])
    expect(statusAndCode(await attempt(candidate, 'x', 'questions/1/plays'))).toEqual([400, 'malformed_request'])
  })

  it('counts each time if a page of an earlier release sends no ids', async () => {
    const candidate = await takeAssessment(service)
    const attempts = [await candidate.beginAttempt(), await candidate.beginAttempt()]
    expect(new Set(attempts).size).toBe(2)
  })
})

describe('notes', () => {
  const notes = [{ kind: 'tab_hidden', ago: 5 }]
  const count = ({ submissionId }: Candidate) => service.db.sessionEvent.count({ where: { submissionId } })
  const attempts = ({ organization }: Candidate) =>
    service.db.idempotencyRecord.count({ where: { organizationId: organization.id } })

  it('are stored once, even if sent several times', async () => {
    const candidate = await takeAssessment(service)
    const id = randomUUID()
    await Promise.all(Array.from({ length: 4 }, () => attempt(candidate, id, 'notes', { notes })))
    expect((await attempt(candidate, id, 'notes', { notes })).status).toBe(204)
    expect(await count(candidate)).toBe(1)
    await attempt(candidate, randomUUID(), 'notes', { notes })
    expect(await count(candidate)).toBe(2)
  })

  it('store no request ids beyond their limit', async () => {
    const candidate = await takeAssessment(service)
    const { organization, submissionId } = candidate
    const note = { organizationId: organization.id, submissionId, kind: 'online', at: service.clock.now() }
    await service.db.sessionEvent.createMany({
      data: Array.from({ length: MAX_SESSION_EVENTS }, () => ({ ...note, id: randomUUID() })),
    })
    for (const sent of [notes, []]) expect((await attempt(candidate, randomUUID(), 'notes', { notes: sent })).status).toBe(204)
    expect([await count(candidate), await attempts(candidate)]).toEqual([MAX_SESSION_EVENTS, 0])
  })
})

describe('a tab', () => {
  it('does not take back a session from another tab by repeating a request', async () => {
    const candidate = await takeAssessment(service)
    const [first, second] = [randomUUID(), randomUUID()]
    for (const tab of [first, first, second]) expect((await candidate.post('tab', { tab })).status).toBe(200)
    expect(statusAndCode(await candidate.post('tab', { tab: first }))).toEqual([409, 'taken_over'])
    expect(statusAndCode(await candidate.post('tab', { tab: candidate.tab }))).toEqual([409, 'taken_over'])
    expect((await candidate.submission()).tab).toBe(second)
    for (let i = 0; i < 20; i++) await candidate.post('tab', { tab: randomUUID() })
    expect((await candidate.submission()).previousTabIds).toHaveLength(8)
  })
})
