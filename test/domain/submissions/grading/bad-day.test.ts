import { describe, expect, it } from 'vitest'
import { listQueue } from '../../../../src/domain/submissions/grading/queue.ts'
import { takeGraderSlot } from '../../../../src/domain/submissions/grading/reassign-grader.ts'
import { reopenResult } from '../../../../src/domain/submissions/grading/release-result.ts'
import { readReport } from '../../../../src/domain/submissions/grading/report.ts'
import { makeSubmitted, submitAnother } from '../../../support/grading.ts'
import { scaled } from '../../../support/scale.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()
const MINUTE_MS = 60_000
const problem = (problem: string, limit?: number) => ({
  kind: 'invalid',
  issues: [expect.objectContaining({ problem, ...(limit !== undefined && { limit }) })],
})

describe('an invite reassigned to its second grader', () => {
  it('makes them the first grader, and frees the second place for another', async () => {
    const { join, assign, grade, release, releases, submissionId, submission } = await makeSubmitted(service, {
      secondGrader: true,
    })
    const [first, second, third, admin] = [await join(), await join(), await join(), await join(['admin'])]
    await assign(first.member.id)
    await takeGraderSlot(second.ctx, submissionId)
    for (const number of [1, 2]) await grade(second.ctx, number, 1)
    await assign(second.member.id)
    expect(await submission()).toMatchObject({ graderId: second.member.id, secondGraderId: null })
    expect((await listQueue(third.ctx, { queue: 'nobody' }, { number: 1, size: 20 })).items).toHaveLength(1)
    await takeGraderSlot(third.ctx, submissionId)
    for (const number of [1, 2]) {
      await grade(second.ctx, number, 2)
      await grade(third.ctx, number, 2)
    }
    await release(admin.ctx)
    expect(Number((await releases())[0]!.points)).toBe(4)
  })
})

describe('a released result', () => {
  it('has no comment that its grader has deleted', async () => {
    const { join, grade, release, releases } = await makeSubmitted(service, { questions: [{ points: 0 }, { points: 3 }] })
    const { ctx } = await join(['admin'])
    await grade(ctx, 1, null, { comment: 'Of somebody else' })
    await grade(ctx, 2, 3, { comment: 'Of somebody else' })
    service.clock.advance(15 * MINUTE_MS)
    await grade(ctx, 1, null)
    await grade(ctx, 2, 3)
    await release(ctx)
    expect((await releases())[0]!.grades).toEqual([
      expect.objectContaining({ comment: '' }),
      expect.objectContaining({ comment: '' }),
    ])
  })

  it('has the points that were shown, and is rejected if they changed meanwhile', async () => {
    const { join, grade, release, releases } = await makeSubmitted(service)
    const [one, other] = [await join(['admin']), await join(['admin'])]
    await grade(one.ctx, 1, 4.5)
    await grade(one.ctx, 2, 0)
    await grade(other.ctx, 1, 3.5)
    await grade(other.ctx, 2, 1)
    await expect(release(one.ctx, { seen: '4.5 0' })).rejects.toMatchObject(problem('otherPoints', 4.5))
    expect(await releases()).toEqual([])
    await release(one.ctx, { seen: '3.5 1' })
    expect(await releases()).toHaveLength(1)
  })

  it("contains no admin's decision that the releasing grader can't see yet", async () => {
    const { join, assign, grade, release, releases } = await makeSubmitted(service, { secondGrader: true })
    const [first, admin] = [await join(), await join(['admin'])]
    await assign(first.member.id)
    for (const number of [1, 2]) await grade(admin.ctx, number, 3)
    await expect(release(first.ctx)).rejects.toMatchObject(problem('ungraded', 1))
    await release(admin.ctx)
    expect(await releases()).toHaveLength(1)
  })

  it('has its versions in order after many of them, and counts once', async () => {
    const { join, grade, release, releases, submissionId, assessment } = await makeSubmitted(service)
    const { ctx } = await join(['admin'])
    const versions = scaled(10, 100)
    for (let version = 1; version <= versions; version++) {
      await grade(ctx, 1, (version % 10) / 2)
      await grade(ctx, 2, 3)
      await Promise.allSettled([release(ctx), release(ctx)])
      if (version < versions) await Promise.allSettled([reopenResult(ctx, submissionId), reopenResult(ctx, submissionId)])
    }
    expect((await releases()).map(({ version }) => version)).toEqual(Array.from({ length: versions }, (_, i) => i + 1))
    const { results, questions } = await readReport(ctx, assessment.id)
    expect([results, questions.map(({ results, mean }) => [results, mean])]).toEqual([
      1,
      [
        [1, 0],
        [1, 3],
      ],
    ])
  })
})

describe('the report', () => {
  it('stops counting a result once its submission or invite is deleted', async () => {
    const { join, grade, release, submissionId, invite, assessment, organization } = await makeSubmitted(service)
    const { ctx } = await join(['admin'])
    const others = [
      await submitAnother(service, assessment, { answers: 2 }),
      await submitAnother(service, assessment, { answers: 2 }),
    ]
    const ids = [submissionId, ...others.map((other) => other.submissionId)]
    for (const [i, id] of ids.entries()) {
      for (const number of [1, 2]) await grade(ctx, number, i + 0.5, { submissionId: id })
      await release(ctx, { submissionId: id })
    }
    await reopenResult(ctx, submissionId)
    await grade(ctx, 1, 5)
    const report = async () => (await readReport(ctx, assessment.id)).questions.map(({ results, mean }) => [results, mean])
    expect(await report()).toEqual([
      [3, 1.5],
      [3, 1.5],
    ])
    await service.db.submission.delete({ where: { id: ids[1]! } })
    expect(await report()).toEqual([
      [2, 1.5],
      [2, 1.5],
    ])
    await service.db.invite.delete({ where: { id: invite.id } })
    expect(await report()).toEqual([
      [1, 2.5],
      [1, 2.5],
    ])
    await service.db.organization.delete({ where: { id: organization.id } })
    expect(await service.db.questionResult.count({ where: { organizationId: organization.id } })).toBe(0)
  })
})
