import { expect, it } from 'vitest'
import { scoreUnscored } from '../../src/domain/submissions/taking/score-unscored.ts'
import { examplesOf, makeDefined } from '../support/kinds.ts'
import { signInAs } from '../support/portal.ts'
import { startServiceForFile } from '../support/service.ts'
import { PATIENT } from '../support/wait-until.ts'

const service = await startServiceForFile()
const [ONE, SEVERAL] = examplesOf('single_choice', 'multiple_choice')

/** What each of the queues of a grader has, and the number beside the menu's word. */
async function queuesOf(organizationId: string) {
  const grader = await signInAs(service, organizationId, ['admin', 'grader'])
  const isIn = async (whose: string) => (await grader.get(`${grader.home}grading?whose=${whose}`)).text.includes('Waiting since')
  return { all: await isIn('all'), nobody: await isIn('nobody'), release: await isIn('release') }
}

it('keeps what scores itself out of the queues, and beside them as what is to be released', async () => {
  const made = await makeDefined(service, [ONE!, SEVERAL!])
  await made.start()
  expect((await made.submission()).needsPeople).toBeNull()
  await made.answer(1, ONE!.right)
  await made.answer(2, SEVERAL!.wrong)
  await made.candidate.press('finish')
  expect((await made.submission()).needsPeople).toBe(false)
  expect(await queuesOf(made.organization.id)).toEqual({ all: false, nobody: false, release: true })
})

it('keeps in the queues what has anything for people', async () => {
  const made = await makeDefined(service, [ONE!], { texts: 1 })
  await made.take([ONE!.right])
  expect((await made.submission()).needsPeople).toBe(true)
  expect(await queuesOf(made.organization.id)).toEqual({ all: true, nobody: true, release: false })
})

it('scores what a process that knows no scores has handed in, once', async () => {
  const made = await makeDefined(service, [ONE!])
  await made.start()
  await made.answer(1, ONE!.right)
  const now = service.deps.clock()
  const { id } = await made.submission()
  await service.db.submission.update({ where: { id }, data: { state: 'submitted', submittedAt: now } })
  await service.db.invite.update({ where: { id: made.invite.id }, data: { status: 'completed', completedAt: now } })
  await service.db.$transaction(
    async (tx) => {
      // Whoever changes it takes the invite first.
      await tx.$executeRaw`SELECT FROM invites WHERE id = ${made.invite.id}::uuid FOR UPDATE`
      expect(await scoreUnscored(service.system)).toBe(0)
    },
    { timeout: PATIENT.timeout },
  )
  await Promise.all([scoreUnscored(service.system), scoreUnscored(service.system)])
  await scoreUnscored(service.system)
  expect(await made.scores()).toEqual([10])
  expect((await made.submission()).needsPeople).toBe(false)
})

it('takes a wrong choice from the sum where the assessment says so, never no answer, and not below 0', async () => {
  const made = await makeDefined(service, [ONE!, SEVERAL!, ...examplesOf('number')])
  await service.db.assessment.update({ where: { id: made.assessment.id }, data: { penaltyPercent: 25 } })
  const submissionId = await made.take([ONE!.wrong, undefined, '1'])
  expect(await made.scores()).toEqual([-2.5, 0, 0])
  expect((await service.db.submission.findUniqueOrThrow({ where: { id: submissionId } })).penaltyPercent).toBe(25)
})
