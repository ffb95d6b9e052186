import { describe, expect, it } from 'vitest'
import { ASKS_NOTHING, candidateOf, consent } from '../../support/candidate.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

type Questions = Parameters<typeof service.make.question>[1][]

async function makeInvite({
  timeLimit = 0,
  questions = [{}, {}] as Questions,
  ...data
}: { timeLimit?: number; questions?: Questions } & Parameters<typeof service.make.invite>[1] = {}) {
  const { id, key } = await service.make.organization()
  const assessment = await service.make.assessment(id, { timeLimit })
  for (const [i, question] of questions.entries())
    await service.make.question(assessment, { script: `Question ${i + 1}?`, ...question })
  const invite = await service.make.invite(assessment, { status: 'accepted', ...ASKS_NOTHING, ...data })
  const stored = () => service.db.invite.findUniqueOrThrow({ where: { id: invite.id } })
  const submission = () => service.db.submission.findFirstOrThrow({ where: { inviteId: invite.id }, orderBy: { id: 'desc' } })
  const answers = async () =>
    (await service.db.take.findMany({ where: { organizationId: id }, orderBy: { questionNumber: 'asc' } })).map(
      ({ text }) => text,
    )
  return { key, organizationId: id, assessment, invite, stored, submission, answers, candidate: candidateOf(service, invite) }
}

async function makeStarted(of: Parameters<typeof makeInvite>[0] = {}) {
  const made = await makeInvite(of)
  await consent(made.candidate)
  await made.candidate.press('start')
  return made
}

describe('the way by forms', () => {
  it('leads from consent over each question to the end, with the answers kept', async () => {
    const { candidate, stored, submission, answers } = await makeInvite({
      questions: [{ points: 3 }, { responseType: 'a translation' }],
    })
    expect((await candidate.open()).text).toContain('Your consent')
    expect((await consent(candidate)).headers.location).toBe(candidate.path)
    expect((await candidate.open()).text).toContain('>Start</button>')
    await candidate.press('start')
    expect(await stored()).toMatchObject({ status: 'started', assessmentSession: (await submission()).id })
    expect((await candidate.open()).text).toContain('<h2>Question 1 of 2</h2>')
    await candidate.press('open', { number: '1' })
    const page = (await candidate.open()).text
    expect(page).toContain('<p class="script">Question 1?</p>')
    expect(page).not.toContain('Question 2?')
    await candidate.answer(1, 'A first\r\ndraft', 'save')
    expect((await candidate.open()).text).toContain('>\nA first\ndraft</textarea>')
    await candidate.answer(1, 'My answer', 'next')
    await candidate.press('open', { number: '2' })
    await candidate.answer(2, 'Another', 'next')
    expect((await candidate.open()).text).toContain('You have answered every question.')
    service.clock.advance(1_000)
    await candidate.press('finish')
    expect((await candidate.open()).text).toContain('You have completed this assessment')
    expect(await stored()).toMatchObject({ status: 'completed', completedAt: service.clock.now() })
    expect(await submission()).toMatchObject({ state: 'submitted', submittedAt: service.clock.now() })
    expect(await answers()).toEqual(['My answer', 'Another'])
  })
  it('is what scripts are told', async () => {
    const { candidate } = await makeStarted({ questions: [{ timeLimit: 60 }] })
    const tab = service.deps.newId()
    expect((await candidate.session('post', '/tab', { body: { tab } })).body).toEqual({})
    await candidate.press('open', { number: '1' })
    expect((await candidate.session('put', '/questions/1/text', { tab, body: { text: 'x', revision: 3 } })).body).toEqual({
      saved: 3,
    })
    expect((await candidate.session('post', '/questions/1/plays', { tab })).body).toEqual({ playsLeft: 0 })
    expect((await candidate.session('post', '/questions/1/plays', { tab })).body).toMatchObject({ code: 'no_plays_left' })
    expect((await candidate.session('post', '/notes', { tab, body: { notes: [{ kind: 'offline', ago: 5 }] } })).status).toBe(204)
    expect((await candidate.session('get')).body).toMatchObject({
      state: 'in_progress',
      question: { number: 1, of: 1, takesLeft: 1, text: { text: 'x', revision: 3 } },
    })
  })
})
