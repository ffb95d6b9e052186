import { expect, it } from 'vitest'
import { duplicateAssessment } from '../../../../src/domain/assessments/edit-assessments.ts'
import type { Rubric } from '../../../../src/domain/assessments/rubric.ts'
import { addFromLibrary } from '../../../../src/domain/library/add-from-library.ts'
import { saveToLibrary } from '../../../../src/domain/library/save-to-library.ts'
import { makeSubmitted, submitAnother } from '../../../support/grading.ts'
import { asAdmin, signInAs } from '../../../support/portal.ts'
import { RUBRIC, RUBRIC_POINTS } from '../../../support/rubrics.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { makeTaking } from '../../../support/taking.ts'

const service = await startServiceForFile()

/** Creates a submission whose first question has a rubric, and its grader. */
async function makeGraded(of: { secondGrader?: boolean } = {}) {
  const questions = [{ points: RUBRIC_POINTS, rubric: RUBRIC }, { points: 3 }]
  const made = await makeSubmitted(service, { questions, recipientName: 'Mei Tanaka', ...of })
  const grader = await signInAs(service, made.organization.id, ['grader'])
  await made.assign(grader.member.id)
  service.clock.advance(60_000)
  const sheet = `${grader.home}grading/${made.submissionId}`
  const save = (fields: Record<string, string>) =>
    grader.post(`${sheet}/questions/1`, { points: '', comment: '', seen: service.clock.now().toISOString(), ...fields })
  return { ...made, grader, sheet, save, question: () => findQuestion(made.assessment.id) }
}

const findQuestion = (assessmentId: string) => service.db.question.findFirstOrThrow({ where: { assessmentId, order: 1 } })

/** Fields of a question's form, as a browser sends them. */
function formOf(rubric: Rubric, more: Record<string, string | string[]> = {}) {
  const rows = rubric.map((_, i) => 'abcdefgh'.replace('a', 'abcdefghij'[i]!))
  const levels = rubric.flatMap(({ name, levels }, i) => [
    [`criterion-${rows[i]}`, name],
    ...levels.flatMap(({ text, points }, j) => [
      [`level${j + 1}-${rows[i]}`, text],
      [`points${j + 1}-${rows[i]}`, String(points)],
    ]),
  ])
  const fixed = { script: 'Interpret this.', inputType: 'text', responseType: 'text', scriptFormat: 'plain', points: '' }
  return { ...fixed, ...Object.fromEntries(levels), row: rows, ...more }
}

it('sums the points of a question from the best levels, and fills in presets without scripts', async () => {
  const organization = await service.make.organization()
  const assessment = await service.make.assessment(organization.id)
  const admin = await signInAs(service, organization.id, ['admin'])
  const address = `${admin.home}assessments/${assessment.id}/questions`
  const preset = await admin.post(address, { ...formOf([]), rows: 'preset-interpreting' })
  for (const text of ['Accuracy', 'Fluency', 'Terminology']) expect(preset.text).toContain(`value="${text}"`)
  expect(preset.text).toContain('The rubric makes the points.')
  expect(await service.db.question.count({ where: { assessmentId: assessment.id } })).toBe(0)

  const refused = await admin.post(address, formOf([{ name: '', levels: [{ text: 'Only one', points: 1 }] }]))
  expect(refused.status).toBe(422)
  expect(refused.text).toContain('Criterion 1 needs a name')
  expect(refused.text).toContain('Criterion 1 needs 2 to 6 levels')

  expect((await admin.post(address, formOf(RUBRIC))).status).toBe(303)
  expect(await findQuestion(assessment.id).catch(() => null)).toMatchObject({ points: RUBRIC_POINTS, rubric: RUBRIC })
})

it('copies a rubric with its question, with its assessment, and through the library', async () => {
  const { organization, assessment, question } = await makeGraded()
  const ctx = await asAdmin(service, organization)
  const copyId = await duplicateAssessment(ctx, assessment.id)
  expect((await findQuestion(copyId)).rubric).toEqual(RUBRIC)
  const { libraryQuestionId } = await saveToLibrary(ctx, { assessmentId: assessment.id, questionId: (await question()).id })
  const other = await service.make.assessment(organization.id)
  const added = await addFromLibrary(ctx, libraryQuestionId, other.id)
  expect(await service.db.question.findFirst({ where: { id: added } })).toMatchObject({ points: RUBRIC_POINTS, rubric: RUBRIC })
})

const without = (grade: object | undefined) => {
  const { points, levels, comment } = grade as { points: unknown; levels: number[]; comment: string }
  return { points: points === null ? null : Number(points), levels, comment }
}

it('sums the points of the chosen levels, and accepts other points with a comment', async () => {
  const { save, grades, sheet, grader } = await makeGraded()
  expect((await grader.get(sheet)).text).toContain('Meaning is lost')
  const newest = async () => without((await grades()).at(-1))
  await save({ 'level-1': '2', 'level-2': '2' })
  expect(await newest()).toEqual({ points: null, levels: [2, 2, 0], comment: '' })
  const levels = { 'level-1': '2', 'level-2': '2', 'level-3': '1' }
  await save(levels)
  expect(await newest()).toEqual({ points: 5.5, levels: [2, 2, 1], comment: '' })

  const unlike = await save({ ...levels, points: '7' })
  expect([unlike.status, unlike.text]).toEqual([422, expect.stringContaining('the chosen levels make 5.5 points')])
  await save({ ...levels, points: '7', comment: 'Saved the call' })
  expect(await newest()).toEqual({ points: 7, levels: [2, 2, 1], comment: 'Saved the call' })

  // Without scripts, the points field still has the earlier value.
  await save({ ...levels, 'level-1': '3', points: '7', comment: 'Saved the call' })
  expect(await newest()).toEqual({ points: 7.5, levels: [3, 2, 1], comment: 'Saved the call' })
  for (const wrong of [{ 'level-1': '4' }, { 'level-4': '1' }, { levels: '1 2 3 4' }, { levels: 'x' }])
    expect((await save({ ...levels, ...wrong })).status).toBe(422)
})

it('saves a grade that is sent twice once', async () => {
  const { save, grades } = await makeGraded()
  const grade = { 'level-1': '3', 'level-2': '2', 'level-3': '2', comment: 'Twice' }
  await Promise.all([save(grade), save(grade)])
  expect((await grades()).map(without)).toEqual([{ points: 9, levels: [3, 2, 2], comment: 'Twice' }])
})

it('shows corrected wording to graders of started submissions, and changed points to nobody who has started', async () => {
  const { organization, assessment, grader, sheet, question } = await makeGraded()
  const admin = await signInAs(service, organization.id, ['admin'])
  const { id } = await question()
  const address = `${admin.home}assessments/${assessment.id}/questions/${id}`
  const change = async (rubric: Rubric) => {
    const { updatedAt } = await question()
    expect((await admin.post(address, formOf(rubric, { seen: updatedAt.toISOString() }))).status).toBe(303)
  }
  const [accuracy, ...others] = RUBRIC
  await change([{ name: 'Exactness', levels: accuracy!.levels }, ...others])
  expect((await grader.get(sheet)).text).toContain('Exactness')

  await change([{ name: 'Only one', levels: accuracy!.levels }])
  expect(await question()).toMatchObject({ points: 4 })
  const { text } = await grader.get(sheet)
  expect([text.includes('Accuracy'), text.includes('Only one'), text.includes('Points, of 9')]).toEqual([true, false, true])
  const later = await submitAnother(service, assessment, { answers: 2 })
  expect((await admin.get(`${admin.home}grading/${later.submissionId}`)).text).toContain('Only one')
})

it('shows two graders how far their levels are apart, and the levels on which they agree in the result', async () => {
  const { organization, grader, join, grade, release, submissionId, invite, sheet, save } = await makeGraded({
    secondGrader: true,
  })
  const second = await join()
  await service.db.submission.update({ where: { id: submissionId }, data: { secondGraderId: second.member.id } })
  await save({ 'level-1': '3', 'level-2': '2', 'level-3': '1' })
  await grader.post(`${sheet}/questions/2`, { points: '3', comment: '', seen: service.clock.now().toISOString() })
  await grade(second.ctx, 1, null, { levels: [3, 2, 2] })
  await grade(second.ctx, 2, 3)
  const { text } = await grader.get(sheet)
  expect(text).toContain('Agreement: 2 of 3 criteria')
  expect(text).toContain('1 level')

  const admin = await signInAs(service, organization.id, ['admin'])
  await release((await join(['admin'])).ctx)
  const { body } = await service.v1(organization.key).get(`/invites/${invite.id}/submission`)
  expect(body.questions[0].grade).toMatchObject({
    points: 8.5,
    decidedBy: 'two_graders',
    rubric: [
      { criterion: 'Accuracy', level: 3, text: 'Complete', points: 4, ofPoints: 4 },
      { criterion: 'Fluency', level: 2, text: 'Flows', points: 3, ofPoints: 3 },
      { criterion: 'Terminology', level: null, text: '', points: null, ofPoints: 2 },
    ],
  })
  const result = await admin.get(`${admin.home}results/${submissionId}`)
  expect(result.text).toContain('Fluency: Flows, 3 of 3')
  expect(result.text).toContain('the mean of two graders')
  const report = service.v1(organization.key).get(`/invites/${invite.id}/submission/report`).set('accept', 'text/html')
  expect((await report).text).toContain('Fluency: Flows, 3 of 3')
})

it('shows candidates nothing of a rubric', async () => {
  const { candidate, tab } = await makeTaking(service, { questions: [{ points: RUBRIC_POINTS, rubric: RUBRIC }] })
  const before = await candidate.open()
  await candidate.press('open', { number: '1' })
  for (const { text } of [before, await candidate.open(), await candidate.session('get', '', { tab })])
    expect(text).not.toMatch(/Accuracy|Meaning is lost|rubric/)
})
