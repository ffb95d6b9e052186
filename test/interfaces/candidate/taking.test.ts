import { describe, expect, it } from 'vitest'
import { CONSENT_VERSION } from '../../../src/domain/submissions/taking/record-consent.ts'
import { candidateOf, consent, expectPage, NO_REQUIREMENTS, prepare } from '../../support/candidate.ts'
import { startServiceForFile, startServiceForTest } from '../../support/service.ts'
import { makeAccepted, makeTaking } from '../../support/taking.ts'

const service = await startServiceForFile()

describe('an assessment by forms', () => {
  it('leads from consent through each question to the end, and stores the answers', async () => {
    const questions = [{ points: 3 }, { responseType: 'a translation' }]
    const { candidate, stored, submission, texts } = await makeAccepted(service, { questions })
    expect((await candidate.open()).text).toContain('What you agree to')
    expect((await consent(candidate)).headers.location).toBe(candidate.path)
    expect((await candidate.open()).text).toContain('>Start</button>')
    await candidate.press('start')
    expect(await stored()).toMatchObject({ status: 'started', assessmentSession: (await submission()).id })
    expect((await candidate.open()).text).toContain('>Question 1 of 2</h2>')
    await candidate.press('open', { number: '1' })
    const page = await candidate.open()
    expectPage(page, 200)
    expect(page.text).toContain('<p class="script" lang="" dir="auto">What is 1?</p>')
    expect(page.text).not.toContain('What is 2?')
    await candidate.answer(1, 'A first\r\ndraft', 'save')
    expect((await candidate.open()).text).toContain('>\nA first\ndraft</textarea>')
    await candidate.answer(1, 'My answer', 'next')
    await candidate.press('open', { number: '2' })
    await candidate.answer(2, 'Another', 'next')
    expect((await candidate.open()).text).toContain('You have answered every question.')
    service.clock.advance(1_000)
    expect((await candidate.press('finish')).headers.location).toBe(candidate.path)
    expect((await candidate.open()).text).toContain('Your answers were submitted on ')
    expect(await stored()).toMatchObject({ status: 'completed', completedAt: service.clock.now() })
    expect(await submission()).toMatchObject({ state: 'submitted', submittedAt: service.clock.now() })
    expect(await texts()).toEqual(['My answer', 'Another'])
  })

  it('lists the unanswered questions before the end, and accepts them', async () => {
    const { candidate, stored } = await makeTaking(service, { questions: [{}, {}, {}] })
    for (const number of [1, 2, 3]) {
      await candidate.press('open', { number: String(number) })
      if (number === 2) await candidate.answer(number, 'An answer', 'next')
      else await candidate.press('next', { number: String(number) })
    }
    expect((await candidate.open()).text).toContain('Questions 1 and 3 have no answer.')
    await candidate.press('finish')
    expect((await stored()).status).toBe('completed')
  })

  it('asks once before a question is left unanswered, even without scripts', async () => {
    const { candidate, paper } = await makeTaking(service)
    await candidate.press('open', { number: '1' })
    const asked = await candidate.answer(1, ' ', 'next').expect(200)
    expect(asked.text).toContain('Question 1 has no answer yet.')
    expect(asked.text).toContain('Leave it unanswered</button>')
    expect((await paper())[0]!.closedAt).toBe(null)
    await candidate.press('next', { number: '1' }).expect(303)
    expect((await paper())[0]!.closedAt).not.toBe(null)
    await candidate.press('open', { number: '2' })
    await candidate.answer(2, 'An answer', 'next').expect(303)
    expect((await paper())[1]!.closedAt).not.toBe(null)
  })

  it('keeps and escapes text that looks like markup', async () => {
    const hostile = '</textarea><script>alert(1)</script>&amp;\n\n'
    const { candidate, texts } = await makeTaking(service)
    await candidate.press('open', { number: '1' })
    await candidate.answer(1, hostile, 'save')
    expect(await texts()).toEqual([hostile])
    const { text } = await candidate.open()
    expect(text).toContain('>\n&lt;/textarea&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;\n\n</textarea>')
  })

  it('accepts the longest answer in any script, and rejects a longer one completely', async () => {
    const { candidate, texts } = await makeTaking(service)
    await candidate.press('open', { number: '1' })
    const longest = '語'.repeat(20_000)
    expect((await candidate.answer(1, longest, 'save')).status).toBe(303)
    expect((await candidate.answer(1, `${longest}!`, 'next')).status).toBe(400)
    expect((await candidate.answer(1, 'nul\0', 'next')).status).toBe(400)
    expect((await candidate.answer(1, 'x'.repeat(300_000), 'next')).status).toBe(400)
    expect(await texts()).toEqual([longest])
    expect((await candidate.open()).text).toContain('Question 1 of 2')
  })
})

it('loads the session script from the consent to the end, and otherwise only the clock script', async () => {
  const { candidate } = await makeAccepted(service, { status: 'pending' })
  const scripts = async () => [...(await candidate.open()).text.matchAll(/<script [^>]*>/g)].map(([tag]) => tag)
  const script = expect.stringMatching(/^<script type="module" src="\/i\/assets\/candidate\.en\.[0-9a-f]{12}\.js">$/)
  const clock = expect.stringMatching(/^<script type="module" src="\/i\/assets\/candidate\.clock\.[0-9a-f]{12}\.js">$/)
  expect(await scripts()).toEqual([clock])
  await candidate.press('accept')
  expect(await scripts()).toEqual([clock])
  await consent(candidate)
  expect(await scripts()).toEqual([script])
  await candidate.press('start')
  expect(await scripts()).toEqual([script])
  await candidate.press('open', { number: '1' })
  expect(await scripts()).toEqual([script])
  await candidate.press('finish')
  expect(await scripts()).toEqual([clock])
})

describe('the start of an assessment', () => {
  it('follows an invitation that lists what is needed, recorded, and stored, and who sees it', async () => {
    const asked = { screenRecording: true, webcamMonitoring: true, requireIdCapture: true, facePhotoRequired: true }
    const { candidate, organization } = await makeAccepted(service, {
      status: 'pending',
      questions: [{ responseType: 'audio' }],
      ...asked,
    })
    const { text } = await candidate.open()
    expect(text).toContain(
      '<dt>What you need</dt><dd>a computer (phones can’t share their screen), a camera, a microphone and your identity document</dd>',
    )
    const items = [...text.matchAll(/<li>([^<]*)<\/li>/g)].map(([, item]) => item)
    expect(items).toEqual(
      expect.arrayContaining(['Your screen, from the start to the end', 'A picture from your webcam now and then']),
    )
    expect(text).toContain(`<dt>Who sees it</dt><dd><ul class="space-y-0.5"><li>${organization.name}: those who`)
    expect(items).toEqual(
      expect.arrayContaining([
        'Recorded answers: 365 days',
        'Recordings of the screen and of the webcam: 90 days',
        'Photos: until 30 days after the results are released, and never longer than recorded answers',
      ]),
    )
    const plain = await makeAccepted(service, { status: 'pending' })
    expect((await plain.candidate.open()).text).toContain('<dt>What you need</dt><dd>nothing but this page</dd>')
  })

  it('is rejected with the names of all missing checks, and begins nothing', async () => {
    const asked = { screenRecording: true, webcamMonitoring: true, requireIdCapture: true, facePhotoRequired: true }
    const { candidate, invite, stored, paper } = await makeAccepted(service, { questions: [{ responseType: 'video' }], ...asked })
    expect((await candidate.press('start')).status).toBe(422)
    await consent(candidate)
    const refused = await candidate.press('start')
    expectPage(refused, 422)
    const missing = [...refused.text.matchAll(/data-requirement="(\w+)"/g)].map(([, name]) => name)
    expect(missing).toEqual(['camera', 'microphone', 'screen', 'id_photo', 'face_photo'])
    expect(refused.text).toContain('Not started yet.')
    expect(refused.text).toContain('<noscript>')
    expect(await stored()).toEqual(invite)
    expect(await paper()).toEqual([])
  })

  it('ignores the checks that the organization has waived or the candidate has passed', async () => {
    const waived = await makeAccepted(service, { screenRecording: true, waivedChecks: ['screen'] })
    await consent(waived.candidate)
    await waived.candidate.press('start')
    expect((await waived.stored()).status).toBe('started')
    const met = await makeAccepted(service, { screenRecording: true, requireIdCapture: true, facePhotoRequired: true })
    await prepare(service, met.invite)
    await met.candidate.press('start')
    expect((await met.stored()).status).toBe('started')
  })

  it('is rejected if there is no storage for required recordings, and succeeds if none are required', async () => {
    const full = await startServiceForTest({ MEDIA_QUOTA: '1' })
    const asked = await makeAccepted(full, { requireIdCapture: true })
    await prepare(full, asked.invite)
    await full.db.submission.updateMany({ data: { mediaBytes: 1 } })
    const refused = await asked.candidate.press('start')
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('there is no room for recordings')])
    expect(await asked.stored()).toEqual(asked.invite)
    const plain = await makeAccepted(full)
    await consent(plain.candidate)
    await plain.candidate.press('start')
    expect((await plain.stored()).status).toBe('started')
  })

  it('requires new consent if more is recorded than the consent covered', async () => {
    const { candidate, assessment, stored, submission } = await makeAccepted(service)
    await consent(candidate)
    await service.make.question(assessment, { responseType: 'mixed' })
    expect((await candidate.press('start')).status).toBe(422)
    expect((await candidate.open()).text).toContain('What you agree to')
    // An outdated page sends its consent to an earlier text.
    await candidate.press('consent', { version: `${CONSENT_VERSION}`, media: '', language: 'en' })
    expect((await submission()).consentMedia).toEqual([])
    await consent(candidate)
    expect(await submission()).toMatchObject({
      consentMedia: ['camera', 'microphone'],
      consentVersion: CONSENT_VERSION,
      consentAt: service.clock.now(),
    })
    await candidate.press('start')
    expect((await stored()).status).toBe('started')
  })

  it('is not prepared by consent for an invite that is pending or closed', async () => {
    for (const status of ['pending', 'revoked', 'completed', 'expired'] as const) {
      const { candidate, invite } = await makeAccepted(service, { status })
      await candidate.press('consent', { version: `${CONSENT_VERSION}`, media: '', language: 'en' })
      expect(await service.db.submission.count({ where: { inviteId: invite.id } })).toBe(0)
    }
  })

  it('creates one submission, even if consent and Start are pressed several times at once', async () => {
    for (let round = 0; round < 5; round++) {
      const { candidate, invite, stored, paper } = await makeAccepted(service)
      await Promise.all([1, 2, 3].map(() => consent(candidate)))
      await Promise.all([candidate.press('start'), candidate.press('start'), consent(candidate), candidate.press('start')])
      const submissions = await service.db.submission.findMany({ where: { inviteId: invite.id } })
      expect(submissions.map(({ id, state }) => [id, state])).toEqual([[(await stored()).assessmentSession, 'in_progress']])
      expect((await paper()).map(({ number }) => number)).toEqual([1, 2])
    }
  })
})

describe('the time limit', () => {
  it('starts for a question when it is opened, and for the whole at the start', async () => {
    const { candidate, submission, paper } = await makeTaking(service, {
      timeLimit: 100,
      questions: [{ timeLimit: 60 }, { timeLimit: 60 }],
    })
    const begun = service.clock.now().getTime()
    expect((await submission()).deadlineAt).toEqual(new Date(begun + 100_000))
    service.clock.advance(10_000)
    await candidate.press('open', { number: '1' })
    service.clock.advance(1_000)
    await candidate.press('open', { number: '1' })
    expect((await paper())[0]!.closesAt).toEqual(new Date(begun + 70_000))
    expect((await candidate.open()).text).toContain('you had 59 seconds left')
    await candidate.press('next', { number: '1' })
    service.clock.advance(60_000)
    await candidate.press('open', { number: '2' })
    expect((await paper())[1]!.closesAt).toEqual(new Date(begun + 100_000)) // never after the end of the whole
  })

  it('ends the submission with the last question if the whole has no limit', async () => {
    const { candidate, tab, submission } = await makeTaking(service, { questions: [{}, { timeLimit: 60 }] })
    await candidate.press('open', { number: '1' })
    await candidate.press('next', { number: '1' })
    await candidate.press('open', { number: '2' })
    const { body } = await candidate.session('get', '', { tab })
    expect([body.deadlineAt, body.isDeadlineOfQuestion]).toEqual([body.question.closesAt, true])
    await candidate.press('next', { number: '2' })
    const early = (await candidate.open()).text
    expect(early).toContain('You have reached the end')
    expect(early).toContain('submitted automatically at the end of the last question’s time')
    service.clock.advance(61_000)
    const late = (await candidate.open()).text
    expect(late).toContain('You have reached the end')
    expect(late).toContain('submitted automatically within minutes')
    expect((await submission()).state).toBe('in_progress')
  })

  it('closes a question: a later answer is rejected, and the page explains it', async () => {
    const { candidate, texts } = await makeTaking(service, { questions: [{ timeLimit: 60 }, {}] })
    await candidate.press('open', { number: '1' })
    service.clock.advance(59_999)
    await candidate.answer(1, 'In time', 'save')
    service.clock.advance(1)
    const late = await candidate.answer(1, 'Too late', 'next')
    expect(late.headers.location).toBe(`${candidate.path}?late=1`)
    expect((await service.http().get(late.headers.location!)).text).toContain('The time for the question was up')
    expect(await texts()).toEqual(['In time'])
    expect((await candidate.open()).text).toContain('Open question 2')
  })

  it('opens no question once the whole time is over, and submits the existing answers', async () => {
    const { candidate, paper, stored, texts } = await makeTaking(service, { timeLimit: 60 })
    await candidate.press('open', { number: '1' })
    await candidate.answer(1, 'One', 'next')
    service.clock.advance(60_000)
    await candidate.press('open', { number: '2' })
    expect((await paper())[1]!.openedAt).toBeNull()
    expect((await candidate.open()).text).toContain('Time is up')
    await candidate.press('finish')
    expect([(await stored()).status, await texts()]).toEqual(['completed', ['One']])
  })
})

describe('a forged form', () => {
  it('opens no question before its turn, twice, or after it was left', async () => {
    const { candidate, paper } = await makeTaking(service, { questions: [{}, {}, {}] })
    const opened = async () => (await paper()).filter(({ openedAt }) => openedAt).map(({ number }) => number)
    for (const number of ['2', '3', '4', '2147483647']) await candidate.press('open', { number })
    expect(await opened()).toEqual([])
    await candidate.press('open', { number: '1' })
    const [first] = await paper()
    service.clock.advance(5_000)
    await Promise.all(['1', '2', '3', '2'].map((number) => candidate.press('open', { number })))
    expect(await opened()).toEqual([1])
    expect((await paper())[0]).toEqual(first)
    await candidate.press('next', { number: '1' })
    const [left] = await paper()
    await candidate.press('open', { number: '1' })
    await candidate.answer(1, 'Once more', 'save')
    expect((await paper())[0]).toEqual(left)
  })

  it.each(['0', '-1', '1.5', '1e3', 'x', '', '99999999999', '2147483648'])('is rejected for the number %j', async (number) => {
    const { candidate, paper } = await makeTaking(service)
    const before = await paper()
    for (const button of ['open', 'next', 'answer'] as const) expect((await candidate.press(button, { number })).status).toBe(400)
    expect(await paper()).toEqual(before)
  })

  it('stores no text for a question that is answered by a recording', async () => {
    const { candidate, texts } = await makeTaking(service, {
      questions: [{ responseType: 'audio' }],
      waivedChecks: ['microphone'],
    })
    await candidate.press('open', { number: '1' })
    await candidate.answer(1, 'Instead', 'save')
    expect(await texts()).toEqual([])
  })

  it('is rejected for an invite that was withdrawn, submitted, or belongs to another candidate', async () => {
    const [one, other] = [await makeTaking(service), await makeTaking(service)]
    await one.candidate.press('open', { number: '1' })
    const form = { proof: other.candidate.proof, number: '1', text: 'x' }
    expect((await service.http().post(`${one.candidate.path}/answer`).type('form').send(form)).status).toBe(400)
    await service.v1(one.organization.key).post(`/invites/${one.invite.id}/revoke`)
    await one.candidate.answer(1, 'x', 'save')
    await other.candidate.press('open', { number: '1' })
    await other.candidate.press('finish')
    await other.candidate.answer(1, 'x', 'save')
    expect([await one.texts(), await other.texts()]).toEqual([[], []])
  })
})

it("keeps the candidate's questions and points if the assessment is edited meanwhile", async () => {
  const { candidate, assessment, paper } = await makeTaking(service, { questions: [{ points: 3 }, { points: 4 }] })
  const before = await paper()
  await service.db.question.updateMany({
    where: { assessmentId: assessment.id },
    data: { script: 'Changed', points: 0, timeLimit: 1 },
  })
  await service.db.question.deleteMany({ where: { assessmentId: assessment.id, order: 2 } })
  await service.make.question(assessment, { order: 0 })
  expect(await paper()).toEqual(before)
  await candidate.press('open', { number: '1' })
  const { text } = await candidate.open()
  expect([text.includes('What is 1?'), text.includes('Changed'), text.includes('Question 1 of 2')]).toEqual([true, false, true])
})

describe('an invite that started in a release without submissions', () => {
  it('gets its submission when the candidate continues, with the whole time from then on', async () => {
    const assessmentSession = service.deps.newId()
    const { candidate, invite, submission, paper } = await makeAccepted(service, {
      status: 'started',
      timeLimit: 60,
      assessmentSession,
      ...NO_REQUIREMENTS,
    })
    service.clock.advance(3_600_000)
    expect((await candidate.open()).text).toContain('Your assessment has begun')
    expect(await service.db.submission.count({ where: { inviteId: invite.id } })).toBe(0)
    await Promise.all([1, 2, 3].map(() => candidate.press('open', { number: '1' })))
    const deadlineAt = new Date(service.clock.now().getTime() + 60_000)
    expect(await submission()).toMatchObject({ id: assessmentSession, state: 'in_progress', deadlineAt, consentAt: null })
    expect(await paper()).toHaveLength(2)
    await consent(candidate)
    await candidate.press('open', { number: '1' })
    await candidate.answer(1, 'Still here', 'save')
    expect((await candidate.open()).text).toContain('Still here')
  })
})

it('starts a reactivated invite again with another submission', async () => {
  const { candidate, invite, organization, stored, texts } = await makeTaking(service)
  await candidate.press('open', { number: '1' })
  await candidate.answer(1, 'The first time', 'next')
  const first = (await stored()).assessmentSession
  const client = service.v1(organization.key)
  await client.post(`/invites/${invite.id}/revoke`)
  await client.post(`/invites/${invite.id}/reactivate`)
  const again = candidateOf(service, await stored())
  await again.press('accept')
  await consent(again)
  await again.press('start')
  expect((await again.open()).text).toContain('Open question 1')
  expect((await stored()).assessmentSession).not.toBe(first)
  expect(await texts()).toEqual(['The first time'])
})
