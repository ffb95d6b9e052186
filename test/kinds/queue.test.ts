import { expect, it } from 'vitest'
import { examplesOf, makeDefined } from '../support/kinds.ts'
import { signInAs } from '../support/portal.ts'
import { startServiceForFile } from '../support/service.ts'

const service = await startServiceForFile()
const [ONE, SEVERAL] = examplesOf('single_choice', 'multiple_choice')

/** Reads which of a grader's queues have submissions. */
async function queuesOf(organizationId: string) {
  const grader = await signInAs(service, organizationId, ['admin', 'grader'])
  const isIn = async (whose: string) => (await grader.get(`${grader.home}grading?queue=${whose}`)).text.includes('Waiting since')
  return { all: await isIn('all'), nobody: await isIn('nobody'), release: await isIn('release') }
}

it('keeps automatically scored submissions out of the grading queue until release', async () => {
  const made = await makeDefined(service, [ONE!, SEVERAL!])
  await made.start()
  expect((await made.submission()).needsGrading).toBeNull()
  await made.answer(1, ONE!.right)
  await made.answer(2, SEVERAL!.wrong)
  await made.candidate.press('finish')
  expect((await made.submission()).needsGrading).toBe(false)
  expect(await queuesOf(made.organization.id)).toEqual({ all: false, nobody: false, release: true })
})

it('keeps submissions with work for graders in the queue', async () => {
  const made = await makeDefined(service, [ONE!], { texts: 1 })
  await made.take([ONE!.right])
  expect((await made.submission()).needsGrading).toBe(true)
  expect(await queuesOf(made.organization.id)).toEqual({ all: true, nobody: true, release: false })
})

it('deducts penalties from the sum for wrong choices only, and not below 0', async () => {
  const made = await makeDefined(service, [ONE!, SEVERAL!, ...examplesOf('number')])
  await service.db.assessment.update({ where: { id: made.assessment.id }, data: { penaltyPercent: 25 } })
  const submissionId = await made.take([ONE!.wrong, undefined, '1'])
  expect(await made.scores()).toEqual([-2.5, 0, 0])
  expect((await service.db.submission.findUniqueOrThrow({ where: { id: submissionId } })).penaltyPercent).toBe(25)
})
