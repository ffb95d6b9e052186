import { expect, it } from 'vitest'
import { readCalibration } from '../../../../src/domain/submissions/grading/calibration.ts'
import { asAdmin, signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()

type Given = { grader: number; question: number; share: number }

/** Mean and standard deviation of weighted values, as in a textbook. */
function spreadOf(values: { value: number; weight: number }[]) {
  const weights = values.reduce((sum, { weight }) => sum + weight, 0)
  const mean = values.reduce((sum, { value, weight }) => sum + value * weight, 0) / weights
  const variance = values.reduce((sum, { value, weight }) => sum + weight * (value - mean) ** 2, 0) / weights
  return { mean, deviation: Math.sqrt(variance) }
}

/** A plain calculation over all grades: the grader's own, and the others' for the same questions. */
function compare(given: Given[], grader: number) {
  const own = given.filter((one) => one.grader === grader)
  const countOf = (question: number) => own.filter((one) => one.question === question).length
  const others = given.filter((one) => one.grader !== grader && countOf(one.question) > 0)
  const shared = own.filter(({ question }) => others.some((one) => one.question === question))
  return {
    grades: shared.length,
    own: spreadOf(shared.map(({ share }) => ({ value: share, weight: 1 }))),
    others: spreadOf(
      others.map(({ share, question }) => ({
        value: share,
        weight: countOf(question) / others.filter((one) => one.question === question).length,
      })),
    ),
  }
}

it('equals a plain calculation, from 30 grades on', async () => {
  const organization = await service.make.organization()
  const organizationId = organization.id
  const assessment = await service.make.assessment(organizationId)
  const members = await Promise.all([1, 2, 3, 4].map(() => service.make.member(organizationId, { roles: ['grader'] })))
  const questionIds = [1, 2, 3].map(() => service.deps.newId())
  const maxima = [10, 7, 20]
  /** The same numbers in each run, spread over 0 to 1. */
  const shareOf = (place: number) => (place * 0.618_034) % 1
  const given: Given[] = []
  for (let i = 0; i < 60; i++) {
    const [id, at] = [service.deps.newId(), service.clock.now()]
    const { id: inviteId } = await service.make.invite(assessment, { status: 'completed' })
    const times = { startedAt: at, submittedAt: at, createdAt: at, updatedAt: at }
    const limits = { questionReplayLimit: 1, answerRecordLimit: 1 }
    await service.db.submission.create({
      data: { id, organizationId, inviteId, assessmentId: assessment.id, ...limits, ...times, state: 'submitted' },
    })
    const asked = { inputType: 'text', responseType: 'text', script: '', audioUrl: '', videoUrl: '', timeLimit: 0 }
    await service.db.submissionQuestion.createMany({
      data: questionIds.map((questionId, question) => ({
        ...{ ...asked, organizationId, submissionId: id, questionId, number: question + 1, points: maxima[question]! },
      })),
    })
    // The fourth grades too little, and the third question is graded by the first alone.
    const graders = [i % 3, (i + 1) % 3, ...(i < 10 ? [3] : [])]
    for (const question of [0, 1, 2])
      for (const grader of question === 2 ? [0] : graders) {
        const points = Math.round(shareOf(given.length) ** (grader + 1) * maxima[question]! * 2) / 2
        const grade = {
          organizationId,
          submissionId: id,
          questionNumber: question + 1,
          graderId: members[grader]!.id,
          round: 1,
          comment: '',
        }
        const earlier = new Date(at.getTime() - 60_000)
        await service.db.grade.createMany({
          data: [
            { id: service.deps.newId(), ...grade, points: 0, createdAt: earlier, updatedAt: earlier },
            { id: service.deps.newId(), ...grade, points, createdAt: at, updatedAt: at },
          ],
        })
        given.push({ grader, question, share: points / maxima[question]! })
      }
  }
  const { graders } = await readCalibration(await asAdmin(service, organization), assessment.id)
  for (const grader of [0, 1, 2]) {
    const expected = compare(given, grader)
    const { grades, own, others } = graders.find(({ graderId }) => graderId === members[grader]!.id)!
    expect(grades).toBe(expected.grades)
    for (const [figures, plain] of [[own!, expected.own] as const, [others!, expected.others] as const]) {
      expect(Math.abs(figures.mean - plain.mean)).toBeLessThan(0.001)
      expect(Math.abs(figures.deviation - plain.deviation)).toBeLessThan(0.001)
    }
  }
  expect(graders.find(({ graderId }) => graderId === members[3]!.id)).toMatchObject({ grades: 20, own: null, others: null })
  const admin = await signInAs(service, organizationId, ['admin'])
  const { text } = await admin.get(`${admin.home}results/assessments/${assessment.id}/graders`)
  expect(text).toContain('from 10 more')
  expect(text).toContain(`${(compare(given, 0).own.mean * 100).toFixed(1)} %`)
})
