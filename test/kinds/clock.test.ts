import { expect, it } from 'vitest'
import { completeDueSubmissions } from '../../src/domain/submissions/taking/complete-due-submissions.ts'
import { examplesOf, makeDefined } from '../support/kinds.ts'
import { startServiceForFile } from '../support/service.ts'
import { openTab } from '../support/taking.ts'

const service = await startServiceForFile()
const [ONE] = examplesOf('single_choice')
const LIMIT_SECONDS = 60

/** Ends the time limit and the grace period for uploads, and completes the submission. */
async function endTime({ submission }: { submission: () => Promise<{ id: string }> }): Promise<void> {
  const { id } = await submission()
  await service.db.submission.update({ where: { id }, data: { deadlineAt: new Date(service.deps.clock().getTime() - 60_000) } })
  await completeDueSubmissions(service.system)
}

it.each([
  ['not answered', async () => {}, 0],
  ['answered', (save: Save) => save('answer=qkzvwtab'), 10],
  ['answered with an invalid value', (save: Save) => save('answer=nooption'), 0],
  [
    'answered correctly, then with an invalid value',
    async (save: Save) => [await save('answer=qkzvwtab'), await save('answer=a&answer=b')],
    10,
  ],
] as const)('submits and scores a question that is %s when the time is over', async (_, act, points) => {
  const made = await makeDefined(service, [ONE!], { timeLimit: LIMIT_SECONDS })
  await made.start()
  const tab = await openTab(service, made.candidate)
  await made.candidate.press('open', { number: '1' })
  let revision = 0
  await act((text) => made.candidate.session('put', '/questions/1/text', { tab, body: { text, revision: ++revision } }))
  await endTime(made)
  expect(await made.submission()).toMatchObject({ state: 'submitted', needsGrading: false })
  expect(await made.scores()).toEqual([points])
})

type Save = (text: string) => PromiseLike<unknown>
