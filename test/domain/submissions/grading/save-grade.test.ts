import { describe, expect, it } from 'vitest'
import type { Context } from '../../../../src/domain/context.ts'
import { listQueue } from '../../../../src/domain/submissions/grading/queue.ts'
import { reassignGrader, takeGraderSlot } from '../../../../src/domain/submissions/grading/reassign-grader.ts'
import { reopenResult } from '../../../../src/domain/submissions/grading/release-result.ts'
import type { QueueName } from '../../../../src/domain/submissions/grading/waiting-submissions.ts'
import { makeSubmitted } from '../../../support/grading.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()
const UNKNOWN = { kind: 'submission_not_found' }
const MINUTE_MS = 60_000
const problem = (problem: string, limit?: number) => ({
  kind: 'invalid',
  issues: [expect.objectContaining({ problem, ...(limit && { limit }) })],
})
const queue = async (ctx: Context, whose: QueueName) =>
  (await listQueue(ctx, { queue: whose }, { number: 1, size: 20 })).items.map(({ id }) => id)

describe('a grade', () => {
  it("is in steps of 0.5 from 0 to the question's points, or none, which differs from 0", async () => {
    const { join, grade, grades, submissionId } = await makeSubmitted(service)
    const { ctx } = await join()
    for (const points of [-0.5, 0.3, 5.5, Number.NaN, Number.POSITIVE_INFINITY])
      await expect(grade(ctx, 1, points)).rejects.toMatchObject(problem('points', 5))
    await expect(grade(ctx, 3, 1)).rejects.toMatchObject(UNKNOWN)
    await expect(grade(ctx, 1, 1, { submissionId: 'x' })).rejects.toMatchObject(UNKNOWN)
    await grade(ctx, 1, null)
    expect(await grades()).toEqual([])
    await grade(ctx, 1, 0)
    await grade(ctx, 2, 2.5)
    expect((await grades()).map(({ questionNumber, points }) => [questionNumber, Number(points)])).toEqual([
      [1, 0],
      [2, 2.5],
    ])
    expect(submissionId).toBe((await grades())[0]!.submissionId)
  })

  it('keeps both values when its points change, and replaces the value while it is being typed', async () => {
    const { join, grade, grades } = await makeSubmitted(service)
    const { ctx } = await join()
    await grade(ctx, 1, 2)
    service.clock.advance(4_999)
    await grade(ctx, 1, 3)
    service.clock.advance(5_000)
    await grade(ctx, 1, 4)
    service.clock.advance(14 * MINUTE_MS)
    await grade(ctx, 1, 4, { comment: 'Corrected for a quarter of an hour' })
    expect((await grades()).map(({ points }) => Number(points))).toEqual([3, 4])
    service.clock.advance(MINUTE_MS)
    await grade(ctx, 1, 4, { comment: 'Then another' })
    expect((await grades()).map(({ points }) => Number(points))).toEqual([3, 4, 4])
  })

  it("never overwrites the other grader's, and shows it to the second grader", async () => {
    const { join, grade, grades } = await makeSubmitted(service)
    const [one, other] = [await join(), await join()]
    const seen = service.clock.now()
    service.clock.advance(1_000)
    const responses = await Promise.all([
      grade(one.ctx, 1, 1, { comment: 'Poor', seen }),
      grade(other.ctx, 1, 5, { comment: 'Fine', seen }),
    ])
    expect((await grades()).map(({ points, comment }) => [Number(points), comment]).sort()).toEqual([
      [1, 'Poor'],
      [5, 'Fine'],
    ])
    expect(responses.map(({ otherGrades }) => otherGrades.length).sort()).toEqual([0, 1])
  })

  it("isn't replaced by an older one from another tab, unless they are equal", async () => {
    const { join, grade, grades } = await makeSubmitted(service)
    const { ctx } = await join()
    const seen = service.clock.now()
    service.clock.advance(1_000)
    const first = await grade(ctx, 1, 3, { comment: 'Newer', seen })
    expect(await grade(ctx, 1, 3, { comment: 'Newer', seen })).toMatchObject({ isSaved: true })
    const refused = await grade(ctx, 1, 1, { comment: 'Older', seen })
    expect(refused).toMatchObject({ isSaved: false, ownGrade: { points: 3, comment: 'Newer' }, seen: first.seen })
    expect((await grades()).map(({ comment }) => comment)).toEqual(['Newer'])
    expect(await grade(ctx, 1, 1, { comment: 'Older', seen: refused.seen })).toMatchObject({ isSaved: true })
    expect((await grades()).map(({ comment }) => comment)).toEqual(['Older'])
  })

  it('may be given by assigned graders, by any grader while none is assigned, and by admins', async () => {
    const { join, grade, assign } = await makeSubmitted(service)
    const [mine, other, admin, client] = [await join(), await join(), await join(['admin']), await join(['client'])]
    await grade(other.ctx, 1, 1)
    await assign(mine.member.id)
    await grade(mine.ctx, 1, 2)
    await grade(admin.ctx, 1, 3)
    await expect(grade(other.ctx, 1, 4)).rejects.toMatchObject(UNKNOWN)
    await expect(grade(client.ctx, 1, 4)).rejects.toMatchObject({ kind: 'not_permitted' })
    const elsewhere = await makeSubmitted(service)
    const stranger = await elsewhere.join(['admin'])
    await expect(grade(stranger.ctx, 1, 4)).rejects.toMatchObject(UNKNOWN)
  })
})

describe('the grading queue', () => {
  it('follows assignment, takeover, and reassignment, and ends with the release', async () => {
    const { join, assign, submissionId, grade, release, stored } = await makeSubmitted(service)
    const [one, other, admin] = [await join(), await join(), await join(['admin'])]
    expect(await queue(one.ctx, 'nobody')).toEqual([submissionId])
    expect([await queue(one.ctx, 'mine'), await queue(admin.ctx, 'all')]).toEqual([[], [submissionId]])
    await expect(queue(one.ctx, 'all')).rejects.toMatchObject({ kind: 'not_permitted' })
    await takeGraderSlot(one.ctx, submissionId)
    expect((await stored()).assignedGraderId).toBe(one.member.id)
    expect([await queue(one.ctx, 'mine'), await queue(other.ctx, 'nobody')]).toEqual([[submissionId], []])
    await expect(takeGraderSlot(other.ctx, submissionId)).rejects.toMatchObject(UNKNOWN)
    await expect(reassignGrader(other.ctx, submissionId, { place: 'first', graderId: null })).rejects.toMatchObject(UNKNOWN)
    await reassignGrader(one.ctx, submissionId, { place: 'first', graderId: other.member.id })
    expect([await queue(one.ctx, 'mine'), await queue(other.ctx, 'mine')]).toEqual([[], [submissionId]])
    await assign(one.member.id)
    expect(await queue(one.ctx, 'mine')).toEqual([submissionId])
    for (const number of [1, 2]) await grade(one.ctx, number, 1)
    await release(one.ctx)
    expect([await queue(one.ctx, 'mine'), await queue(admin.ctx, 'all')]).toEqual([[], []])
  })

  it('lists the longest-waiting submission first', async () => {
    const first = await makeSubmitted(service)
    service.clock.advance(MINUTE_MS)
    const { ctx } = await first.join(['admin'])
    const { submissionId: id } = first
    const later = service.deps.newId()
    await service.db.$executeRaw`
      INSERT INTO submissions SELECT (jsonb_populate_record(s, jsonb_build_object('id', ${later}::text, 'submitted_at', ${service.clock.now()}::timestamptz))).*
      FROM submissions s WHERE id = ${id}::uuid`
    expect(await queue(ctx, 'all')).toEqual([id, later])
  })
})

describe('a result', () => {
  it('is released once in one event when all questions with points are graded, and rejects grades until reopened', async () => {
    const { join, grade, release, releases, submission, submissionId, invite, assign } = await makeSubmitted(service)
    const [{ ctx, member }, other] = [await join(), await join()]
    await assign(member.id)
    await grade(ctx, 1, 4.5, { comment: 'Good' })
    await expect(release(ctx)).rejects.toMatchObject(problem('ungraded', 2))
    await grade(ctx, 2, 0)
    await expect(release(other.ctx)).rejects.toMatchObject(UNKNOWN)
    const outcomes = await Promise.allSettled([release(ctx, { message: 'Well done', toCandidate: true }), release(ctx)])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect((await submission()).state).toBe('released')
    const [released] = await releases()
    expect([Number(released!.points), Number(released!.ofPoints), released!.version]).toEqual([4.5, 8, 1])
    expect(released!.grades).toEqual([
      { number: 1, points: 4.5, ofPoints: 5, comment: 'Good', graderId: member.id },
      { number: 2, points: 0, ofPoints: 3, comment: '', graderId: member.id },
    ])
    await expect(grade(ctx, 1, 5)).rejects.toMatchObject(problem('released'))
    await reopenResult(ctx, submissionId)
    await expect(reopenResult(ctx, submissionId)).rejects.toMatchObject(problem('notReleased'))
    await grade(ctx, 1, 5)
    await release(ctx)
    expect((await releases()).map(({ version, points }) => [version, Number(points)])).toEqual([
      [1, 4.5],
      [2, 5],
    ])
    const events = await service.db.event.findMany({
      where: { inviteId: invite.id, type: 'submission.released' },
      orderBy: { sequence: 'asc' },
    })
    const common = { inviteId: invite.id, assessmentId: invite.assessmentId, status: 'completed', submissionId }
    const reportUrl = expect.stringMatching(new RegExp(`^http.*/portal/${invite.organizationId}/results/${submissionId}$`))
    expect(events.map(({ data }) => data)).toEqual([
      { ...common, percent: 56.25, reportUrl },
      { ...common, percent: 62.5, reportUrl },
    ])
  })

  it("is the mean of two close grades, else an admin's decision", async () => {
    const { join, grade, release, releases, submissionId, assign } = await makeSubmitted(service, { secondGrader: true })
    const [first, second, third, admin] = [await join(), await join(), await join(), await join(['admin'])]
    await assign(first.member.id)
    await takeGraderSlot(second.ctx, submissionId)
    await expect(grade(third.ctx, 1, 1)).rejects.toMatchObject(UNKNOWN)
    await grade(first.ctx, 1, 4)
    await grade(first.ctx, 2, 0)
    await grade(second.ctx, 1, 4.5)
    await expect(release(first.ctx)).rejects.toMatchObject(problem('ungraded', 1))
    await expect(release(admin.ctx)).rejects.toMatchObject(problem('ungraded', 2))
    await grade(second.ctx, 2, 1)
    await expect(release(first.ctx)).rejects.toMatchObject(problem('undecided', 2))
    await expect(release(second.ctx)).rejects.toMatchObject(UNKNOWN)
    await grade(admin.ctx, 2, 0.5)
    await release(first.ctx)
    const [released] = await releases()
    expect([Number(released!.points), Number(released!.ofPoints)]).toEqual([5, 8])
  })
})
