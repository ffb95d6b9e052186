import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { discriminationOf, reliabilityOf } from '../../../../src/domain/submissions/grading/item-analysis.ts'
import { readFunnel, readStatistics } from '../../../../src/domain/submissions/grading/statistics.ts'
import { examplesOf, makeDefined } from '../../../support/kinds.ts'
import { asOperator, signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()
const [CHOICE] = examplesOf('single_choice') as [ReturnType<typeof examplesOf>[number]]

/** Creates released results of an assessment with a choice (10 points) and a text (10 points). Every third result has the right choice. */
async function setUp(count: number) {
  const made = await makeDefined(service, [CHOICE], { texts: 1 })
  await made.take([CHOICE.right])
  const { id: submissionId } = await made.submission()
  const { organization, assessment, invite } = made
  const admin = await signInAs(service, organization.id, ['admin'])
  const client = new pg.Client(service.databaseUrl)
  await client.connect()
  onTestFinished(() => client.end())
  const pointsOf = (i: number) => [i % 3 === 0 ? 10 : 0, i % 11] as const
  await client.query(`UPDATE submissions SET state = 'released', released_at = now() WHERE id = $1`, [submissionId])
  for (let i = 0; i < count; i++) {
    const [choice, text] = pointsOf(i)
    const [copyInvite, copySubmission] = i === 0 ? [invite.id, submissionId] : [service.deps.newId(), service.deps.newId()]
    if (i > 0) {
      await client.query(
        `INSERT INTO invites SELECT (jsonb_populate_record(one, jsonb_build_object('id', $2::text, 'recipient_email', $3::text))).* FROM invites one WHERE id = $1`,
        [invite.id, copyInvite, `candidate${i}@example.com`],
      )
      await client.query(
        `INSERT INTO submissions SELECT (jsonb_populate_record(one, jsonb_build_object('id', $2::text, 'invite_id', $3::text))).* FROM submissions one WHERE id = $1`,
        [submissionId, copySubmission, copyInvite],
      )
      await client.query(
        `INSERT INTO submission_questions SELECT (jsonb_populate_record(one, jsonb_build_object('submission_id', $2::text))).* FROM submission_questions one WHERE submission_id = $1`,
        [submissionId, copySubmission],
      )
      await client.query(
        `INSERT INTO answer_attempts SELECT (jsonb_populate_record(one, jsonb_build_object('id', gen_random_uuid(), 'submission_id', $2::text))).* FROM answer_attempts one WHERE submission_id = $1`,
        [submissionId, copySubmission],
      )
    }
    const grades = [
      { number: 1, points: choice, ofPoints: 10, comment: '', graderId: null },
      { number: 2, points: text, ofPoints: 10, comment: '', graderId: admin.member.id },
    ]
    await client.query(
      `INSERT INTO releases (id, organization_id, submission_id, version, released_by_id, points, of_points, comment, message, to_candidate, grades, created_at)
       VALUES ($1, $2, $3, 1, $4, $5, 20, '', '', false, $6, now())`,
      [service.deps.newId(), organization.id, copySubmission, admin.member.id, choice + text, JSON.stringify(grades)],
    )
  }
  const results = Array.from({ length: count }, (_, i) => {
    const [choice, text] = pointsOf(i)
    return {
      id: `${i}`,
      shares: new Map([
        ['choice', choice / 10],
        ['text', text / 10],
      ]),
    }
  })
  const path = `${admin.home}assessments/${assessment.id}/statistics`
  return { ...made, admin, path, results, ctx: asOperator(service, organization) }
}

/** Moves all questions of a submission to an open section with free navigation. */
async function moveToFreeSection(organizationId: string, submissionId: string, currentNumber: number) {
  const section = { organizationId, submissionId, number: 1, name: 'Part 1', intro: '', timeLimit: 0, navigation: 'free' }
  await service.db.submissionSection.create({ data: { ...section, currentNumber } })
  const data = { sectionNumber: 1, openedAt: new Date() }
  await service.db.submissionQuestion.updateMany({ where: { organizationId, submissionId }, data })
}

it('equals a plain calculation from the released points', async () => {
  const { ctx, assessment, results } = await setUp(40)
  const found = await readStatistics(ctx, assessment.id)
  expect(found).toMatchObject({ results: 40, isSample: false })
  expect(found.reliability).toBeCloseTo(reliabilityOf(results)!, 9)
  const [choice, text] = found.questions
  expect(choice).toMatchObject({ place: 1, results: 40, share: expect.closeTo(14 / 40, 9) })
  expect(choice!.discrimination).toBeCloseTo(discriminationOf(results, 'choice')!, 9)
  expect(text!.discrimination).toBeCloseTo(discriminationOf(results, 'text')!, 9)
  // All candidates have the same answer, because it was copied.
  expect(choice!.answers).toEqual([{ text: expect.any(String), best: 1, lowest: 1 }])
  expect(text!.answers).toEqual([])
  expect(choice!.seconds).not.toBeNull()
})

it('counts the newest release of a result', async () => {
  const { ctx, assessment, organization, submission, admin } = await setUp(30)
  const { id } = await submission()
  const before = (await readStatistics(ctx, assessment.id)).questions[1]!.share!
  const grades = [
    { number: 1, points: 10, ofPoints: 10, comment: '', graderId: null },
    { number: 2, points: 9, ofPoints: 10, comment: '', graderId: admin.member.id },
  ]
  await service.db.release.create({
    data: {
      ...{ id: service.deps.newId(), organizationId: organization.id, submissionId: id, version: 2 },
      ...{ releasedById: admin.member.id, points: 19, ofPoints: 20, comment: '', message: '', toCandidate: false },
      ...{ grades, createdAt: new Date() },
    },
  })
  expect((await readStatistics(ctx, assessment.id)).questions[1]!.share).toBeCloseTo(before + 0.9 / 30, 9)
})

it('shows how far candidates came, and the figures of questions from 30 results on', async () => {
  const few = await setUp(2)
  const page = (await few.admin.get(few.path)).text
  expect(page).toContain('Figures of questions need 30 released results; there are 2.')
  expect(page).toMatch(/Invited<\/[^>]+>[\s\S]{0,80}>2</)
  expect(page).not.toContain('Cronbach’s alpha</dt>')
  const enough = await setUp(30)
  const full = (await enough.admin.get(`${enough.path}?days=30`)).text
  expect(full).toContain('Reliability (Cronbach’s alpha)')
  expect(full).toContain('Best third')
})

it('names the questions at which candidates stopped', async () => {
  const { admin, assessment, ...made } = await makeDefined(service, [CHOICE], { texts: 2 }).then(async (one) => ({
    ...one,
    admin: await signInAs(service, one.organization.id, ['admin']),
  }))
  await made.start()
  await made.answer(1, CHOICE.right)
  await made.candidate.press('open', { number: '2' })
  const { text } = await admin.get(`${admin.home}assessments/${assessment.id}/statistics`)
  expect(text).toContain('Of those who started and have not submitted, 1 reached question 2 last.')
  const stops = async () => (await readFunnel(made.ctx, assessment.id, 30)).stops
  await service.db.question.update({ where: { id: made.asked[1]!.id }, data: { order: 9 } })
  expect(await stops()).toEqual([{ number: 3, candidates: 1 }])
  await moveToFreeSection(made.organization.id, (await made.submission()).id, 1)
  expect(await stops()).toEqual([{ number: 1, candidates: 1 }])
})

it('divides answers by the results that have the question, and omits file names, and times under free navigation', async () => {
  const { ctx, assessment, organization } = await setUp(60)
  const organizationId = organization.id
  for (const [i, { id, submissionId, grades }] of (await service.db.release.findMany({ where: { organizationId } })).entries()) {
    await moveToFreeSection(organizationId, submissionId, 1)
    if (i % 2 === 0) continue
    await service.db.release.updateMany({ where: { id, organizationId }, data: { grades: [(grades as object[])[1]!] } })
    await service.db.answerAttempt.deleteMany({ where: { organizationId, submissionId, questionNumber: 1 } })
  }
  const [choice, text] = (await readStatistics(ctx, assessment.id)).questions
  expect(choice).toMatchObject({ results: 30, seconds: null, answers: [{ best: 1, lowest: 1 }] })
  expect(text).toMatchObject({ results: 60, seconds: null })
  await service.db.submissionQuestion.updateMany({ where: { organizationId, number: 1 }, data: { responseType: 'file' } })
  expect((await readStatistics(ctx, assessment.id)).questions[0]!.answers).toEqual([])
})

it('exports the figures as CSV, and records it', async () => {
  const { admin, path, organization } = await setUp(30)
  const { text, headers } = await admin.post(`${path}/export`)
  expect(headers['content-type']).toContain('text/csv')
  const [head, ...lines] = text.trim().split(/\r?\n/)
  expect(head).toContain('question,text,results,points_share,discrimination,median_seconds,marks')
  expect(lines).toHaveLength(2)
  expect(lines[0]).toMatch(/^1,.*,30,0\.3333/)
  expect(await service.db.auditEntry.count({ where: { organizationId: organization.id, action: 'exported_statistics' } })).toBe(1)
})

it('marks a question that better candidates get wrong', async () => {
  const { ctx, assessment, organization } = await setUp(40)
  const releases = await service.db.release.findMany({ where: { organizationId: organization.id } })
  for (const { id, grades } of releases) {
    const [choice, text] = grades as [{ points: number }, { points: number }]
    choice.points = text.points > 5 ? 0 : 10
    await service.db.release.updateMany({ where: { id, organizationId: organization.id }, data: { grades: [choice, text] } })
  }
  const [choice, text] = (await readStatistics(ctx, assessment.id)).questions
  expect([choice!.marks, text!.marks]).toEqual([['check_key'], ['check_key']])
})
