import { describe, expect, it } from 'vitest'
import { candidateOf, consent } from '../../support/candidate.ts'
import { startServiceForFile, startServiceForTest } from '../../support/service.ts'
import { makeAccepted, makeTaking, openTab } from '../../support/taking.ts'

const service = await startServiceForFile()

/** Starts an assessment, and opens its first question. */
async function makeAnswering(of: Parameters<typeof makeTaking>[1] = {}) {
  const made = await makeTaking(service, of)
  await made.candidate.press('open', { number: '1' })
  const { candidate, tab } = made
  const save = (text: string, revision: number) =>
    candidate.session('put', '/questions/1/text', { tab, body: { text, revision } })
  const play = () => candidate.session('post', '/questions/1/plays', { tab })
  return { ...made, save, play }
}
const refusal = ({ status, body }: { status: number; body: { code: string } }) => [status, body.code]

describe('the session endpoint', () => {
  it("returns the candidate's progress, in the times of the server", async () => {
    const { candidate, save, submission } = await makeAnswering({
      timeLimit: 600,
      questionReplayLimit: 2,
      answerRecordLimit: 3,
      questions: [{ timeLimit: 60 }, {}],
    })
    await save('So far', 4)
    const now = service.clock.now()
    const nobody = {
      ...{ microphone: false, camera: false, screen: false, idPhoto: false, facePhoto: false },
      ...{ choice: false, transcription: false },
    }
    const { status, body, headers } = await candidate.session('get')
    expect([status, headers['cache-control']]).toEqual([200, 'no-store'])
    expect(body).toEqual({
      state: 'in_progress',
      now: now.toISOString(),
      deadlineAt: (await submission()).deadlineAt!.toISOString(),
      isDeadlineOfQuestion: false,
      needs: nobody,
      checks: { passed: [], waived: [] },
      photos: { id_photo: false, face_photo: false },
      webcam: 'stills',
      question: {
        number: 1,
        of: 2,
        responseType: 'text',
        answersAt: null,
        closesAt: new Date(now.getTime() + 60_000).toISOString(),
        playsLeft: 2,
        attemptsLeft: 3,
        text: { text: 'So far', revision: 4 },
        attempts: [],
        answers: [
          {
            ...{ id: expect.any(String), mediaId: null, kind: 'text', milliseconds: null, isReady: false },
            ...{ wasInterrupted: false, restarted: false, counts: true },
          },
        ],
        interrupted: null,
        mayStartOver: true,
        hadInterruption: false,
      },
      uploads: [],
    })
  })

  it('returns the required and passed checks before the start', async () => {
    const { candidate } = await makeAccepted(service, {
      questions: [{ responseType: 'video' }],
      screenRecording: true,
      waivedChecks: ['screen', 'id_photo'],
    })
    expect(refusal(await candidate.session('get'))).toEqual([409, 'closed'])
    await consent(candidate)
    const tab = await openTab(service, candidate)
    await candidate.session('post', '/checks', { tab, body: { passed: ['camera'] } })
    expect((await candidate.session('post', '/checks', { tab, body: { passed: ['microphone', 'camera'] } })).status).toBe(204)
    const { body } = await candidate.session('get')
    expect(body).toMatchObject({ state: 'preparing', question: null, deadlineAt: null })
    expect(body.needs).toMatchObject({ microphone: true, camera: true, screen: true })
    expect(body.checks).toEqual({ passed: ['camera', 'microphone'], waived: ['screen'] })
    await candidate.press('start')
    expect((await candidate.session('get')).body.state).toBe('in_progress')
    expect(refusal(await candidate.session('post', '/checks', { tab, body: { passed: [] } }))).toEqual([409, 'closed'])
  })
})

describe('a text', () => {
  it('is saved by revision, and a late one does not undo a newer one', async () => {
    const { candidate, save, texts } = await makeAnswering()
    expect((await save('First', 1)).body).toEqual({ saved: 1 })
    expect((await save('Third', 3)).body).toEqual({ saved: 3 })
    expect((await save('Second', 2)).body).toEqual({ saved: 3 })
    expect(await texts()).toEqual(['Third'])
    await candidate.answer(1, 'By the form', 'save') // a form has no revision, so it counts as the latest
    expect((await save('Late', 4)).body).toEqual({ saved: 4 })
    expect(await texts()).toEqual(['By the form'])
  })

  it('ends as the highest revision if many arrive at once', async () => {
    const { save, texts } = await makeAnswering()
    await Promise.all(Array.from({ length: 12 }, (_, i) => save(`Text ${i + 1}`, i + 1)))
    expect(await texts()).toEqual(['Text 12'])
  })

  it("is accepted for 30 seconds after its time, and no later, regardless of the browser's clock", async () => {
    const { candidate, save, texts } = await makeAnswering({ timeLimit: 60, questions: [{}, {}] })
    await save('In time', 1)
    service.clock.advance(60_000)
    expect((await candidate.session('get')).body.question).toBeNull()
    expect((await save('Typed in time, sent when there was a connection again', 2)).body).toEqual({ saved: 2 })
    service.clock.advance(29_999)
    expect((await save('The last of it', 3)).body).toEqual({ saved: 3 })
    service.clock.advance(1)
    expect(refusal(await save('Too late', 4))).toEqual([409, 'closed'])
    expect((await save('The last of it', 3)).body).toEqual({ saved: 3 }) // a retry after a lost response
    expect(await texts()).toEqual(['The last of it'])
  })

  it('is accepted after its time if the next question is open, but not after the candidate moved on or finished', async () => {
    const { candidate, save, texts } = await makeAnswering({ questions: [{ timeLimit: 60 }, { timeLimit: 60 }] })
    service.clock.advance(60_000)
    await candidate.press('open', { number: '2' })
    expect((await save('First', 1)).status).toBe(200)
    const left = await makeAnswering({ questions: [{ timeLimit: 60 }, {}] })
    await left.candidate.press('next', { number: '1' })
    expect(refusal(await left.save('After going on', 1))).toEqual([409, 'closed'])
    await candidate.press('finish')
    expect(refusal(await save('After the end', 2))).toEqual([409, 'submitted'])
    expect([await texts(), await left.texts()]).toEqual([['First'], []])
  })

  it('is rejected if it is malformed or too long, and for a question that is not open', async () => {
    const { candidate, tab, save, texts } = await makeAnswering()
    expect(refusal(await save('x'.repeat(20_001), 1))).toEqual([422, 'invalid'])
    expect(refusal(await save('\0', 1))).toEqual([422, 'invalid'])
    const put = (body: object | string, number = '1') => candidate.session('put', `/questions/${number}/text`, { tab, body })
    for (const body of [{}, { text: 5, revision: 1 }, { text: 'x' }, { text: 'x', revision: 0 }, { text: 'x', revision: 1e12 }])
      expect(refusal(await put(body))).toEqual([400, 'malformed_request'])
    expect(refusal(await put('{'))).toEqual([400, 'malformed_json'])
    expect(refusal(await put({ text: 'x'.repeat(300_000), revision: 1 }))).toEqual([413, 'too_big'])
    for (const number of ['2', '3', '999999999'])
      expect(refusal(await put({ text: 'x', revision: 1 }, number))).toEqual([409, 'closed'])
    for (const number of ['0', '-1', 'x', '1e9', '99999999999'])
      expect(refusal(await put({ text: 'x', revision: 1 }, number))).toEqual([400, 'malformed_request'])
    expect(await texts()).toEqual([])
  })
})

describe('a play', () => {
  it("is granted only up to the invite's limit, even if many requests arrive at once", async () => {
    const { play } = await makeAnswering({ questionReplayLimit: 3 })
    const answers = await Promise.all(Array.from({ length: 8 }, play))
    const granted = answers.filter(({ status }) => status === 200).map(({ body }) => body.playsLeft)
    expect(granted.sort()).toEqual([0, 1, 2])
    expect(refusal(await play())).toEqual([409, 'no_plays_left'])
  })

  it('is rejected for a question that is not open', async () => {
    const { candidate, tab, play } = await makeAnswering({ questions: [{ timeLimit: 60 }, {}] })
    expect(refusal(await candidate.session('post', '/questions/2/plays', { tab }))).toEqual([409, 'closed'])
    service.clock.advance(60_000)
    expect(refusal(await play())).toEqual([409, 'closed'])
  })

  it("is limited by the invite's setting at the start", async () => {
    const { invite, play } = await makeAnswering({ questionReplayLimit: 1 })
    await service.db.invite.update({ where: { id: invite.id }, data: { questionReplayLimit: 9 } })
    expect([(await play()).status, (await play()).status]).toEqual([200, 409])
  })
})

describe('the second of two tabs', () => {
  it('takes over the session, and the first is notified', async () => {
    const { candidate, save, texts } = await makeAnswering()
    await save('By the first', 1)
    const later = await openTab(service, candidate)
    expect(refusal(await save('By the first again', 2))).toEqual([409, 'taken_over'])
    const body = { text: 'By the second', revision: 2 }
    expect((await candidate.session('put', '/questions/1/text', { tab: later, body })).body).toEqual({ saved: 2 })
    for (const tab of [undefined, service.deps.newId(), 'x'])
      expect(refusal(await candidate.session('put', '/questions/1/text', { ...(tab && { tab }), body }))).toEqual([
        409,
        'taken_over',
      ])
    expect(await texts()).toEqual(['By the second'])
  })
})

describe('notes', () => {
  it('are stored with the time of the server, never before the start', async () => {
    const { candidate, tab, submission } = await makeTaking(service)
    const begun = service.clock.now()
    service.clock.advance(10_000)
    const notes = [
      { kind: 'tab_hidden', ago: 4_000 },
      { kind: 'tab_shown', ago: 1_000.5 },
      { kind: 'reloaded', ago: 1e12 },
    ]
    expect((await candidate.session('post', '/notes', { tab, body: { notes } })).status).toBe(204)
    const kept = await service.db.sessionEvent.findMany({
      where: { submissionId: (await submission()).id },
      orderBy: { at: 'asc' },
    })
    expect(kept.map(({ kind, at }) => [kind, at.getTime() - begun.getTime()])).toEqual([
      ['reloaded', 0],
      ['tab_hidden', 6_000],
      ['tab_shown', expect.closeTo(9_000, -1)],
    ])
    for (const body of [
      {},
      { notes: [{ kind: 'cheated', ago: 1 }] },
      { notes: [{ kind: 'online', ago: -1 }] },
      { notes: Array(101).fill(notes[0]) },
    ])
      expect(refusal(await candidate.session('post', '/notes', { tab, body }))).toEqual([400, 'malformed_request'])
  })

  it('are stored up to a number that no session needs', async () => {
    const { candidate, tab, submission } = await makeTaking(service)
    const body = { notes: Array(100).fill({ kind: 'online', ago: 0 }) }
    const send = () => candidate.session('post', '/notes', { tab, body })
    for (let i = 0; i < 7; i++) await Promise.all([send(), send(), send()])
    expect(await service.db.sessionEvent.count({ where: { submissionId: (await submission()).id } })).toBe(2_000)
  })
})

describe('a session after its end', () => {
  it('rejects each write, because the assessment is submitted', async () => {
    const { candidate, tab, save, play } = await makeAnswering()
    await candidate.press('finish')
    const notes = await candidate.session('post', '/notes', { tab, body: { notes: [] } })
    for (const answer of [await save('x', 1), await play(), notes]) expect(refusal(answer)).toEqual([409, 'submitted'])
    expect((await candidate.session('get')).body).toMatchObject({ state: 'submitted', question: null })
  })

  it('rejects each write after the invite was withdrawn', async () => {
    const { organization, invite, save } = await makeAnswering()
    await service.v1(organization.key).post(`/invites/${invite.id}/revoke`)
    expect(refusal(await save('x', 1))).toEqual([409, 'closed'])
  })
})

describe('an invalid or outdated link', () => {
  it('is rejected with JSON, and opens nothing of another candidate', async () => {
    const { candidate, invite } = await makeAnswering()
    const outdated = candidateOf(service, { ...invite, linkVersion: 9 })
    expect(refusal(await outdated.session('get'))).toEqual([404, 'invite_not_found'])
    expect(refusal(await service.http().get('/i/unknown/session'))).toEqual([404, 'invite_not_found'])
    expect(refusal(await candidate.session('get', '/nothing'))).toEqual([404, 'path_not_found'])
    expect(refusal(await candidate.session('post', ''))).toEqual([404, 'path_not_found'])
  })
})

it('does not exist with an external player', async () => {
  const withPlayer = await startServiceForTest({ PLAYER_URL: 'https://player.example.org/run' })
  const { candidate, stored } = await makeAccepted(withPlayer)
  await candidate.press('start')
  expect((await stored()).status).toBe('started')
  for (const button of ['consent', 'open', 'answer', 'next'] as const)
    expect((await candidate.press(button, { number: '1' })).status).toBe(404)
  expect((await candidate.session('get')).status).toBe(404)
  expect(await withPlayer.db.submission.count()).toBe(0)
})
