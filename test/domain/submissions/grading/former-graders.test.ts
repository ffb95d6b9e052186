import { expect, it } from 'vitest'
import type { Context } from '../../../../src/domain/context.ts'
import { countQueues, listQueue, listQueuedAssessments } from '../../../../src/domain/submissions/grading/queue.ts'
import { reassignGrader, takeGraderSlot } from '../../../../src/domain/submissions/grading/reassign-grader.ts'
import type { QueueName } from '../../../../src/domain/submissions/grading/waiting-submissions.ts'
import { getSubmission } from '../../../../src/domain/submissions/reading/submission.ts'
import { makeSubmitted } from '../../../support/grading.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { itSlow } from '../../../support/slow.ts'

const service = await startServiceForFile()
const UNKNOWN = { kind: 'submission_not_found' }

/** Creates a submission with two graders, a third grader, and a function that makes members lose the right to grade. */
async function createTwiceGraded() {
  const made = await makeSubmitted(service, { secondGrader: true })
  const [first, second, third] = [await made.join(), await made.join(), await made.join()]
  await made.assign(first.member.id)
  await takeGraderSlot(second.ctx, made.submissionId)
  const change = (member: { id: string }, data: { status?: 'active' | 'inactive'; roles?: string[] }) =>
    service.db.member.update({ where: { id: member.id }, data })
  return { ...made, first, second, third, change }
}

const queued = async (ctx: Context, queue: QueueName) => (await listQueue(ctx, { queue }, { number: 1, size: 20 })).total

it("keeps a former grader's grades, and gives their place to another grader", async () => {
  const { first, second, third, change, grade, grades, submissionId, invite } = await createTwiceGraded()
  await grade(first.ctx, 1, 2, { comment: 'Of the first' })
  expect(await queued(third.ctx, 'nobody')).toBe(0)
  await expect(getSubmission(third.ctx, invite.id)).rejects.toMatchObject({ kind: 'not_permitted' })
  await expect(takeGraderSlot(third.ctx, submissionId)).rejects.toMatchObject(UNKNOWN)

  await change(first.member, { status: 'inactive' })
  expect([await queued(third.ctx, 'nobody'), await queued(third.ctx, 'mine')]).toEqual([1, 0])
  expect(await countQueues(third.ctx)).toContainEqual({ queue: 'nobody', count: 1 })
  expect(await listQueuedAssessments(third.ctx, { queue: 'nobody' })).toHaveLength(1)
  expect((await getSubmission(third.ctx, invite.id)).submission?.id).toBe(submissionId)
  await takeGraderSlot(third.ctx, submissionId)
  expect([await queued(third.ctx, 'nobody'), await queued(third.ctx, 'mine')]).toEqual([0, 1])
  for (const number of [1, 2]) await grade(third.ctx, number, 3)
  expect((await grades()).map(({ graderId, points, comment }) => [graderId, Number(points), comment])).toEqual([
    [first.member.id, 2, 'Of the first'],
    [third.member.id, 3, ''],
    [third.member.id, 3, ''],
  ])

  await change(first.member, { status: 'active' })
  await expect(grade(first.ctx, 1, 1)).rejects.toMatchObject(UNKNOWN)
  await change(second.member, { roles: ['client'] })
  await takeGraderSlot(first.ctx, submissionId)
  expect(await queued(first.ctx, 'mine')).toBe(1)
})

it('returns their place to former graders who come back before anybody has taken it', async () => {
  const { first, second, third, change, grade, submissionId } = await createTwiceGraded()
  for (const { member } of [first, second]) await change(member, { roles: ['client'] })
  expect(await queued(third.ctx, 'nobody')).toBe(1)
  for (const { member } of [first, second]) await change(member, { roles: ['grader'] })
  expect(await queued(third.ctx, 'nobody')).toBe(0)
  await expect(takeGraderSlot(third.ctx, submissionId)).rejects.toMatchObject(UNKNOWN)
  await grade(first.ctx, 1, 1)
  await expect(reassignGrader(third.ctx, submissionId, { place: 'second', graderId: null })).rejects.toMatchObject(UNKNOWN)
})

it('names former graders in the portal, and offers to take over', async () => {
  const { first, change, grade, organization, submissionId, invite } = await createTwiceGraded()
  await grade(first.ctx, 1, 2)
  await change(first.member, { status: 'inactive' })
  const person = await signInAs(service, organization.id, ['grader'])
  const queue = await person.get(`${person.home}grading?queue=nobody`)
  expect(queue.text).toContain('(no longer grades)')
  expect(queue.text).toContain('Take over')
  const sheet = await person.get(`${person.home}grading/${submissionId}`)
  expect(sheet.text).toContain('who no longer grades. The grades given so far are kept, and another grader can take it over.')
  expect((await person.post(`${person.home}grading/${submissionId}/take-over`)).status).toBe(303)
  expect((await person.get(`${person.home}grading/${submissionId}`)).text).not.toContain('no longer grades')
  expect((await service.db.invite.findUniqueOrThrow({ where: { id: invite.id } })).assignedGraderId).toBe(person.member.id)
})

itSlow('finds former graders in an organization with more twice-graded assessments than a statement has parameters', async () => {
  const { first, third, change, organization } = await createTwiceGraded()
  await service.db.$executeRaw`
    INSERT INTO assessments (id, organization_id, name, name_key, name_search, second_grader, skill_types, created_at, updated_at)
    SELECT gen_random_uuid(), ${organization.id}::uuid, 'Assessment ' || n, 'assessment ' || n, 'assessment ' || n, true, '{}', now(), now() FROM generate_series(1, 70000) n`
  expect(await queued(third.ctx, 'nobody')).toBe(0)
  await change(first.member, { status: 'inactive' })
  expect(await queued(third.ctx, 'nobody')).toBe(1)
})
