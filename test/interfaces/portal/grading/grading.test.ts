import { describe, expect, it } from 'vitest'
import { factsOf, mistakesIn, rowsOf } from '../../../support/forms.ts'
import { makeSubmitted, submitAnother } from '../../../support/grading.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import type { Taken } from '../../../support/taking.ts'

const service = await startServiceForFile()

/** Creates a submission, and signs in its assigned grader. */
async function setUp(of: Taken & { secondGrader?: boolean } = {}) {
  const made = await makeSubmitted(service, { recipientName: 'Sam', ...of })
  const { organization, submissionId } = made
  const as = async (...roles: string[]) => {
    const person = await signInAs(service, organization.id, roles)
    const sheet = `${person.home}grading/${submissionId}`
    return {
      ...person,
      sheet,
      save: (number: number, points: string, comment = '', seen = service.clock.now()) =>
        person.post(`${sheet}/questions/${number}`, { points, comment, seen: seen.toISOString() }),
      read: async () => (await person.get(sheet)).text,
    }
  }
  const grader = await as('grader')
  await made.assign(grader.member.id)
  return { ...made, as, person: grader }
}

/** Points in the forms of the grading view, by question. */
const typedIn = (text: string): [string, string][] =>
  [...text.matchAll(/data-grade="(\d+)".*?name="points"[^>]*?value="([^"]*)"/gs)].map(([, number, value]) => [number!, value!])

describe('the grading view', () => {
  it('has no preset grades, saves each question, and shows mistakes at their fields', async () => {
    const { person } = await setUp()
    const { save, read, sheet } = person
    expect(typedIn(await read())).toEqual([
      ['1', ''],
      ['2', ''],
    ])
    const saved = await save(1, '4,5', '</textarea><script>')
    expect([saved.status, saved.headers.location]).toEqual([303, `${sheet}?saved=1#question-1`])
    const refused = await save(2, '3.7', 'Kept')
    expect([refused.status, mistakesIn(refused)]).toEqual([422, ['The points must be between 0 and 3, in steps of 0.5.']])
    expect(typedIn(refused.text)).toEqual([
      ['1', '4.5'],
      ['2', '3.7'],
    ])
    expect(refused.text).toContain('Kept</textarea>')
    expect(refused.text).not.toContain('<script>')
    expect((await save(2, 'three')).status).toBe(422)
    expect(factsOf(await read())).toMatchObject({ Graded: '1 of 2 questions', Points: '4.5 of 8 so far' })
    expect((await person.get(`${sheet}?saved=1`)).text).toContain('Question 1 is saved.')
  })

  it('fills in the points that count, folds settled questions, and stores no grade for unchanged points', async () => {
    const { person, as, grades } = await setUp()
    const admin = await as('admin')
    await person.save(1, '4', 'Of the grader')
    const text = await admin.read()
    expect(typedIn(text)).toEqual([
      ['1', '4'],
      ['2', ''],
    ])
    expect(text).toMatch(/4 points<\/strong><\/p><p class="preformatted[^"]*">Of the grader/)
    const isOpen = (number: number) => new RegExp(`<details[^>]*data-question="${number}" open>`).test(text)
    expect([isOpen(1), isOpen(2)]).toEqual([false, true])
    expect(text).toContain('href="#question-2"><svg')
    const save = (points: string) =>
      admin.post(`${admin.sheet}/questions/1`, {
        points,
        comment: 'Of the admin',
        stood: '4',
        seen: service.clock.now().toISOString(),
      })
    await save('4')
    expect((await grades()).at(-1)).toMatchObject({ graderId: admin.member.id, points: null, comment: 'Of the admin' })
    expect(factsOf(await admin.read()).Points).toBe('4 of 8 so far')
    await save('5')
    await save('4') // the points are now the admin's own
    expect(Number((await grades()).at(-1)!.points)).toBe(4)
  })

  it('shows both grades of concurrent graders, and informs the second', async () => {
    const { person, as } = await setUp()
    const admin = await as('admin')
    const seen = service.clock.now()
    service.clock.advance(1_000)
    await person.save(1, '1', 'Mine', seen)
    service.clock.advance(1_000)
    const informed = await admin.save(1, '5', 'Theirs', seen)
    expect(informed.headers.location).toContain('others=yes')
    const text = (await admin.get(informed.headers.location!)).text
    expect(text).toContain('Somebody else has graded it since you opened this page')
    expect(text).toContain('has this submission open, too')
    const grades = rowsOf(text).filter((row) => /Mine|Theirs/.test(row))
    expect(grades.map((row) => row.split(' | ').slice(2))).toEqual([
      ['1', 'Mine'],
      ['5', 'Theirs'],
    ])
    expect(factsOf(text).Points).toBe('5 of 8 so far')
  })

  it("hides each of two graders' grades from the other until both have graded everything", async () => {
    const { person, as, submissionId } = await setUp({ secondGrader: true })
    const second = await as('grader')
    expect((await second.get(second.sheet)).status).toBe(404)
    const queue = await second.get(`${second.home}grading?queue=nobody`)
    expect(queue.text).toContain(`grading/${submissionId}/take-over`)
    await second.post(`${second.sheet}/take-over`)
    await person.save(1, '5', 'Of the first')
    await person.save(2, '3')
    await second.save(1, '2', 'Of the second')
    expect(await second.read()).not.toContain('Of the first')
    expect(await person.read()).not.toContain('Of the second')
    await second.save(2, '3')
    for (const text of [await person.read(), await second.read()]) {
      expect(text).toContain('Of the first')
      expect(text).toContain('Of the second')
      expect(text).toContain('The two grades differ by more than 20 % of the points: an admin has to decide')
    }
    const admin = await as('admin')
    await admin.save(1, '4')
    expect(factsOf(await person.read()).Points).toBe('7 of 8')
  })

  it('shows each of two graders their own progress, and what the result still needs', async () => {
    const { person, as, assign, submissionId } = await setUp({ secondGrader: true })
    const [second, admin] = [await as('grader'), await as('admin')]
    /** Progress and next step in the member's queue. */
    const queue = async (of: typeof person, whose = '') =>
      rowsOf((await of.get(`${of.home}grading?queue=${whose}`)).text)[0]
        ?.split(' | ')
        .slice(4)
        .join(', ')
    await person.save(1, '5')
    expect(await queue(person)).toBe('1 of 2 questions, Grade')
    expect(await person.read()).toContain('Not graded by you yet: <a href="#question-2">question 2</a>')
    await person.save(2, '3')
    expect(factsOf(await person.read())).toMatchObject({ Graded: '2 of 2 questions', Points: '8 of 8' })
    expect(await person.read()).toContain('once the other grader has, too: nobody has taken over that part yet.')
    expect([await queue(person), await queue(person, 'others')]).toEqual([undefined, 'waiting for a second grader, View'])
    await second.post(`${second.sheet}/take-over`)
    expect(factsOf(await second.read())).toMatchObject({ Graded: '0 of 2 questions', Points: '0 of 8 so far' })
    expect([await queue(person, 'others'), await queue(second)]).toEqual([
      'waiting for the other grader, View',
      '0 of 2 questions, Grade',
    ])
    await second.save(1, '2')
    const last = await second.save(2, '2.5')
    expect(last.headers.location).not.toContain('others') // the submission is not graded again by somebody else
    expect([await queue(person), await queue(second)]).toEqual([undefined, undefined])
    expect([await queue(person, 'others'), await queue(second, 'others'), await queue(admin)]).toEqual([
      'an admin has to decide, View',
      'an admin has to decide, View',
      'an admin has to decide, Decide',
    ])
    expect(await admin.read()).toContain('For you to decide')
    expect(await admin.read()).not.toContain('/take-over') // a third grader cannot take one of the two roles
    expect((await admin.post(`${admin.sheet}/take-over`)).status).toBe(404)
    await admin.save(1, '4')
    expect([await queue(person), await queue(second, 'others'), await queue(admin)]).toEqual([
      'ready to release, Release',
      'ready to release, View',
      'ready to release, Release',
    ])
    const text = await person.read()
    expect(text).toContain('Final grade: 4 of 5 points, decided by an admin.')
    expect(text).toContain('Final grade: 3 of 3 points, the mean of both grades, rounded to half a point.')
    expect(await second.read()).toContain('The first grader or an admin releases the result.')
    await assign(null)
    const twice = await admin.post(`${admin.sheet}/hand-on/first`, { assignedGraderId: second.member.id })
    expect([twice.status, mistakesIn(twice)]).toEqual([
      422,
      ['This member is already the other grader: the two graders must be different members.'],
    ])
    const before = await service.db.submission.findUniqueOrThrow({ where: { id: submissionId } })
    for (const place of ['first', 'second']) expect((await admin.post(`${admin.sheet}/hand-on/${place}`)).status).toBe(400)
    expect(await service.db.submission.findUniqueOrThrow({ where: { id: submissionId } })).toEqual(before)
    const unknown = service.deps.newId()
    const nobody = await admin.post(`${admin.sheet}/hand-on/second`, { secondGraderId: unknown })
    expect([nobody.status, mistakesIn(nobody)]).toEqual([422, [`There is no such second grader “${unknown}”.`]])
  })
})

describe('the queue', () => {
  it('filters by own and unassigned submissions, by assessment, and for admins also by all', async () => {
    const { person, as, assign, organization, submissionId } = await setUp()
    const [admin, other] = [await as('admin'), await as('grader')]
    const shows = async (of: typeof person, query: string) =>
      (await of.get(`${of.home}grading?${query}`)).text.includes(`href="${of.home}grading/${submissionId}?`)
    expect([await shows(person, ''), await shows(person, 'queue=nobody'), await shows(other, 'queue=all')]).toEqual([
      true,
      false,
      false,
    ])
    const empty = await service.make.assessment(organization.id)
    expect([await shows(admin, ''), await shows(admin, `assessment=${empty.id}`)]).toEqual([true, false])
    await assign(null)
    expect(await shows(other, 'queue=nobody')).toBe(true)
    await other.post(`${other.sheet}/take-over`)
    expect(await shows(other, 'queue=mine')).toBe(true)
    const handed = await other.post(`${other.sheet}/hand-on/first`, { assignedGraderId: person.member.id })
    expect((await other.get(handed.headers.location!)).text).toContain('The grader is assigned.')
    expect([await shows(person, 'queue=mine'), (await other.get(other.sheet)).status]).toEqual([true, 404])
  })
})

describe('a question without an answer', () => {
  it('scores 0 automatically, marked as such, and can be graded', async () => {
    const { as, assessment } = await setUp()
    const admin = await as('admin')
    const { submissionId } = await submitAnother(service, assessment, { answers: 1 })
    const sheet = `${admin.home}grading/${submissionId}`
    const grade = (number: number, points: string) =>
      admin.post(`${sheet}/questions/${number}`, { points, comment: '', seen: service.clock.now().toISOString() })
    expect(factsOf((await admin.get(sheet)).text)).toMatchObject({ Graded: '1 of 2 questions', Points: '0 of 8 so far' })
    await grade(1, '4')
    const { text } = await admin.get(sheet)
    expect(factsOf(text)).toMatchObject({ Graded: '2 of 2 questions', Points: '4 of 8' })
    expect(text).toContain('No answer, 0 of 3 points')
    expect(text).toContain('Final grade: 0 of 3 points, because there is no answer.')
    await grade(2, '1')
    expect(factsOf((await admin.get(sheet)).text)).toMatchObject({ Points: '5 of 8' })
  })

  it('is not graded while the candidate is offered another attempt, and gets 0 again once that is revoked', async () => {
    const { as, assessment, organization } = await setUp()
    const admin = await as('admin')
    const { submissionId, invite } = await submitAnother(service, assessment, { answers: 1 })
    const stands = async () => {
      const { text } = await admin.get(`${admin.home}grading/${submissionId}`)
      return [factsOf(text).Graded, text.includes('No answer, 0 of 3 points')]
    }
    expect(await stands()).toEqual(['1 of 2 questions', true])
    const offered = await service.v1(organization.key).post(`/invites/${invite.id}/retake`)
    expect(offered.status).toBe(201)
    expect(await stands()).toEqual(['0 of 2 questions', false])
    expect((await service.v1(organization.key).post(`/invites/${offered.body.invite.id}/revoke`)).status).toBe(200)
    expect(await stands()).toEqual(['1 of 2 questions', true])
  })

  it('gets none while a recording may still arrive, nor if one could not be joined', async () => {
    const { as, assessment, organization } = await setUp()
    const admin = await as('admin')
    const { submissionId } = await submitAnother(service, assessment, { answers: 1 })
    const of = { organizationId: organization.id, submissionId, questionNumber: 2, kind: 'audio' } as const
    const take = await service.db.answerAttempt.create({
      data: { ...of, id: service.deps.newId(), state: 'recording', createdAt: service.clock.now() },
    })
    const graded = async () => factsOf((await admin.get(`${admin.home}grading/${submissionId}`)).text).Graded
    const become = (state: 'complete' | 'abandoned') =>
      service.db.answerAttempt.updateMany({ where: { organizationId: organization.id, id: take.id }, data: { state } })
    expect(await graded()).toBe('0 of 2 questions')
    await become('complete')
    expect(await graded()).toBe('0 of 2 questions')
    await become('abandoned')
    expect(await graded()).toBe('1 of 2 questions')
  })
})

describe('the filter of the queue', () => {
  it('is kept while moving between submissions, saving, and releasing', async () => {
    const { as, assessment, organization } = await setUp()
    const admin = await as('admin')
    const other = await service.make.assessment(organization.id)
    await submitAnother(service, other, { answers: 0 })
    service.clock.advance(1_000)
    const { submissionId: next } = await submitAnother(service, assessment, { answers: 2 })
    const query = `?queue=all&amp;assessment=${assessment.id}`
    const sent = query.replaceAll('&amp;', '&')
    const list = await admin.get(`${admin.home}grading?queue=all&assessment=${assessment.id}`)
    expect(list.text).toContain(`href="${admin.sheet}${query}"`)
    const { text } = await admin.get(`${admin.sheet}${sent}`)
    expect(text).toContain('1 of 2 to be graded')
    expect(text).toContain(`href="${admin.home}grading/${next}${query}" aria-label="Next submission"`)
    expect(text).toContain(`action="${admin.sheet}/questions/1${query}"`)
    const seen = service.clock.now().toISOString()
    for (const number of [1, 2]) await admin.post(`${admin.sheet}/questions/${number}${sent}`, { points: '3', comment: '', seen })
    const graded = (await admin.get(`${admin.sheet}${sent}`)).text
    expect(graded).toContain(`href="${admin.sheet}/release${query}"`)
    const released = await admin.post(`${admin.sheet}/release${sent}`, { comment: '', message: '' })
    expect(released.headers.location).toContain(`queue=all&assessment=${assessment.id}&done=released`)
    expect((await admin.get(released.headers.location!)).text).toContain(
      `href="${admin.home}grading/${next}${query}" data-go="next"`,
    )
  })
})

describe('a released result', () => {
  it('is released again unchanged, unless chosen otherwise', async () => {
    const { person, candidate } = await setUp()
    await person.save(1, '4')
    await person.save(2, '3')
    await person.post(`${person.sheet}/release`, { comment: 'Ours', message: 'Well done', toCandidate: 'yes' })
    expect(await person.read()).toContain('your organization and the candidate see it')
    await person.post(`${person.sheet}/reopen`)
    const { text } = await person.get(`${person.sheet}/release`)
    expect(text).toContain('>\nOurs</textarea>')
    expect(text).toContain('>\nWell done</textarea>')
    expect(text).toMatch(/name="toCandidate" value="yes" checked/)
    await person.post(`${person.sheet}/release`, { comment: 'Ours', message: 'Well done' })
    expect(await person.read()).toContain('your organization sees it, the candidate does not')
    expect((await candidate.open()).text).not.toContain('Your result')
  })

  it("is visible to the assessment's clients and, if chosen, to the candidate, even while it is reopened", async () => {
    const { person, as, assessment, candidate, organization } = await setUp()
    const { sheet } = person
    const client = await as('client')
    const stranger = await as('client')
    const of = { organizationId: organization.id, assessmentId: assessment.id }
    await service.db.assessmentClient.create({ data: { ...of, memberId: client.member.id, position: 0 } })
    const results = async (who: typeof client) => rowsOf((await who.get(`${who.home}results`)).text)
    await person.save(1, '4.5', 'For us alone')
    const early = await person.post(`${sheet}/release`, { comment: '', message: '' })
    expect([early.status, mistakesIn(early)]).toEqual([422, ['Question 2 is not graded yet.']])
    await person.save(2, '0')
    expect(await results(client)).toEqual([])
    const fields = { comment: 'A good one', message: 'Well <done>', toCandidate: 'yes' }
    expect((await person.post(`${sheet}/release`, fields)).headers.location).toBe(`${sheet}?done=released`)
    expect((await results(client))[0]).toContain(`Sam | ${assessment.name} | 4.5 of 8 | 56 %`)
    expect(await results(stranger)).toEqual([])
    const own = `${client.home}results/${person.sheet.split('/').at(-1)}`
    const { text } = await client.get(own)
    expect(rowsOf(text)).toEqual(['1 | What is 1? | 4.5 | 5 | ', '2 | What is 2? | 0 | 3 | '])
    expect([text.includes('A good one'), text.includes('Answer 1'), text.includes('For us alone')]).toEqual([true, false, false])
    expect((await stranger.get(own)).status).toBe(404)
    const page = (await candidate.open()).text
    expect(page).toMatch(/>56 %<\/p>\s*<p><strong[^>]*>4\.5 of 8 points<\/strong><\/p>/)
    expect(page).toContain('Well &lt;done&gt;')
    expect(page).not.toContain('For us alone')
    expect(page).not.toContain('A good one')
    expect((await person.save(1, '5')).status).toBe(422)
    await person.post(`${sheet}/reopen`)
    await person.save(1, '5')
    expect((await candidate.open()).text).toContain('4.5 of 8 points')
    await person.post(`${sheet}/release`, { comment: '', message: '' })
    expect((await candidate.open()).text).not.toContain('of 8 points')
    expect((await client.get(own)).text).toContain('version 2')
  })
})

describe('the release of several results', () => {
  it('shows the points first, and releases selected results that have not changed since', async () => {
    const { as, submissionId, releases } = await setUp()
    const admin = await as('admin')
    const path = `${admin.home}grading/release-many`
    await admin.save(1, '4')
    expect((await admin.get(path)).text).toContain('No result is ready to be released')
    await admin.save(2, '3')
    const shown = await admin.get(path)
    expect(rowsOf(shown.text)).toEqual([expect.stringMatching(/^Sam \| .+ \| 7 of 8 \| 88 % \|/)])
    await admin.save(2, '1', 'Checked again', new Date(service.clock.now().getTime() + 1_000))
    const stale = await admin.post(path, { results: `${submissionId}:7`, toCandidate: 'yes' })
    expect(stale.headers.location).toBe(`${path}?released=0&kept=1`)
    expect(await releases()).toEqual([])
    const released = await admin.post(path, { results: `${submissionId}:5`, message: 'Thank you', toCandidate: 'yes' })
    expect((await admin.get(released.headers.location!)).text).toContain('1 result is released.')
    expect(await releases()).toMatchObject([{ message: 'Thank you', toCandidate: true, releasedById: admin.member.id }])
    expect(mistakesIn(await admin.post(path))).toEqual(['Tick at least one result.'])
  })
})
