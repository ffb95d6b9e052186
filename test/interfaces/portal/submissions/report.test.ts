import { parse } from 'csv-parse/sync'
import { describe, expect, it } from 'vitest'
import { reopenResult } from '../../../../src/domain/submissions/grading/release-result.ts'
import { factsOf, rowsOf } from '../../../support/forms.ts'
import { makeSubmitted, submitAnother } from '../../../support/grading.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()

/** Creates a submission, an admin who grades it, and functions that read its export and report. */
async function setUp(of: Parameters<typeof makeSubmitted>[1] = {}) {
  const made = await makeSubmitted(service, { recipientName: 'Sam', ...of })
  const { organization, assessment } = made
  const grader = await made.join(['admin'])
  const as = async (...roles: string[]) => {
    const person = await signInAs(service, organization.id, roles)
    const address = `${person.home}results/assessments/${assessment.id}`
    return {
      ...person,
      read: () => person.get(address),
      export: async () => {
        const answer = await person.post(`${address}/export`)
        expect(answer.status).toBe(200)
        return parse(answer.text, { columns: true, bom: true }) as Record<string, string>[]
      },
    }
  }
  const questions = await service.db.question.findMany({ where: { assessmentId: assessment.id }, orderBy: { order: 'asc' } })
  return { ...made, as, grader, admin: await as('admin'), questions }
}

describe('the export of grades', () => {
  it('has a row per candidate and a column per question, with the grades that count, released or not', async () => {
    const { admin, grader, grade, release, submissionId, assessment, invite } = await setUp({
      recipientName: '=1+1',
    })
    const other = await submitAnother(service, assessment, { answers: 2 })
    await grade(grader.ctx, 1, 4)
    await grade(grader.ctx, 2, 0)
    await release(grader.ctx)
    await reopenResult(grader.ctx, submissionId)
    await grade(grader.ctx, 1, 4.5)
    await grade(grader.ctx, 2, 3, { submissionId: other.submissionId })
    const [first, second] = await admin.export()
    expect(first).toEqual({
      submission_id: submissionId,
      invite_id: invite.id,
      email: invite.recipientEmail,
      name: "'=1+1",
      state: 'submitted',
      handed_in_at: service.clock.now().toISOString(),
      question_1: '4.5',
      question_2: '0',
      total: '4.5',
      of_points: '8',
      percent: '56',
      questions_to_grade: '0',
      graded_by: grader.member.email,
      released_at: service.clock.now().toISOString(),
      version: '1',
      question_1_given_by: 'person',
      question_2_given_by: 'person',
    })
    expect(second).toMatchObject({
      question_1: '',
      question_2: '3',
      question_1_given_by: '',
      question_2_given_by: 'person',
      total: '',
      of_points: '8',
      percent: '',
      questions_to_grade: '1',
      version: '',
    })
  })

  it('identifies questions that were moved or removed', async () => {
    const { admin, grader, grade, questions, assessment } = await setUp()
    await grade(grader.ctx, 1, 1)
    await grade(grader.ctx, 2, 2)
    const [one, two] = questions
    await service.db.question.delete({ where: { id: one!.id } })
    const added = await service.make.question(assessment, { order: 1, points: 7 })
    await service.db.question.update({ where: { id: two!.id }, data: { order: 2 } })
    const later = await submitAnother(service, assessment, { answers: 2 })
    await grade(grader.ctx, 1, 6.5, { submissionId: later.submissionId })
    expect(added.id).toBeDefined()
    const rows = await admin.export()
    expect(rows.map((row) => [row.question_1, row.question_2, row.removed_question_1, row.of_points])).toEqual([
      ['', '2', '1', '8'],
      ['6.5', '', '', '10'],
    ])
    const text = await admin.post(`${admin.home}results/assessments/${assessment.id}/export`)
    expect(text.text.split('\r\n')[0]).toContain('handed_in_at,question_1,question_2,removed_question_1,total')
  })

  it('contains each result once across batches, is audited, and requires an admin', async () => {
    const { admin, as, assessment, submissionId, organization } = await setUp()
    await service.db.$executeRaw`
      INSERT INTO submissions SELECT (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid()))).*
      FROM submissions s, generate_series(1, 1200) WHERE s.id = ${submissionId}::uuid`
    const rows = await admin.export()
    expect([rows.length, new Set(rows.map((row) => row.submission_id)).size]).toEqual([1_201, 1_201])
    const where = { organizationId: organization.id, action: 'exported_grades' }
    expect(await service.db.auditEntry.findMany({ where })).toMatchObject([
      { actorId: admin.member.id, details: { assessmentId: assessment.id } },
    ])
    for (const role of ['grader', 'client']) {
      const person = await as(role)
      expect((await person.post(`${person.home}results/assessments/${assessment.id}/export`)).status).toBe(404)
    }
  })
})

describe('the report on an assessment', () => {
  it("shows the distribution of released totals and of each question's points, and nothing unreleased", async () => {
    const { admin, grader, grade, release, assessment, questions } = await setUp()
    const others = [
      await submitAnother(service, assessment, { answers: 2 }),
      await submitAnother(service, assessment, { answers: 2 }),
      await submitAnother(service, assessment, { answers: 2 }),
    ]
    const [second, third, last] = others.map(({ submissionId }) => submissionId)
    expect(factsOf((await admin.read()).text).Results).toBe('0')
    const result = async (points: [number, number], submissionId?: string) => {
      const of = submissionId ? { submissionId } : {}
      await grade(grader.ctx, 1, points[0], of)
      await grade(grader.ctx, 2, points[1], of)
      return of
    }
    await release(grader.ctx, await result([5, 3]))
    await release(grader.ctx, await result([2, 0], second))
    await release(grader.ctx, await result([0, 0.5], third))
    await result([4, 3], last)
    const { text } = await admin.read()
    expect(factsOf(text)).toMatchObject({ Results: '3', Mean: '44 %', Median: '25 %' })
    const rows = rowsOf(text)
    expect(rows.filter((row) => row.includes(' to ') && !row.includes('| 0 |'))).toEqual([
      '0 to 9 % | 1 | 33 %',
      '20 to 29 % | 1 | 33 %',
      '90 to 100 % | 1 | 33 %',
    ])
    expect(rows.slice(-2)).toEqual(['1 | What is 1? | 3 | 2.33 | 5 | 47 %', '2 | What is 2? | 3 | 1.17 | 3 | 39 %'])
    await service.db.question.delete({ where: { id: questions[0]!.id } })
    await reopenResult(grader.ctx, third!)
    await result([0, 3], third)
    expect(rowsOf((await admin.read()).text).slice(-2)).toEqual([
      '1 | What is 2? | 3 | 1.17 | 3 | 39 %',
      'Removed 1 | What is 1? | 3 | 2.33 | 5 | 47 %',
    ])
    await release(grader.ctx, { submissionId: third! })
    expect(rowsOf((await admin.read()).text).at(-2)).toBe('1 | What is 2? | 3 | 2 | 3 | 67 %')
  })

  it("is for admins and the assessment's clients, and hides staff from clients", async () => {
    const { as, grader, grade, release, assessment, organization, submissionId } = await setUp()
    await grade(grader.ctx, 1, 5)
    await grade(grader.ctx, 2, 3)
    await release(grader.ctx, { submissionId, comment: 'For admins' })
    const [client, stranger] = [await as('client'), await as('client')]
    const of = { organizationId: organization.id, assessmentId: assessment.id }
    await service.db.assessmentClient.create({ data: { ...of, memberId: client.member.id, position: 0 } })
    const { text } = await client.read()
    expect(factsOf(text).Results).toBe('1')
    for (const staff of [grader.member.email, grader.member.id, '/export', 'Sam']) expect(text).not.toContain(staff)
    expect((await stranger.read()).status).toBe(404)
    expect((await (await as('grader')).read()).status).toBe(404)
  })

  it('shows no totals without points', async () => {
    const { admin, candidate, grader, release, submissionId } = await setUp({ questions: [{ points: 0 }, { points: 0 }] })
    await release(grader.ctx, { toCandidate: true })
    const { text } = await admin.read()
    expect(factsOf(text)).toMatchObject({ Results: '1', 'With points': '0' })
    expect(text).not.toContain('Distribution')
    expect(rowsOf((await admin.get(`${admin.home}results`)).text)[0]).toMatch(/^[^|]+ \| [^|]+ \| {2}\| {2}\|/)
    const { Points, Percent } = factsOf((await admin.get(`${admin.home}results/${submissionId}`)).text)
    expect([Points, Percent]).toEqual([undefined, undefined])
    expect((await candidate.open()).text).toContain('No points are given for this assessment.')
    expect(await admin.export()).toMatchObject([{ total: '', of_points: '0', percent: '', questions_to_grade: '0' }])
  })
})
