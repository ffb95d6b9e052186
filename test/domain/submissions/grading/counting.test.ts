import { describe, expect, it } from 'vitest'
import type { Context } from '../../../../src/domain/context.ts'
import { type ExportedGrades, exportGrades } from '../../../../src/domain/submissions/grading/export-grades.ts'
import { listQueue } from '../../../../src/domain/submissions/grading/queue.ts'
import { reassignGrader, takeGraderSlot } from '../../../../src/domain/submissions/grading/reassign-grader.ts'
import { reopenResult } from '../../../../src/domain/submissions/grading/release-result.ts'
import type { QueueName } from '../../../../src/domain/submissions/grading/waiting-submissions.ts'
import { makeSubmitted, submitAnother } from '../../../support/grading.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()

/** Creates a submission with two graders, and an admin who decides. */
async function createTwiceGraded(of: Parameters<typeof makeSubmitted>[1] = {}) {
  const made = await makeSubmitted(service, { secondGrader: true, ...of })
  const [first, second, admin] = [await made.join(), await made.join(), await made.join(['admin'])]
  await made.assign(first.member.id)
  await takeGraderSlot(second.ctx, made.submissionId)
  const result = async () => {
    await made.release(admin.ctx)
    return (await made.releases()).at(-1)!.grades
  }
  return { ...made, first, second, admin, result }
}
const undecided = { issues: [expect.objectContaining({ problem: 'undecided', limit: 1 })] }
const ungraded = { issues: [expect.objectContaining({ problem: 'ungraded', limit: 1 })] }

describe('a comment', () => {
  it('stays if an admin or the sole grader later gives points without one', async () => {
    const { first, second, admin, grade, result } = await createTwiceGraded({ questions: [{ points: 5 }, { points: 0 }] })
    await grade(first.ctx, 1, 5, { comment: 'Well argued.' })
    await grade(second.ctx, 1, 1, { comment: 'Too short.' })
    await grade(admin.ctx, 1, 3)
    expect((await result()) as unknown[]).toContainEqual(
      expect.objectContaining({ points: 3, comment: 'Well argued.\n\nToo short.', graderId: admin.member.id }),
    )
    const alone = await makeSubmitted(service, { questions: [{ points: 5 }, { points: 0 }] })
    const [grader, boss] = [await alone.join(), await alone.join(['admin'])]
    await alone.assign(grader.member.id)
    await alone.grade(grader.ctx, 1, 5, { comment: 'Well argued.' })
    await alone.grade(boss.ctx, 1, 4)
    await alone.release(boss.ctx)
    expect((await alone.releases()).at(-1)!.grades as unknown[]).toContainEqual(
      expect.objectContaining({ points: 4, comment: 'Well argued.', graderId: boss.member.id }),
    )
  })
})

describe('two graders’ points', () => {
  it.each([
    [5, 4, 3, 3.5],
    [5, 4, 4.5, 4.5],
    [35, 20, 27, 23.5],
    [3, 3, 2.5, 3],
    [2_000_000_000, 1_600_000_000, 2_000_000_000, 1_800_000_000],
  ])(
    'count by their mean, to the nearest half, up to 20 percent apart: of %i points %d and %d',
    async (points, one, other, mean) => {
      const { first, second, grade, result } = await createTwiceGraded({ questions: [{ points }, { points: 0 }] })
      await grade(first.ctx, 1, one)
      await grade(second.ctx, 1, other)
      expect((await result()) as unknown[]).toContainEqual(expect.objectContaining({ number: 1, points: mean }))
    },
  )

  it.each([
    [5, 4, 2.5],
    [35, 20, 27.5],
    [3, 3, 2],
    [1, 0, 0.5],
    [2_000_000_000, 1_599_999_999.5, 2_000_000_000],
  ])('need a decision if they differ by more: of %i points %d and %d', async (points, one, other) => {
    const { first, second, grade, result } = await createTwiceGraded({ questions: [{ points }, { points: 0 }] })
    await grade(first.ctx, 1, one)
    await grade(second.ctx, 1, other)
    await expect(result()).rejects.toMatchObject(undecided)
  })

  it("must come from two people: a second grade by the former first grader doesn't count", async () => {
    const { first, second, admin, grade, result, submissionId } = await createTwiceGraded({
      questions: [{ points: 5 }, { points: 0 }],
    })
    await grade(first.ctx, 1, 4)
    await reassignGrader(admin.ctx, submissionId, { place: 'second', graderId: null })
    await reassignGrader(admin.ctx, submissionId, { place: 'first', graderId: second.member.id })
    await reassignGrader(admin.ctx, submissionId, { place: 'second', graderId: first.member.id })
    await grade(first.ctx, 1, 5)
    await expect(result()).rejects.toMatchObject(ungraded)
    await grade(second.ctx, 1, 4)
    expect((await result()) as unknown[]).toContainEqual(expect.objectContaining({ points: 4.5 }))
  })
})

describe('a second grader who is added later', () => {
  it('grades only submissions that have no grades yet', async () => {
    const made = await makeSubmitted(service)
    const { assessment, grade, submissionId } = made
    const { submissionId: untouched } = await submitAnother(service, assessment, { answers: 2 })
    const [first, second] = [await made.join(), await made.join()]
    await made.assign(first.member.id)
    await grade(first.ctx, 1, 4)
    await service.db.assessment.update({ where: { id: assessment.id }, data: { secondGrader: true } })
    await expect(takeGraderSlot(second.ctx, submissionId)).rejects.toMatchObject({ kind: 'submission_not_found' })
    const queued = async (whose: QueueName, { ctx }: { ctx: Context }) =>
      (await listQueue(ctx, { queue: whose }, { number: 1, size: 10 })).items.map(({ id, assessment }) => [
        id,
        assessment.secondGrader,
      ])
    expect(await queued('nobody', second)).toEqual([[untouched, true]])
    expect(await queued('mine', first)).toEqual([[submissionId, false]])
    const graded = async () => {
      const rows: ExportedGrades[] = []
      await exportGrades((await made.join(['admin'])).ctx, assessment.id, async (batch) => void rows.push(...batch))
      return rows.map(({ submissionId, total }) => [submissionId, total])
    }
    await grade(first.ctx, 2, 3)
    expect(await graded()).toEqual([
      [submissionId, 7],
      [untouched, null],
    ])
    await made.release(first.ctx)
    expect(await made.releases()).toMatchObject([{ version: 1, ofPoints: 8n }])
  })
})

describe('an assessment changed to a single grader', () => {
  it("counts the last grade, even after an admin's decision, and the grade can be deleted", async () => {
    const made = await createTwiceGraded({ questions: [{ points: 5 }, { points: 0 }] })
    const { first, second, admin, grade, result, submissionId, assessment } = made
    await grade(first.ctx, 1, 0)
    await grade(second.ctx, 1, 5)
    service.clock.advance(1_000)
    await grade(admin.ctx, 1, 3)
    await service.db.assessment.update({ where: { id: assessment.id }, data: { secondGrader: false } })
    expect((await result()) as unknown[]).toContainEqual(expect.objectContaining({ points: 3 }))
    await reopenResult(admin.ctx, submissionId)
    service.clock.advance(1_000)
    await grade(first.ctx, 1, 2)
    expect((await result()) as unknown[]).toContainEqual(expect.objectContaining({ points: 2 }))
    await reopenResult(admin.ctx, submissionId)
    service.clock.advance(1_000)
    await grade(first.ctx, 1, null)
    expect((await result()) as unknown[]).toContainEqual(expect.objectContaining({ points: 3 }))
  })
})

it('releases a comment on an answer without points, with no points', async () => {
  const { join, grade, release, invite, organization } = await makeSubmitted(service, {
    questions: [{ points: 5 }, { points: 0 }],
  })
  const { ctx } = await join()
  await grade(ctx, 1, 5)
  await grade(ctx, 2, null, { comment: 'Nicely introduced' })
  await release(ctx)
  const { body } = await service.v1(organization.key).get(`/invites/${invite.id}/submission`)
  expect(body.questions[1].grade).toEqual({ points: null, comment: 'Nicely introduced' })
  expect(body.result).toMatchObject({ points: 5, ofPoints: 5 })
})

it('rounds percentages half up: 57 of 200 points are 28.5, so 29', async () => {
  const { join, grade, release, invite, organization } = await makeSubmitted(service, {
    questions: [{ points: 197 }, { points: 3 }],
  })
  const { ctx } = await join()
  await grade(ctx, 1, 57)
  await grade(ctx, 2, 0)
  await release(ctx)
  const { body } = await service.v1(organization.key).get(`/invites/${invite.id}/submission`)
  expect(body.result.percent).toBe(29)
})
