import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { chooseAnswer } from '../../../src/domain/submissions/choose-answer.ts'
import { startServiceForFile } from '../../support/service.ts'
import { MINUTE_MS, takeAssessment, webmPart } from '../../support/submissions.ts'

const service = await startServiceForFile({ ROLE: 'api' })

const statusAndCode = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code]

/** A candidate whose page sends a request id with each attempt, and reports when a recording stops. */
async function record() {
  const candidate = await takeAssessment(service)
  const post = (place: string, body: object = {}) => candidate.post(place, body).set('idempotency-key', randomUUID())
  const put = (body: object) =>
    service.http().put(`${candidate.session}/questions/1/text`).set('x-tab', candidate.tab).type('json').send(body)
  /** Begins an attempt and uploads its first part. */
  const begin = async (): Promise<{ attemptId: string; mediaId: string }> => {
    service.clock.advance(1_000)
    const { body } = await post('questions/1/attempts', { kind: 'audio' })
    expect((await candidate.putPart(body.mediaId, 0, 0, webmPart())).status).toBe(204)
    service.clock.advance(1_000)
    return body
  }
  const stop = (mediaId: string, ago = 0) => post(`media/${mediaId}/stop`, { ago })
  const complete = (mediaId: string) => post(`media/${mediaId}/complete`, { segments: [1] })
  const choose = (attempt: string, ago = 0) => post('questions/1/choice', { attempt, ago })
  const stopped = async () => {
    const attempt = await begin()
    expect((await stop(attempt.mediaId)).status).toBe(204)
    expect((await complete(attempt.mediaId)).status).toBe(202)
    return attempt
  }
  const wasInterrupted = async () => {
    const attempt = await begin()
    expect((await complete(attempt.mediaId)).status).toBe(202) // the next page completes a recording that an earlier page left
    return attempt
  }
  const attempts = () =>
    service.db.answerAttempt.findMany({
      where: { submissionId: candidate.submissionId },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    })
  const answer = async () => chooseAnswer(await attempts())?.id
  const shown = async () => (await service.http().get(candidate.session)).body.question.answers
  const textId = async () => (await attempts()).find(({ kind }) => kind === 'text')!.id
  return { candidate, begin, stop, complete, choose, stopped, wasInterrupted, put, answer, shown, textId }
}

describe('the answer', () => {
  it('is the recording that the candidate stopped last', async () => {
    const { stopped, answer } = await record()
    const first = await stopped()
    expect(await answer()).toBe(first.attemptId)
    const second = await stopped()
    expect(await answer()).toBe(second.attemptId)
  })

  it('stays the same after a later recording is interrupted, until the candidate chooses that one', async () => {
    const { stopped, wasInterrupted, answer, choose, shown } = await record()
    const first = await stopped()
    const second = await wasInterrupted()
    expect(await answer()).toBe(first.attemptId)
    expect(await shown()).toMatchObject([
      { id: first.attemptId, kind: 'audio', wasInterrupted: false, counts: true },
      { id: second.attemptId, kind: 'audio', wasInterrupted: true, counts: false },
    ])
    expect((await choose(second.attemptId)).status).toBe(204)
    expect(await answer()).toBe(second.attemptId)
    expect(await shown()).toMatchObject([{ counts: false }, { counts: true }])
  })

  it('is an interrupted recording if there is no other, and the first of several', async () => {
    const { wasInterrupted, answer, put, textId } = await record()
    const first = await wasInterrupted()
    await wasInterrupted()
    expect(await answer()).toBe(first.attemptId)
    await put({ text: 'In words, then.', revision: 1 })
    expect(await answer()).toBe(await textId())
    await put({ text: '', revision: 2 })
    expect(await answer()).toBe(first.attemptId)
  })

  it("is the recording that was stopped after the candidate's choice", async () => {
    const { stopped, answer, choose } = await record()
    const first = await stopped()
    await stopped()
    service.clock.advance(1_000)
    await choose(first.attemptId)
    expect(await answer()).toBe(first.attemptId)
    const third = await stopped()
    expect(await answer()).toBe(third.attemptId)
  })

  it("follows the time of the candidate's action, not the order of arrival", async () => {
    const { begin, stop, complete, put, answer, textId, choose } = await record()
    const recording = await begin()
    await stop(recording.mediaId)
    service.clock.advance(5_000)
    await put({ text: 'Later', revision: 1 })
    service.clock.advance(5_000)
    await complete(recording.mediaId)
    expect(await answer()).toBe(await textId())
    // Without a connection, a text is typed 8 s ago and a recording stops 4 s ago; the stop arrives first.
    const second = await begin()
    service.clock.advance(10_000)
    await stop(second.mediaId, 4_000)
    await complete(second.mediaId)
    await put({ text: 'Earlier', revision: 2, ago: 8_000 })
    expect(await answer()).toBe(second.attemptId)
    // The later one of two choices arrives first.
    await choose(recording.attemptId, 10)
    await choose(await textId(), 100)
    expect(await answer()).toBe(recording.attemptId)
  })

  it('is the latest recording if a page of an earlier release reports no stop', async () => {
    const { candidate, stopped, answer } = await record()
    await stopped()
    const { body } = await candidate.post('questions/1/attempts', { kind: 'video' })
    await candidate.putPart(body.mediaId, 0, 0, webmPart())
    await candidate.post(`media/${body.mediaId}/complete`, { segments: [1] })
    expect(await answer()).toBe(body.attemptId)
  })
})

/** A candidate with one attempt, of which this many slices of two seconds have arrived. */
async function interrupt(slices: number) {
  const candidate = await takeAssessment(service, { responseType: 'audio', submission: { answerRecordLimit: 1 } })
  const post = (place: string, body: object = {}) => candidate.post(place, body).set('idempotency-key', randomUUID())
  const { body } = await post('questions/1/attempts', { kind: 'audio' })
  const mediaId: string = body.mediaId
  for (let n = 0; n < slices; n++) await candidate.putPart(mediaId, 0, n, n === 0 ? webmPart() : Buffer.from(`slice ${n}`))
  const question = async () => (await service.http().get(candidate.session)).body.question
  const restart = () => post('questions/1/attempts', { kind: 'audio', restart: true })
  const goOn = (segment = 1) => post(`media/${mediaId}/continue`, { segment })
  const attempts = () =>
    service.db.answerAttempt.findMany({ where: { submissionId: candidate.submissionId }, orderBy: { createdAt: 'asc' } })
  return { candidate, post, mediaId, question, restart, goOn, attempts }
}

describe('an interrupted attempt', () => {
  it('continues as a further segment of the only attempt, and is marked', async () => {
    const { candidate, post, mediaId, question, goOn, attempts } = await interrupt(20)
    const container = { contentType: 'video/webm' }
    expect(await question()).toMatchObject({
      attemptsLeft: 0,
      interrupted: { mediaId, kind: 'audio', ...container },
      hadInterruption: false,
    })
    const { status, body } = await goOn()
    expect([status, body]).toEqual([200, { segment: 1 }])
    expect((await candidate.putPart(mediaId, 1, 0, webmPart())).status).toBe(204)
    expect((await goOn(1)).body).toEqual({ segment: 2 })
    expect((await goOn(7)).body).toEqual({ segment: 7 }) // the browser has segments that the service has not received
    await post(`media/${mediaId}/stop`, { ago: 0 })
    await post(`media/${mediaId}/complete`, { segments: [20, 1] })
    expect(await attempts()).toMatchObject([{ state: 'complete', wasInterrupted: false, interruptions: 3, restarted: false }])
    expect(await question()).toMatchObject({ interrupted: null, hadInterruption: true, attemptsLeft: 0 })
  })

  it('continues without a mark if nothing had been recorded', async () => {
    const { mediaId, question, goOn, attempts } = await interrupt(0)
    expect(await question()).toMatchObject({ interrupted: { mediaId, contentType: '' } })
    expect((await goOn(0)).body).toEqual({ segment: 0 })
    expect(await attempts()).toMatchObject([{ interruptions: 0 }])
  })

  it('does not continue once it is stopped or its question has closed, nor for another candidate', async () => {
    const { post, mediaId, goOn } = await interrupt(2)
    const other = await interrupt(0)
    expect(statusAndCode(await other.post(`media/${mediaId}/continue`, { segment: 0 }))).toEqual([404, 'not_found'])
    for (const body of [{}, { segment: -1 }]) expect((await post(`media/${mediaId}/continue`, body)).status).toBe(400)
    await post(`media/${mediaId}/stop`, { ago: 0 })
    expect(statusAndCode(await goOn())).toEqual([409, 'closed'])
    service.clock.advance(10 * MINUTE_MS)
    expect(statusAndCode(await other.goOn())).toEqual([409, 'closed'])
  })

  it('restarts once if less than ten seconds are saved, costs no attempt, and is marked', async () => {
    const { candidate, post, question, restart, attempts } = await interrupt(4)
    expect(await question()).toMatchObject({ mayStartOver: true, attemptsLeft: 0 })
    const { status, body } = await restart()
    expect([status, body.attemptsLeft]).toEqual([201, 0])
    expect(await question()).toMatchObject({ mayStartOver: false, hadInterruption: true, interrupted: { mediaId: body.mediaId } })
    await candidate.putPart(body.mediaId, 0, 0, webmPart())
    expect(statusAndCode(await restart())).toEqual([409, 'no_attempts_left'])
    expect(statusAndCode(await post('questions/1/attempts', { kind: 'audio' }))).toEqual([409, 'no_attempts_left'])
    await post(`media/${body.mediaId}/complete`, { segments: [1] })
    expect(await attempts()).toMatchObject([{ restarted: true, wasInterrupted: true }, { restarted: false }])
    expect(chooseAnswer(await attempts())).toMatchObject({ mediaId: body.mediaId, wasInterrupted: true })
  })

  it('does not restart if more is saved, if it was stopped, or if there is none', async () => {
    const long = await interrupt(5)
    expect(statusAndCode(await long.restart())).toEqual([409, 'no_attempts_left'])
    const stopped = await interrupt(1)
    await stopped.post(`media/${stopped.mediaId}/stop`, { ago: 0 })
    expect(statusAndCode(await stopped.restart())).toEqual([409, 'no_attempts_left'])
    expect(await stopped.attempts()).toMatchObject([{ restarted: false }])
    const none = await takeAssessment(service, { submission: { answerRecordLimit: 1 } })
    expect(statusAndCode(await none.post('questions/1/attempts', { kind: 'audio', restart: true }))).toEqual([
      409,
      'no_attempts_left',
    ])
  })
})

describe("a candidate's attempt", () => {
  it('plays only for its candidate, while its question is open, once it is ready', async () => {
    const { candidate, mediaId } = await interrupt(1)
    const other = await takeAssessment(service)
    const play = (of = candidate) => service.http().get(`${of.session}/media/${mediaId}`)
    expect(statusAndCode(await play())).toEqual([404, 'not_found'])
    const { key } = await candidate.media(mediaId)
    await service.deps.media.put(`${key}/file`, Buffer.from('recorded'))
    await service.db.mediaFile.update({ where: { id: mediaId }, data: { state: 'ready', bytes: 8, contentType: 'audio/webm' } })
    const played = await play().set('range', 'bytes=0-3')
    expect([played.status, played.headers['content-type'], played.headers['content-range']]).toEqual([
      206,
      'audio/webm',
      'bytes 0-3/8',
    ])
    expect(statusAndCode(await play(other))).toEqual([404, 'not_found'])
    service.clock.advance(10 * MINUTE_MS)
    expect(statusAndCode(await play())).toEqual([404, 'not_found'])
  })
})

describe('a stop', () => {
  it('keeps its first time when repeated, and counts even if reported after the end of the recording', async () => {
    const { candidate, begin, stop, complete, answer, stopped } = await record()
    await stopped()
    const attempt = await begin()
    await complete(attempt.mediaId)
    await stop(attempt.mediaId, 500)
    const { completedAt } = (await candidate.media(attempt.mediaId)).attempts[0]!
    await stop(attempt.mediaId)
    expect((await candidate.media(attempt.mediaId)).attempts).toMatchObject([{ completedAt, wasInterrupted: false }])
    expect(await answer()).toBe(attempt.attemptId)
  })

  it('is accepted for half a minute after the end, and no longer', async () => {
    const { begin, stop } = await record()
    const [first, second] = [await begin(), await begin()]
    service.clock.advance(10 * MINUTE_MS + 20_000)
    expect((await stop(first.mediaId, 25_000)).status).toBe(204)
    service.clock.advance(10_000)
    expect(statusAndCode(await stop(second.mediaId))).toEqual([409, 'closed'])
    expect((await stop(first.mediaId)).status).toBe(204)
  })

  it("is rejected for another candidate's attempt and for an abandoned one", async () => {
    const { candidate, begin, stop } = await record()
    const { mediaId } = await begin()
    const other = await takeAssessment(service)
    expect(statusAndCode(await other.post(`media/${mediaId}/stop`, { ago: 0 }))).toEqual([404, 'not_found'])
    for (const id of ['x', randomUUID()]) expect(statusAndCode(await stop(id))).toEqual([404, 'not_found'])
    for (const body of [{}, { ago: -1 }]) expect((await candidate.post(`media/${mediaId}/stop`, body)).status).toBe(400)
    await candidate.post(`media/${mediaId}/abandon`)
    expect(statusAndCode(await stop(mediaId))).toEqual([409, 'closed'])
  })
})

describe('a choice', () => {
  it('is accepted only while the question is open, for an existing attempt, from its candidate', async () => {
    const { candidate, stopped, begin, choose, answer } = await record()
    const first = await stopped()
    const other = await takeAssessment(service)
    expect(statusAndCode(await other.post('questions/1/choice', { attempt: first.attemptId, ago: 0 }))).toEqual([
      404,
      'not_found',
    ])
    expect(statusAndCode(await choose(randomUUID()))).toEqual([404, 'not_found'])
    expect(statusAndCode(await choose((await begin()).attemptId))).toEqual([404, 'not_found'])
    const second = await stopped()
    service.clock.advance(10 * MINUTE_MS)
    expect(statusAndCode(await choose(first.attemptId))).toEqual([409, 'closed'])
    expect(await answer()).toBe(second.attemptId)
    await service.db.submission.update({ where: { id: candidate.submissionId }, data: { state: 'submitted' } })
    expect(statusAndCode(await choose(first.attemptId))).toEqual([409, 'submitted'])
  })
})
