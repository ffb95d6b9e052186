import { describe, expect, it } from 'vitest'
import { reopenResult } from '../../../src/domain/submissions/grading/release-result.ts'
import { unknownId } from '../../support/factories.ts'
import { makeSubmitted } from '../../support/grading.ts'
import { readOperations } from '../../support/operations.ts'
import { startServiceForFile } from '../../support/service.ts'
import { makeAccepted } from '../../support/taking.ts'

const service = await startServiceForFile()
const operations = await readOperations(service)
const faultOf = (id: string, body: unknown) => operations.find((one) => one.id === id)!.findFault(200, body)

describe('GET /invites/{inviteId}/submission', () => {
  it('answers 404 for an unknown invite, and until the candidate has started', async () => {
    const { organization, invite } = await makeAccepted(service)
    const client = service.v1(organization.key)
    const answers = [await client.get(`/invites/${unknownId}/submission`), await client.get(`/invites/${invite.id}/submission`)]
    expect(answers.map(({ status, body, headers }) => [status, body.error, headers['x-error-code']])).toEqual([
      [404, 'Invite not found', 'invite_not_found'],
      [404, 'Submission not found', 'submission_not_found'],
    ])
  })

  it('returns the questions, answers, and times, and the newest grades once released', async () => {
    const { organization, invite, join, grade, release, submissionId } = await makeSubmitted(service)
    const read = async () => (await service.v1(organization.key).get(`/invites/${invite.id}/submission`)).body
    const { ctx } = await join()
    await grade(ctx, 1, 4.5, { comment: 'Good' })
    await grade(ctx, 2, 0)
    const before = await read()
    expect(faultOf('getInviteSubmission', before)).toBeNull()
    expect(before).toMatchObject({ id: submissionId, inviteId: invite.id, state: 'submitted', result: null, deadlineAt: null })
    expect(before.submittedAt).toBe(service.clock.now().toISOString())
    expect(
      before.questions.map(({ number, points, answer, grade }: Record<string, object>) => [number, points, answer, grade]),
    ).toEqual([
      [1, 5, expect.objectContaining({ kind: 'text', text: 'Answer 1', media: null }), null],
      [2, 3, expect.objectContaining({ kind: 'text', text: 'Answer 2', media: null }), null],
    ])
    await release(ctx, { comment: 'Solid', message: 'Thank you' })
    const released = await read()
    expect(faultOf('getInviteSubmission', released)).toBeNull()
    expect(released).toMatchObject({
      state: 'released',
      result: { version: 1, points: 4.5, ofPoints: 8, percent: 56, comment: 'Solid', message: 'Thank you', toCandidate: false },
    })
    expect(released.questions.map((question: { grade: object }) => question.grade)).toEqual([
      { points: 4.5, comment: 'Good' },
      { points: 0, comment: '' },
    ])
    await reopenResult(ctx, submissionId)
    await grade(ctx, 1, 5)
    expect(await read()).toMatchObject({ state: 'submitted', result: { version: 1, points: 4.5 } })
    await release(ctx)
    expect(await read()).toMatchObject({ state: 'released', result: { version: 2, points: 5 } })
  })

  it('returns a recording as a tamper-proof link that plays ranges for 15 minutes, until it is deleted', async () => {
    const { organization, invite, submissionId } = await makeSubmitted(service)
    const { newId, media } = service.deps
    const [id, now] = [newId(), service.clock.now()]
    const key = `${organization.id}/${id}`
    await media.put(`${key}/file`, Buffer.from('0123456789'))
    const own = { organizationId: organization.id, submissionId }
    const file = { kind: 'answer', state: 'ready', contentType: 'audio/webm', bytes: 10, milliseconds: 2_500 } as const
    await service.db.mediaFile.create({ data: { id, key, ...own, ...file, createdAt: now } })
    const take = { kind: 'audio', state: 'complete', mediaId: id, createdAt: now, completedAt: now } as const
    await service.db.answerAttempt.create({ data: { id: newId(), ...own, questionNumber: 1, ...take } })
    const { body } = await service.v1(organization.key).get(`/invites/${invite.id}/submission`)
    expect(faultOf('getInviteSubmission', body)).toBeNull()
    const { answer } = body.questions[0]
    const expiresAt = new Date(now.getTime() + 15 * 60_000).toISOString()
    expect(answer).toMatchObject({
      kind: 'audio',
      text: '',
      media: { contentType: 'audio/webm', bytes: 10, milliseconds: 2_500, expiresAt },
    })
    const { pathname } = new URL(answer.media.url)
    expect(pathname).not.toContain(id)
    const whole = await service.http().get(pathname)
    expect([whole.status, whole.headers['content-type'], whole.body.toString()]).toEqual([200, 'audio/webm', '0123456789'])
    expect(whole.headers).toMatchObject({ 'cross-origin-resource-policy': 'cross-origin', 'cache-control': 'private, no-store' })
    const part = await service.http().get(pathname).set('range', 'bytes=2-4')
    expect([part.status, part.headers['content-range'], part.body.toString()]).toEqual([206, 'bytes 2-4/10', '234'])
    const altered = `${pathname.slice(0, -1)}${pathname.endsWith('A') ? 'Q' : 'A'}`
    for (const path of [altered, '/media/x', `/media/${id}`]) expect((await service.http().get(path)).status).toBe(404)
    expect(service.logLines.join('')).not.toContain(pathname)
    const read = async () => [
      (await service.v1(organization.key).get(`/invites/${invite.id}/submission`)).status,
      (await service.http().get(pathname)).status,
    ]
    await service.db.submission.update({ where: { id: submissionId }, data: { state: 'withdrawn' } })
    expect(await read()).toEqual([404, 404])
    await service.db.submission.update({ where: { id: submissionId }, data: { state: 'submitted' } })
    expect(await read()).toEqual([200, 200])
    await service.db.mediaFile.update({ where: { id }, data: { state: 'deleted' } })
    expect(await read()).toEqual([200, 404])
    await service.db.mediaFile.update({ where: { id }, data: { state: 'ready' } })
    service.clock.advance(15 * 60_000)
    expect((await service.http().get(pathname)).status).toBe(404)
  })
})

describe('GET /submissions', () => {
  it('lists started submissions, the newest first, by state and assessment, like every list', async () => {
    const { organization, assessment, invite, submissionId } = await makeSubmitted(service)
    const client = service.v1(organization.key)
    const list = async (query = '') => (await client.get(`/submissions${query}`)).body
    const later = service.deps.newId()
    const startedAt = new Date(service.clock.now().getTime() + 1_000)
    const own = { organizationId: organization.id, inviteId: invite.id, assessmentId: assessment.id }
    const limits = { questionReplayLimit: 1, answerRecordLimit: 1, createdAt: startedAt, updatedAt: startedAt }
    await service.db.submission.create({ data: { id: later, ...own, ...limits, state: 'in_progress', startedAt } })
    await service.db.submission.create({ data: { id: service.deps.newId(), ...own, ...limits } }) // not started yet
    const { submissions, pagination } = await list()
    expect(faultOf('listSubmissions', { submissions, pagination })).toBeNull()
    expect(submissions.map(({ id }: { id: string }) => id)).toEqual([later, submissionId])
    expect(pagination).toEqual({ page: 1, limit: 20, total: 2, totalPages: 1 })
    const idsOf = async (query: string) => (await list(query)).submissions.map(({ id }: { id: string }) => id)
    expect(await idsOf('?state=submitted')).toEqual([submissionId])
    expect(await idsOf('?state=released')).toEqual([])
    expect(await idsOf(`?assessmentId=${assessment.id}&order=asc`)).toEqual([submissionId, later])
    expect(await idsOf(`?assessmentId=${unknownId}`)).toEqual([])
    const first = await client.get('/submissions?limit=1')
    expect(first.headers.link).toContain('rel="next"')
    expect(first.headers['events-cursor']).toMatch(/^\d+$/)
    expect((await client.get('/submissions?state=preparing')).status).toBe(400)
  })
})
