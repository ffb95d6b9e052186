import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Rubric } from '../../../../src/domain/assessments/rubric.ts'
import { MIN_COMPARED_GRADES, readCalibration } from '../../../../src/domain/submissions/grading/calibration.ts'
import { asAdmin, signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()

type Given = { grader: number; question: number; share: number }

/** Weighted mean and standard deviation by the textbook formula. */
function spreadOf(values: { value: number; weight: number }[]) {
  const weights = values.reduce((sum, { weight }) => sum + weight, 0)
  const mean = values.reduce((sum, { value, weight }) => sum + value * weight, 0) / weights
  const variance = values.reduce((sum, { value, weight }) => sum + weight * (value - mean) ** 2, 0) / weights
  return { mean, deviation: Math.sqrt(variance) }
}

/** Compares a grader's grades with the others' grades of the same questions, by a plain calculation. */
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
  /** Reproducible numbers, spread over 0 to 1. */
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
    // The fourth grader has too few grades, and only the first grader grades the third question.
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
    const { grades, ownSpread: own, othersSpread: others } = graders.find(({ graderId }) => graderId === members[grader]!.id)!
    expect(grades).toBe(expected.grades)
    for (const [figures, plain] of [[own!, expected.own] as const, [others!, expected.others] as const]) {
      expect(Math.abs(figures.mean - plain.mean)).toBeLessThan(0.001)
      expect(Math.abs(figures.deviation - plain.deviation)).toBeLessThan(0.001)
    }
  }
  expect(graders.find(({ graderId }) => graderId === members[3]!.id)).toMatchObject({
    grades: 20,
    ownSpread: null,
    othersSpread: null,
  })
  const admin = await signInAs(service, organizationId, ['admin'])
  const { text } = await admin.get(`${admin.home}results/assessments/${assessment.id}/graders`)
  expect(text).toContain('from 10 more')
  expect(text).toContain(`${(compare(given, 0).own.mean * 100).toFixed(1)} %`)
})

const LEVELS = 4
const criterion = (name: string) => ({
  name,
  levels: Array.from({ length: LEVELS }, (_, i) => ({ text: `${i}`, points: i })),
})
const RUBRICS: Rubric[] = [['Accuracy', 'Fluency', 'Terminology'].map(criterion), ['Tone'].map(criterion)]

/** A grade that may be incomplete: some criteria have no level yet (0), or it was given without the rubric. */
const gradeOf = (rubric: Rubric) => {
  const levels = fc.array(fc.nat({ max: LEVELS }), { minLength: rubric.length, maxLength: rubric.length })
  return fc.record({
    halves: fc.nat({ max: 20 }),
    levels: fc.oneof({ weight: 5, arbitrary: levels }, { weight: 1, arbitrary: fc.constant<number[]>([]) }),
    hasEarlier: fc.boolean(),
  })
}
const submissions = fc.array(
  fc.record({
    first: fc.nat({ max: 3 }),
    step: fc.integer({ min: 1, max: 3 }),
    // Grades of the first and the second grader, by question.
    grades: fc.tuple(...RUBRICS.map((rubric) => fc.tuple(gradeOf(rubric), gradeOf(rubric)))),
  }),
  { minLength: 12, maxLength: 45 },
)
type Graded = typeof submissions extends fc.Arbitrary<infer Value> ? Value : never

/** Agreement of the two graders on one criterion. */
function agree(graded: Graded, question: number, place: number) {
  const pairs = graded
    .map(({ grades }) => grades[question]!.map(({ levels }) => levels[place] ?? 0))
    .filter(([one, other]) => one! > 0 && other! > 0)
  const distances = pairs.map(([one, other]) => Math.abs(one! - other!))
  return {
    answers: pairs.length,
    same: distances.filter((distance) => distance === 0).length / pairs.length,
    distance: distances.reduce((sum, distance) => sum + distance, 0) / pairs.length,
  }
}

it('equals a plain calculation for any grades of two graders: agreement by criterion, means, and spreads', async () => {
  const organization = await service.make.organization()
  const organizationId = organization.id
  const members = await Promise.all([1, 2, 3, 4].map(() => service.make.member(organizationId, { roles: ['grader'] })))
  const ctx = await asAdmin(service, organization)
  const property = fc.asyncProperty(submissions, async (graded) => {
    const assessment = await service.make.assessment(organizationId)
    const questions = []
    for (const [i, rubric] of RUBRICS.entries())
      questions.push(await service.make.question(assessment, { order: i + 1, points: 10, rubric }))
    await insertGrades({ organizationId, assessmentId: assessment.id, questions, members }, graded)
    const { graders, criteria } = await readCalibration(ctx, assessment.id)

    const expected = RUBRICS.flatMap((rubric, question) =>
      rubric.map(({ name }, place) => ({ question: question + 1, criterion: name, ...agree(graded, question, place) })),
    ).filter(({ answers }) => answers > 0)
    expect(criteria.map(({ question, criterion, answers }) => [question, criterion, answers])).toEqual(
      expected.map(({ question, criterion, answers }) => [question, criterion, answers]),
    )
    for (const [i, { same, distance }] of criteria.entries()) {
      expect(Math.abs(same - expected[i]!.same)).toBeLessThan(0.001)
      expect(Math.abs(distance - expected[i]!.distance)).toBeLessThan(0.001)
    }

    const given = graded.flatMap(({ first, step, grades }) =>
      grades.flatMap((both, question) =>
        both.map(({ halves }, i) => ({ grader: (first + i * step) % 4, question, share: halves / 20 })),
      ),
    )
    for (const { graderId, grades, ownSpread: own, othersSpread: others } of graders) {
      const plain = compare(
        given,
        members.findIndex(({ id }) => id === graderId),
      )
      expect(grades).toBe(plain.grades)
      expect([own === null, others === null]).toEqual(Array(2).fill(grades < MIN_COMPARED_GRADES))
      for (const [figures, figuresOf] of [[own, plain.own] as const, [others, plain.others] as const]) {
        if (!figures) continue
        expect(Math.abs(figures.mean - figuresOf.mean)).toBeLessThan(0.001)
        expect(Math.abs(figures.deviation - figuresOf.deviation)).toBeLessThan(0.001)
      }
    }
  })
  await fc.assert(property, { numRuns: 12 })
})

type Place = { organizationId: string; assessmentId: string; questions: { id: string }[]; members: { id: string }[] }

async function insertGrades({ organizationId, assessmentId, questions, members }: Place, graded: Graded): Promise<void> {
  const { db, deps, clock, make } = service
  const at = clock.now()
  const earlier = new Date(at.getTime() - 60_000)
  const like = await make.invite({ id: assessmentId, organizationId }, { status: 'completed' })
  const { metadata: _, ...inviteData } = like
  const rows = graded.map((one) => ({ ...one, id: deps.newId(), inviteId: deps.newId() }))
  await db.invite.createMany({
    data: rows.map(({ inviteId }) => ({ ...inviteData, id: inviteId, recipientEmail: `${inviteId}@example.com` })),
  })
  const times = { startedAt: at, submittedAt: at, createdAt: at, updatedAt: at }
  const limits = { questionReplayLimit: 1, answerRecordLimit: 1 }
  await db.submission.createMany({
    data: rows.map(({ id, inviteId }) => ({
      ...{ id, organizationId, inviteId, assessmentId, ...limits, ...times, state: 'submitted' as const },
    })),
  })
  const asked = { inputType: 'text', responseType: 'text', script: '', audioUrl: '', videoUrl: '', timeLimit: 0, points: 10 }
  await db.submissionQuestion.createMany({
    data: rows.flatMap(({ id: submissionId }) =>
      questions.map((question, i) => ({
        ...{ ...asked, organizationId, submissionId, questionId: question.id, number: i + 1, rubric: RUBRICS[i]! },
      })),
    ),
  })
  await db.grade.createMany({
    data: rows.flatMap(({ id: submissionId, first, step, grades }) =>
      grades.flatMap((both, question) =>
        both.flatMap(({ halves, levels, hasEarlier }, i) => {
          const graderId = members[(first + i * step) % 4]!.id
          const grade = { organizationId, submissionId, questionNumber: question + 1, graderId, round: i + 1, comment: '' }
          const before = { ...grade, id: deps.newId(), points: 0, levels: levels.map(() => 1) }
          return [
            ...(hasEarlier && levels.length > 0 ? [{ ...before, createdAt: earlier, updatedAt: earlier }] : []),
            { ...grade, id: deps.newId(), points: halves / 2, levels, createdAt: at, updatedAt: at },
          ]
        }),
      ),
    ),
  })
}
