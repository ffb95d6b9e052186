import { describe, expect, it } from 'vitest'
import { completeDueSubmissions } from '../../../src/domain/submissions/taking/complete-due-submissions.ts'
import { signInAs } from '../../support/portal.ts'
import { startServiceForFile } from '../../support/service.ts'
import { makeAccepted, makeTaking, openTab, type Taken } from '../../support/taking.ts'

const service = await startServiceForFile()
const SECOND = 1_000
const PREPARED = { preparationTime: 30, timeLimit: 120 }
const SPOKEN = { ...PREPARED, responseType: 'audio' }
const UNCHECKED = { waivedChecks: ['microphone'] }

/** Opens the first question. All times are in seconds from then. */
async function openPrepared(of: Taken = {}) {
  const made = await makeTaking(service, { questions: [PREPARED, {}], ...of })
  const from = service.clock.now().getTime()
  await made.candidate.press('open', { number: '1' })
  const { candidate, tab } = made
  const secondsTo = (time: Date | null) => time && (time.getTime() - from) / SECOND
  return {
    ...made,
    save: (text: string, revision: number) => candidate.session('put', '/questions/1/text', { tab, body: { text, revision } }),
    record: () => candidate.session('post', '/questions/1/attempts', { tab, body: { kind: 'audio' } }),
    answerNow: () => candidate.session('post', '/questions/1/answering', { tab }),
    /** Start of answering, and end of the question. */
    times: async () => {
      const [question] = await made.paper()
      return [secondsTo(question!.answersAt), secondsTo(question!.closesAt)]
    },
    deadline: async () => secondsTo((await made.submission()).deadlineAt),
    giveExtraTime: (extraTimePercent: number) =>
      service.v1(made.organization.key).put(`/invites/${made.invite.id}/accommodations`).send({ extraTimePercent }).expect(200),
  }
}

const refusal = ({ status, body }: { status: number; body: { code: string; message: string } }) => [
  status,
  body.code,
  body.message,
]
const PREPARING = [409, 'preparing', 'The time to prepare is not over']

describe('the card before a question with a preparation time', () => {
  it('shows both times, and that answering begins automatically', async () => {
    const { candidate } = await makeTaking(service, { questions: [SPOKEN, {}], ...UNCHECKED })
    const { text } = await candidate.open()
    expect(text).toContain('You have 30 seconds to prepare, then 2 minutes to answer.')
    expect(text).toContain('Answering then begins by itself, or earlier if you press “Answer now”.')
    expect(text).toContain('all your attempts share the time to answer')
  })

  it('shows that the answer has no time limit if it has none', async () => {
    const { candidate } = await makeTaking(service, { questions: [{ preparationTime: 90 }, {}] })
    const { text } = await candidate.open()
    expect(text).toContain('You have 1 minute 30 seconds to prepare. Your answer has no time limit of its own.')
    expect(text).not.toContain('share the time')
  })

  it('follows a start page that adds the preparation to the time of the questions', async () => {
    const { candidate } = await makeAccepted(service, { questions: [PREPARED, PREPARED, { preparationTime: 10 }] })
    const { text } = await candidate.open()
    expect(text).toMatch(/Time to prepare<\/strong><p[^>]*>Before 3 answers/)
    expect(text).toContain('2 questions have their own limits: 5 minutes in all')
  })
})

describe('the preparation time', () => {
  it('begins when the question is opened, and its time limit follows', async () => {
    const { times, candidate } = await openPrepared()
    expect(await times()).toEqual([30, 150])
    service.clock.advance(6 * SECOND)
    const { text } = await candidate.open()
    expect(text).toContain('you had this long left to prepare: 24 seconds')
    expect(text).toContain('Prepare your answer')
    expect((await candidate.session('get')).body.question).toMatchObject({
      answersAt: new Date(service.clock.now().getTime() + 24 * SECOND).toISOString(),
      closesAt: new Date(service.clock.now().getTime() + 144 * SECOND).toISOString(),
    })
  })

  it('never lasts beyond the end of the whole assessment', async () => {
    const { times } = await openPrepared({ timeLimit: 20 })
    expect(await times()).toEqual([20, 20])
  })

  it('is followed by an answer without a time limit if the question has none', async () => {
    const { times, save, texts } = await openPrepared({ questions: [{ preparationTime: 30 }, {}] })
    expect(await times()).toEqual([30, null])
    expect(refusal(await save('Early', 1))).toEqual(PREPARING)
    service.clock.advance(30 * SECOND)
    await save('In time', 1).expect(200)
    expect(await texts()).toEqual(['In time'])
  })

  it('rejects a text before its end, with an explanation on the page of the form', async () => {
    const { candidate, save, texts } = await openPrepared()
    service.clock.advance(29_999)
    expect(refusal(await save('Early', 1))).toEqual(PREPARING)
    const { headers } = await candidate.answer(1, 'Early', 'next')
    expect((await service.http().get(headers.location!)).text).toContain('This was not saved: your time to prepare is not over.')
    expect(await texts()).toEqual([])
    service.clock.advance(1)
    expect((await save('In time', 1)).body).toEqual({ saved: 1 })
    expect(await texts()).toEqual(['In time'])
  })

  it('grants no recording before its end', async () => {
    const { record } = await openPrepared({ questions: [SPOKEN], ...UNCHECKED })
    expect(refusal(await record())).toEqual(PREPARING)
    service.clock.advance(30 * SECOND)
    expect((await record()).status).toBe(201)
  })

  it('continues after a reload, and in another tab', async () => {
    const { candidate, times, answerNow, save } = await openPrepared()
    service.clock.advance(10 * SECOND)
    await candidate.press('open', { number: '1' })
    expect(await times()).toEqual([30, 150])
    const tab = await openTab(service, candidate)
    expect(refusal(await answerNow())).toContain('taken_over')
    service.clock.advance(20 * SECOND)
    expect((await candidate.session('get', '', { tab })).body.question.answersAt).toBeNull()
    expect(refusal(await save('From the first tab', 1))).toContain('taken_over')
    expect((await candidate.open()).text).toContain('When this page was loaded, you had 2 minutes left.')
  })

  it('moves the automatic submission to the end of the last question', async () => {
    const { deadline, stored } = await openPrepared({ questions: [PREPARED] })
    expect(await deadline()).toBe(150)
    service.clock.advance(149 * SECOND)
    await completeDueSubmissions(service.system)
    expect((await stored()).status).toBe('started')
    service.clock.advance(32 * SECOND)
    await completeDueSubmissions(service.system)
    expect((await stored()).status).toBe('completed')
  })

  it('is shown to graders with the answer', async () => {
    const { organization, invite, candidate, answerNow } = await openPrepared()
    service.clock.advance(24 * SECOND)
    await answerNow()
    await candidate.answer(1, 'An answer', 'next')
    const admin = await signInAs(service, organization.id, ['admin'])
    const { text } = await admin.get(`${admin.home}invites/${invite.id}/submission`)
    expect(text).toContain('prepared for 0:24')
  })
})

describe('“Answer now”', () => {
  it('begins the answer and its time limit at once', async () => {
    const { times, answerNow, save } = await openPrepared()
    service.clock.advance(10 * SECOND)
    await answerNow().expect(204)
    expect(await times()).toEqual([10, 130])
    await save('Sooner', 1).expect(200)
  })

  it('changes nothing when it is pressed again, or after the preparation time', async () => {
    const { times, answerNow, candidate } = await openPrepared()
    service.clock.advance(10 * SECOND)
    await answerNow()
    service.clock.advance(10 * SECOND)
    await answerNow().expect(204)
    await candidate.press('begin', { number: '1' })
    expect(await times()).toEqual([10, 130])
    const late = await openPrepared()
    service.clock.advance(40 * SECOND)
    await late.answerNow().expect(204)
    expect(await late.times()).toEqual([30, 150])
  })

  it('works without scripts, by a form', async () => {
    const { times, candidate } = await openPrepared()
    service.clock.advance(10 * SECOND)
    const { status, headers } = await candidate.press('begin', { number: '1' })
    expect([status, headers.location]).toEqual([303, candidate.path])
    expect(await times()).toEqual([10, 130])
    const { text } = await candidate.open()
    expect(text).not.toContain('Prepare your answer')
  })

  it('moves the end of the assessment if that is the end of the last question', async () => {
    const { deadline, answerNow } = await openPrepared({ questions: [PREPARED] })
    service.clock.advance(10 * SECOND)
    await answerNow()
    expect(await deadline()).toBe(130)
  })

  it('never moves the question’s end beyond the end of the assessment', async () => {
    const { times, answerNow, deadline } = await openPrepared({ timeLimit: 100 })
    service.clock.advance(10 * SECOND)
    await answerNow()
    expect([await times(), await deadline()]).toEqual([[10, 100], 100])
  })
})

describe('extra time', () => {
  it('extends the preparation, too', async () => {
    const { times, candidate } = await openPrepared({ extraTimePercent: 50 })
    expect(await times()).toEqual([45, 225])
    expect((await candidate.open()).text).toContain('left to prepare: 45 seconds')
  })

  it('moves both ends when it is given during the preparation', async () => {
    const { times, giveExtraTime, candidate } = await openPrepared()
    service.clock.advance(10 * SECOND)
    await giveExtraTime(100)
    expect(await times()).toEqual([60, 300])
    expect((await candidate.open()).text).toContain('left to prepare: 50 seconds')
  })

  it('moves the end, counted from the start of answering, when it is given during the answer', async () => {
    const { times, giveExtraTime, answerNow } = await openPrepared()
    service.clock.advance(10 * SECOND)
    await answerNow()
    service.clock.advance(10 * SECOND)
    await giveExtraTime(100)
    expect(await times()).toEqual([10, 250])
  })

  it('moves the end of the assessment if that is the end of the last question', async () => {
    const { times, deadline, giveExtraTime } = await openPrepared({ questions: [PREPARED] })
    await giveExtraTime(100)
    expect([await times(), await deadline()]).toEqual([[60, 300], 300])
  })

  it('keeps the preparation within the time of the assessment', async () => {
    const { times, deadline, giveExtraTime } = await openPrepared({ timeLimit: 40, questions: [{ preparationTime: 60 }, {}] })
    expect(await times()).toEqual([40, 40])
    await giveExtraTime(100)
    expect([await times(), await deadline()]).toEqual([[80, 80], 80])
  })
})
