import { expect, it } from 'vitest'
import type { Context } from '../../../../src/domain/context.ts'
import { readGradingView } from '../../../../src/domain/submissions/grading/grading-view.ts'
import { listQueue } from '../../../../src/domain/submissions/grading/queue.ts'
import { makeSubmitted } from '../../../support/grading.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()

/** Creates a submission with two graders, of an assessment with a third grader. */
async function makeTwiceGraded(thirdGrader = true) {
  const made = await makeSubmitted(service, { secondGrader: true })
  await service.db.assessment.update({ where: { id: made.assessment.id }, data: { thirdGrader } })
  const [first, second, third] = [await made.join(), await made.join(), await made.join()]
  await made.assign(first.member.id)
  await service.db.submission.update({ where: { id: made.submissionId }, data: { secondGraderId: second.member.id } })
  const grade = (points: [one: number, other: number]) =>
    Promise.all([first, second].map(({ ctx }, i) => made.grade(ctx, 1, points[i]!).then(() => made.grade(ctx, 2, 3))))
  return { ...made, first, second, third, gradeBoth: grade }
}

const queueOf = async (ctx: Context) =>
  (await listQueue(ctx, { queue: 'nobody' }, { number: 1, size: 20 })).items.map(({ id }) => id)
const notFound = { kind: 'submission_not_found' }

it('decides where the two differ by more than 20 %, finds it in the queue, and the result says so', async () => {
  const { first, second, third, gradeBoth, grade, release, releases, submissionId, organization } = await makeTwiceGraded()
  await expect(readGradingView(third.ctx, submissionId)).rejects.toMatchObject(notFound)
  await gradeBoth([5, 3])
  expect([await queueOf(third.ctx), await queueOf(first.ctx), await queueOf(second.ctx)]).toEqual([[submissionId], [], []])
  const { progress, round, mayRelease } = await readGradingView(third.ctx, submissionId)
  expect([round, progress.undecided, mayRelease]).toEqual([3, [1], false])

  const grader = await signInAs(service, organization.id, ['grader'])
  expect((await grader.get(`${grader.home}grading?queue=nobody`)).text).toContain('a third grader has to decide')
  expect((await grader.get(`${grader.home}grading/${submissionId}`)).text).toContain(
    'a third grader has to decide by giving points here',
  )

  await grade(third.ctx, 1, 4.5, { comment: 'Closer to the first' })
  expect(await queueOf(third.ctx)).toEqual([])
  // The third grader can still correct their decision.
  expect((await readGradingView(third.ctx, submissionId)).progress.undecided).toEqual([])
  await expect(release(third.ctx)).rejects.toMatchObject(notFound)
  await release(first.ctx)
  const [released] = await releases()
  expect(released!.grades).toMatchObject([
    { number: 1, points: 4.5, decidedBy: 'third_grader', graderId: third.member.id },
    { number: 2, points: 3, decidedBy: 'two_graders' },
  ])
})

it('has nothing to do where the two agree, or where an admin decides', async () => {
  const agreed = await makeTwiceGraded()
  await agreed.gradeBoth([5, 4])
  expect(await queueOf(agreed.third.ctx)).toEqual([])
  await expect(readGradingView(agreed.third.ctx, agreed.submissionId)).rejects.toMatchObject(notFound)

  const byAdmin = await makeTwiceGraded(false)
  await byAdmin.gradeBoth([5, 1])
  expect(await queueOf(byAdmin.third.ctx)).toEqual([])
  await expect(readGradingView(byAdmin.third.ctx, byAdmin.submissionId)).rejects.toMatchObject(notFound)
  const admin = await byAdmin.join(['admin'])
  await byAdmin.grade(admin.ctx, 1, 2)
  await byAdmin.release(admin.ctx)
  expect((await byAdmin.releases())[0]!.grades).toMatchObject([{ decidedBy: 'admin' }, { decidedBy: 'two_graders' }])
})
