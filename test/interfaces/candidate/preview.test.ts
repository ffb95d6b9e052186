import { expect, it } from 'vitest'
import { signInAs, visit } from '../../support/portal.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

/** Creates an assessment with two questions, and signs in an admin who previews it. */
async function setUp() {
  const organization = await service.make.organization()
  const admin = await signInAs(service, organization.id, ['admin'])
  const assessment = await service.make.assessment(organization.id, {
    name: 'Previewed',
    timeLimit: 600,
    screenRecording: true,
    requireIdCapture: true,
  })
  for (const [i, script] of ['What comes first?', 'What comes then?'].entries())
    await service.make.question(assessment, { script, order: i + 1, timeLimit: 60 })
  const path = `/i/preview/${organization.id}/${assessment.id}`
  return { ...admin, organization, assessment, path }
}

/** Counts everything that taking an assessment could store. */
const leftBehind = async (organizationId: string) => {
  const { invite, submission, answerAttempt, mediaFile, event, inviteEmail, auditEntry } = service.db
  const where = { organizationId }
  return Promise.all([
    invite.count({ where }),
    submission.count({ where }),
    answerAttempt.count({ where }),
    mediaFile.count({ where }),
    event.count({ where }),
    inviteEmail.count({ where }),
    auditEntry.count({ where }),
  ])
}

it('shows the candidate’s own pages from start to end, and stores nothing', async () => {
  const { get, post, path, organization, assessment, home } = await setUp()
  expect((await get(`${home}assessments/${assessment.id}/preview`)).headers.location).toBe(`${path}/invited`)
  const before = await leftBehind(organization.id)
  let at = `${path}/invited`
  const go = async (form: string, fields = {}) => {
    at = (await post(`${at}/${form}`, fields)).headers.location!
    return (await get(at)).text
  }
  const first = await get(at)
  expect(first.text).toContain('Previewed')
  expect(first.text).toContain('data-preview')
  expect(first.headers['content-security-policy']).toContain("frame-ancestors 'self'")
  expect(await go('accept')).toContain('I agree')
  // The device checks and the photos are omitted.
  expect(await go('consent')).toContain('data-checks="" data-passed="" data-photos=""')
  expect(await go('start')).toContain('Open question 1')
  const open = await go('open', { number: '1' })
  expect(open).toContain('What comes first?')
  expect(open).toContain('data-capture=""')
  expect(await go('answer', { number: '1', text: 'Mine' })).toContain('Open question 2')
  await go('open')
  // The time limit ends a preview as it ends a candidate's assessment.
  service.clock.advance(61_000)
  expect((await get(at)).text).toContain('data-end')
  expect(await go('finish')).toContain('You have completed this assessment')
  expect(await leftBehind(organization.id)).toEqual(before)
})

it('counts down the preparation time of a question, which “Answer now” ends', async () => {
  const { get, post, path, assessment } = await setUp()
  await service.db.question.updateMany({ where: { assessmentId: assessment.id, order: 1 }, data: { preparationTime: 30 } })
  const now = service.clock.now().getTime()
  const card = `${path}/${now}-1`
  expect((await get(card)).text).toContain('You have 30 seconds to prepare, then 1 minute to answer.')
  const open = (await post(`${card}/open`)).headers.location!
  expect((await get(open)).text).toContain('left to prepare: 30 seconds')
  service.clock.advance(10_000)
  const begun = (await post(`${open}/begin`)).headers.location!
  service.clock.advance(1_000)
  const { text } = await get(begun)
  expect([text.includes('Prepare your answer'), text.includes('you had 59 seconds left')]).toEqual([false, true])
  service.clock.advance(19_000)
  expect((await get(open)).text).not.toContain('Prepare your answer')
  expect((await get(`${path}/question-1`)).text).not.toContain('Prepare your answer')
})

it('shows a question as it is typed, even a new one', async () => {
  const { post, get, path, assessment } = await setUp()
  const typed = { script: 'As <b>typed</b>', responseType: 'audio', inputType: 'text', points: '3', timeLimit: '1:30' }
  for (const number of [2, 3]) {
    const { status, text } = await post(`${path}/question-${number}/question`, typed)
    expect([status, text.includes('As &lt;b&gt;typed&lt;/b&gt;'), text.includes('data-kinds="audio"')]).toEqual([200, true, true])
    expect(text).toContain(`Question ${number} of ${Math.max(2, number)}`)
  }
  expect((await post(`${path}/question-1/question`, { script: 'x', points: 'x', timeLimit: 'soon' })).status).toBe(200)
  expect((await get(`${path}/question-1`)).text).toContain('What comes first?')
  expect(await service.db.question.count({ where: { assessmentId: assessment.id, script: { contains: 'typed' } } })).toBe(0)
})

it('shows the score of a trial answer for the stored and the typed question, and stores nothing', async () => {
  const { post, get, path, assessment } = await setUp()
  const typed = {
    responseType: 'number',
    inputType: 'text',
    script: 'Pi',
    points: '4',
    row: 'abcdefgh',
    'value-abcdefgh': '3.14',
  }
  const trial = ({ text }: { text: string }) => /data-trial>([^<]*)</.exec(text)?.[1]
  const at = `${path}/question-1`
  expect(trial(await post(`${at}/question`, typed))).toBe('Try an answer: what it gets is said here.')
  const right = await post(`${at}/try`, { ...typed, answer: '3,14' })
  expect([trial(right), right.text.includes('Read as 3.14')]).toEqual(['This answer gets 4 of 4 points.', true])
  expect(trial(await post(`${at}/try`, { ...typed, answer: 'three' }))).toBe('A grader decides on this answer.')
  expect(trial(await post(`${at}/try`, { ...typed, 'value-abcdefgh': '', answer: '3' }))).toMatch('once nothing is missing')
  const first = await service.db.question.findFirstOrThrow({
    where: { assessmentId: assessment.id },
    orderBy: { order: 'asc' },
  })
  const home = `/portal/${assessment.organizationId}/assessments/${assessment.id}/questions/${first.id}`
  const save = (answer: string) =>
    post(
      `${at}/answer`,
      Object.fromEntries([
        ['answer', answer],
        ['then', 'save'],
      ]),
    )
  expect(trial(await save('x'))).toBe('')
  const { text } = await get(home)
  const seen = /name="seen" value="([^"]*)"/.exec(text)![1]!
  expect((await post(home, { ...typed, seen })).status).toBe(303)
  const saved = await save('3')
  expect([trial(saved), saved.text.includes('value="3"')]).toEqual(['This answer gets 0 of 4 points.', true])
  expect(await service.db.answerAttempt.count({ where: { organizationId: assessment.organizationId } })).toBe(0)
})

it('answers 404 to outsiders, to members who may not read the assessment, and to other sites', async () => {
  const { path, organization, cookie, assessment } = await setUp()
  const stranger = await signInAs(service, (await service.make.organization()).id, ['admin'])
  const grader = await signInAs(service, organization.id, ['grader'])
  const client = await signInAs(service, organization.id, ['client'])
  for (const person of [visit(service), stranger, grader, client])
    for (const answer of [
      await person.get(`${path}/question-1`),
      await person.post(`${path}/question-1/question`, { script: 'x' }),
    ]) {
      expect([answer.status, answer.text.includes('What comes')]).toEqual([404, false])
      expect(answer.text).toContain('There is no such preview')
    }
  const foreign = await service
    .http()
    .post(`${path}/question-1/question`)
    .set({ cookie: cookie()!, 'sec-fetch-site': 'cross-site' })
    .type('form')
    .send({ script: 'Lured' })
  expect([foreign.status, foreign.text.includes('Lured')]).toEqual([404, false])
  const admin = visit(service, cookie())
  for (const step of ['nowhere', 'question-0', '1-1', 'question-1/nothing'])
    expect((await admin.get(`${path}/${step}`)).status).toBe(404)
  expect((await admin.get(`/i/preview/${organization.id}/x/invited`)).status).toBe(404)
  await service.db.member.updateMany({ where: { organizationId: organization.id }, data: { status: 'inactive' } })
  expect((await admin.get(`/i/preview/${organization.id}/${assessment.id}/invited`)).status).toBe(404)
})

it('shows the form of an open link, which sends and counts nothing', async () => {
  const { get, post, path, organization, member } = await setUp()
  const before = await leftBehind(organization.id)
  expect((await get(`${path}/open`)).text).toContain('Send me the link')
  const { headers } = await post(`${path}/open/register`, { name: 'Amara', email: 'amara@example.com', language: 'en' })
  expect(headers.location).toBe(`${path}/registered`)
  expect((await get(`${path}/registered`)).text).toContain(member.email)
  expect(await leftBehind(organization.id)).toEqual(before)
  expect(await service.db.registration.count({ where: { organizationId: organization.id } })).toBe(0)
})

it('draws the questions anew at each start, with their sections', async () => {
  const { get, post, path, organization, assessment } = await setUp()
  const of = { organizationId: organization.id, assessmentId: assessment.id }
  const [first, free] = [service.deps.newId(), service.deps.newId()]
  await service.db.assessmentSection.createMany({
    data: [
      { ...of, id: first, order: 1, name: 'Warm-up' },
      { ...of, id: free, order: 2, name: 'Numbers', navigation: 'free' },
    ],
  })
  await service.db.question.updateMany({ where: of, data: { sectionId: first } })
  const pool = service.deps.newId()
  await service.db.assessmentPool.create({ data: { ...of, id: pool, name: 'Pool', draw: 3, points: 0 } })
  for (let i = 0; i < 12; i++)
    await service.make.question(assessment, { script: `From the pool: ${i}`, order: i + 3, sectionId: free, poolId: pool })
  let at = ''
  const go = async (form: string, fields = {}) => {
    at = (await post(`${at}/${form}`, fields)).headers.location!
    return (await get(at)).text
  }
  const leaveTo = (to: string) => go('answer', Object.fromEntries([['then', to]]))
  const drawn = new Set<string>()
  for (let i = 0; i < 8; i++) {
    at = `${path}/agreed`
    expect(await go('start')).toContain('Open section 1')
    at = `${at.slice(0, at.lastIndexOf('-'))}-3`
    expect(await go('open-section')).toContain('>Question 3 of 5</h2>')
    const page = await leaveTo('next')
    drawn.add(/From the pool: \d+/.exec(page)![0])
    // The same address shows the same questions.
    expect((await get(at)).text).toContain(/From the pool: \d+/.exec(page)![0])
  }
  expect(drawn.size).toBeGreaterThan(1)
  expect(await leaveTo('previous')).toContain('>Question 3 of 5</h2>')
  expect(await leaveTo('overview')).toContain('3 questions have no answer.')
  expect(await go('go', { number: '5' })).toContain('>Question 5 of 5</h2>')
  expect(await leaveTo('next')).toContain('Finish section 2')
  expect(await go('finish-section')).toContain('data-end')
})
