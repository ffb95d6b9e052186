import { describe, expect, it } from 'vitest'
import { changeApiKey, createApiKey } from '../../src/domain/api-keys/api-keys.ts'
import { consent } from '../support/candidate.ts'
import { startServiceForFile } from '../support/service.ts'
import { makeAccepted, openTab } from '../support/taking.ts'

const service = await startServiceForFile()

const OPTIONS = [
  { id: 'qkzvwtab', text: 'Oslo' },
  { id: 'mfpdxhce', text: 'Bergen' },
  { id: 'aabbccdd', text: 'Trondheim' },
]
const ONE = {
  responseType: 'single_choice',
  spec: { options: OPTIONS, shuffle: true },
  key: { policy: 'exact', right: ['qkzvwtab'] },
}
const SEVERAL = {
  responseType: 'multiple_choice',
  spec: { options: OPTIONS, shuffle: false },
  key: { policy: 'balanced', right: ['qkzvwtab', 'mfpdxhce'] },
}
const NUMBER = { responseType: 'number', spec: { unit: 'km' }, key: { answers: [{ value: '16000', share: 100 }] } }
const WORDS = {
  responseType: 'short_text',
  spec: { lines: 1 },
  key: {
    accepted: [{ text: 'canarykey', share: 100 }],
    caseSensitive: false,
    ignore: { accents: false, punctuation: true },
    otherwise: 'wrong',
  },
}

/** Creates an accepted invite to an assessment with four auto-scored questions, ten points each, and a client with the right to manage. */
async function makeDefined() {
  const questions = [{ points: 10 }, { points: 10 }, { points: 10 }, { points: 10 }]
  const made = await makeAccepted(service, { questions })
  const { key, apiKey } = await createApiKey(service.system, {
    organizationId: made.organization.id,
    name: 'manager',
    mode: 'live',
  })
  await changeApiKey(service.system, apiKey.id, { rights: ['manage'] })
  const v1 = service.v1(key)
  const asked = await service.db.question.findMany({ where: { assessmentId: made.assessment.id }, orderBy: { order: 'asc' } })
  const paths = asked.map(({ id }) => `/assessments/${made.assessment.id}/questions/${id}`)
  for (const [i, definition] of [ONE, SEVERAL, NUMBER, WORDS].entries()) {
    await v1.put(`${paths[i]}/definition`).send(definition).expect(200)
  }
  return { ...made, v1, paths }
}
type Defined = Awaited<ReturnType<typeof makeDefined>>

async function start({ candidate }: Defined) {
  await consent(candidate)
  await candidate.press('start')
}

const scoresOf = async ({ submission }: Defined) => {
  const { id: submissionId } = await submission()
  const scores = await service.db.questionScore.findMany({ where: { submissionId }, orderBy: { questionNumber: 'asc' } })
  return scores.map(({ points }) => points && Number(points))
}

describe('a set of automatically scored questions', () => {
  it('is answered without JavaScript, scored on submission, graded, and released', async () => {
    const made = await makeDefined()
    const { candidate, v1, invite } = made
    await start(made)
    for (const [i, answer] of ['qkzvwtab', 'mfpdxhce', '16000', ' CanaryKey. '].entries()) {
      const number = String(i + 1)
      await candidate.press('open', { number })
      await candidate.press('answer', Object.fromEntries(Object.entries({ number, answer }).concat([['then', 'next']])))
    }
    expect(await made.texts()).toEqual(['Oslo', 'Bergen', '16000 km', 'CanaryKey.'])
    expect(await scoresOf(made)).toEqual([])
    await candidate.press('finish')
    expect(await scoresOf(made)).toEqual([10, 5, 10, 10])
    const { body } = await v1.get(`/invites/${invite.id}/submission/grades`).expect(200)
    expect(body).toMatchObject({ points: 35, ofPoints: 40, isGraded: true })
    const sent = await v1.get(`/invites/${invite.id}/submission`).expect(200)
    expect(JSON.stringify(sent.body)).not.toContain('canarykey')
  })

  it('has a separate order for each candidate, which survives a reload', async () => {
    const orders = new Set<string>()
    const made = await makeDefined()
    await start(made)
    await made.candidate.press('open', { number: '1' })
    const [first] = await made.paper()
    orders.add(first!.shown.join())
    expect([...first!.shown].sort()).toEqual(OPTIONS.map(({ id }) => id).sort())
    const seen = async () => [...(await made.candidate.open()).text.matchAll(/value="([a-z]{8})"/g)].map(([, id]) => id)
    expect(await seen()).toEqual(first!.shown)
    expect(await seen()).toEqual(first!.shown)
  })

  it('stays unchanged for candidates who have started, and changes for later ones', async () => {
    const made = await makeDefined()
    await start(made)
    const [before] = await made.paper()
    const changed = { ...ONE, key: { policy: 'exact', right: ['mfpdxhce'] } }
    const { body } = await made.v1.put(`${made.paths[0]}/definition`).send(changed).expect(200)
    expect(body).toMatchObject({ definition: { responseType: 'single_choice', isAsked: false, keyNumber: 1 } })
    const question = await service.db.question.findFirstOrThrow({ where: { id: before!.questionId } })
    expect(question.versionId).not.toBe(before!.versionId)
    await made.v1.put(`${made.paths[0]}/definition`).send(changed).expect(200)
    expect(await service.db.question.findFirstOrThrow({ where: { id: before!.questionId } })).toEqual(question)
  })

  it("keeps a grader's points over the automatic ones", async () => {
    const made = await makeDefined()
    await start(made)
    for (const number of ['1', '2', '3', '4']) {
      await made.candidate.press('open', { number })
      await made.candidate.press('next', { number })
    }
    await made.candidate.press('finish')
    expect(await scoresOf(made)).toEqual([0, 0, 0, 0])
    const { id: graderId } = await service.make.member(made.organization.id, { roles: ['grader'] })
    const path = `/invites/${made.invite.id}/submission/grades`
    const uncommented = await made.v1.patch(path).send({ graderId, grades: [{ number: 2, points: 7.5 }] })
    expect([uncommented.status, uncommented.body]).toMatchObject([
      400,
      { error: 'comment must say why the points differ from those of the key: 0' },
    ])
    await made.v1
      .patch(path)
      .send({ graderId, grades: [{ number: 3, points: 0 }] })
      .expect(200)
    const { body } = await made.v1.patch(path).send({ graderId, grades: [{ number: 2, points: 7.5, comment: 'Said aloud' }] })
    expect(body).toMatchObject({ points: 7.5, isGraded: true })
  })

  it('accepts autosaved answers in any order, and rejects invalid ones', async () => {
    const made = await makeDefined()
    await start(made)
    const tab = await openTab(service, made.candidate)
    await made.candidate.press('open', { number: '1' })
    const save = (text: string, revision: number) =>
      made.candidate.session('put', '/questions/1/text', { tab, body: { text, revision } })
    expect((await save('answer=qkzvwtab', 2)).body).toEqual({ saved: 2 })
    expect((await save('answer=mfpdxhce', 1)).body).toEqual({ saved: 2 })
    expect((await save('answer=nooption', 3)).status).toBe(422)
    expect((await save('answer=mfpdxhce&answer=qkzvwtab', 4)).status).toBe(422)
    expect(await made.texts()).toEqual(['Oslo'])
    const state = (await made.candidate.session('get')).body as { question: { text: unknown } }
    expect(state.question.text).toEqual({ text: 'answer=qkzvwtab', revision: 2 })
    expect((await save('', 5)).body).toEqual({ saved: 5 })
    expect(await made.texts()).toEqual([''])
  })

  it('shows the key to no candidate on any page', async () => {
    const made = await makeDefined()
    const seen: string[] = []
    const look = async () => seen.push((await made.candidate.open()).text, (await made.candidate.session('get')).text)
    await look()
    await start(made)
    for (const number of ['1', '2', '3', '4']) {
      await made.candidate.press('open', { number })
      await look()
      await made.candidate.press('answer', Object.fromEntries(Object.entries({ number, answer: '' }).concat([['then', 'next']])))
      await look()
    }
    await made.candidate.press('finish')
    await look()
    expect(seen.filter((page) => /canarykey|16000|balanced|exact/i.test(page))).toEqual([])
  })

  it('rejects NUL in answers and definitions', async () => {
    const made = await makeDefined()
    await start(made)
    const tab = await openTab(service, made.candidate)
    for (const number of [1, 2, 3]) {
      await made.candidate.press('open', { number: String(number) })
      await made.candidate.press('next', { number: String(number) })
    }
    await made.candidate.press('open', { number: '4' })
    const body = { text: 'answer=a%00b', revision: 1 }
    expect((await made.candidate.session('put', '/questions/4/text', { tab, body })).status).toBe(422)
    expect(await made.texts()).toEqual([])
    for (const text of ['a\u0000b', 'a\ud800b']) {
      const spec = { ...ONE.spec, options: [{ id: 'qkzvwtab', text }, OPTIONS[1]] }
      await made.v1
        .put(`${made.paths[0]}/definition`)
        .send({ ...ONE, spec })
        .expect(400)
    }
  })

  it('is left to graders if the stored value is invalid, and can still be submitted', async () => {
    const made = await makeDefined()
    await start(made)
    await made.candidate.press('open', { number: '1' })
    await made.candidate.press(
      'answer',
      Object.fromEntries([
        ['number', '1'],
        ['answer', 'qkzvwtab'],
        ['then', 'next'],
      ]),
    )
    const { id: submissionId } = await made.submission()
    await service.db.answerAttempt.updateMany({ where: { submissionId }, data: { value: { of: 'another form' } } })
    await made.candidate.press('finish')
    expect(await scoresOf(made)).toEqual([null, 0, 0, 0])
  })

  it.each([
    ['an unknown kind', { ...ONE, responseType: 'essay' }, 'responseType'],
    ['no right option', { ...ONE, key: { policy: 'exact', right: [] } }, 'key'],
    ['a key of another kind', { ...ONE, key: NUMBER.key }, 'key'],
  ])('rejects %s', async (_, definition, named) => {
    const made = await makeDefined()
    const { status, text } = await made.v1.put(`${made.paths[0]}/definition`).send(definition)
    expect(status).toBe(400)
    expect(text).toContain(named)
  })

  it('is defined only by keys that may manage, and becomes text with another response type', async () => {
    const made = await makeDefined()
    const { key } = await createApiKey(service.system, { organizationId: made.organization.id, name: 'reader', mode: 'live' })
    const reader = service.v1(key)
    await reader.put(`${made.paths[0]}/definition`).send(ONE).expect(403)
    await reader.get(`${made.paths[0]}/definition`).expect(200)
    const foreign = await makeDefined()
    await foreign.v1.get(`${made.paths[0]}/definition`).expect(404)
    await foreign.v1.put(`${made.paths[0]}/definition`).send(ONE).expect(404)
    await made.v1.patch(made.paths[0]!).send({ responseType: 'text' }).expect(200)
    expect((await made.v1.get(`${made.paths[0]}/definition`)).body).toEqual({ definition: null })
  })

  it('is copied with its assessment, and changes independently', async () => {
    const made = await makeDefined()
    const { body } = await made.v1.post(`/assessments/${made.assessment.id}/duplicate`).send({})
    const { id } = (body as { assessment: { id: string } }).assessment
    const [copy] = await service.db.question.findMany({ where: { assessmentId: id }, orderBy: { order: 'asc' } })
    const ofCopy = `/assessments/${id}/questions/${copy!.id}/definition`
    await made.v1
      .put(ofCopy)
      .send({ ...ONE, spec: { ...ONE.spec, shuffle: false } })
      .expect(200)
    const original = await made.v1.get(`${made.paths[0]}/definition`)
    expect(original.body).toMatchObject({ definition: { spec: ONE.spec, isAsked: true } })
  })
})
