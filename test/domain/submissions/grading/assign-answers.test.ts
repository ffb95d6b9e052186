import { expect, it } from 'vitest'
import { toAssessmentInput } from '../../../../src/domain/assessments/assessment-input.ts'
import { getAssessment } from '../../../../src/domain/assessments/assessments.ts'
import { updateAssessment } from '../../../../src/domain/assessments/edit-assessments.ts'
import type { Context } from '../../../../src/domain/context.ts'
import { changeMember, deactivateMember } from '../../../../src/domain/members/manage-members.ts'
import { countAnswersWithoutGrader } from '../../../../src/domain/submissions/grading/answers-without-grader.ts'
import { assignAnswers } from '../../../../src/domain/submissions/grading/assign-answers.ts'
import { readGradingView } from '../../../../src/domain/submissions/grading/grading-view.ts'
import { listQueue } from '../../../../src/domain/submissions/grading/queue.ts'
import { reassignGrader, takeGraderSlot } from '../../../../src/domain/submissions/grading/reassign-grader.ts'
import { reopenResult } from '../../../../src/domain/submissions/grading/release-result.ts'
import type { QueueName } from '../../../../src/domain/submissions/grading/waiting-submissions.ts'
import { getSubmission } from '../../../../src/domain/submissions/reading/submission.ts'
import { makeSubmitted, submitAnother } from '../../../support/grading.ts'
import { links } from '../../../support/links.ts'
import { startServiceForFile } from '../../../support/service.ts'
import type { Taken } from '../../../support/taking.ts'

const service = await startServiceForFile()
const join = links(service.db)

/** Creates a submission with an English answer for five points and a Basque one for three, both without a grader. */
async function createSubmission({ questions, ...of }: Taken & { secondGrader?: boolean } = {}) {
  for (const code of ['en', 'es', 'eu']) await service.make.language(code)
  const asked = questions ?? [
    { points: 5, sourceLanguage: 'es', targetLanguage: 'en' },
    { points: 3, sourceLanguage: 'es', targetLanguage: 'eu' },
  ]
  const made = await makeSubmitted(service, { questions: asked, ...of })
  const { organization, assessment, submissionId } = made
  const admin = await made.join(['admin'])
  const grader = async (...codes: string[]) => {
    const joined = await made.join()
    await join.addGradingLanguages(joined.member, ...(await Promise.all(codes.map((code) => service.make.language(code)))))
    return joined
  }
  /** Switches automatic assignment on or off, as an admin. */
  const setAssigning = async (assignsGraders: boolean) => {
    const row = await getAssessment(admin.ctx, assessment.id)
    await updateAssessment(admin.ctx, row.id, { ...(await toAssessmentInput(admin.ctx, row)), assignsGraders }, row.updatedAt)
  }
  const rows = async (id = submissionId) => {
    const found = await service.db.gradingAssignment.findMany({
      where: { submissionId: id },
      orderBy: [{ questionNumber: 'asc' }, { round: 'asc' }],
    })
    return found.map(({ questionNumber, round, graderId }) => [questionNumber, round, graderId])
  }
  const sweep = () => assignAnswers({ ...service.system })
  return { ...made, organization, admin, grader, setAssigning, rows, sweep }
}

const queued = async (ctx: Context, queue: QueueName, more: { myLanguages?: boolean } = {}) =>
  (await listQueue(ctx, { queue, ...more }, { number: 1, size: 20 })).items.map(({ id }) => id)

it('assigns each answer to a grader of its language, who grades that one only', async () => {
  const { grader, setAssigning, sweep, rows, submissionId, grade, release, invite } = await createSubmission()
  const [english, basque, other] = [await grader('en'), await grader('eu'), await grader('es')]
  await setAssigning(true)
  await sweep()
  expect(await rows()).toEqual([
    [1, 1, english.member.id],
    [2, 1, basque.member.id],
  ])
  expect([await queued(english.ctx, 'mine'), await queued(other.ctx, 'nobody')]).toEqual([[submissionId], []])
  await expect(readGradingView(other.ctx, submissionId)).rejects.toMatchObject({ kind: 'submission_not_found' })
  await expect(getSubmission(other.ctx, invite.id)).rejects.toMatchObject({ kind: 'not_permitted' })
  expect((await getSubmission(english.ctx, invite.id)).submission?.id).toBe(submissionId)
  const view = await readGradingView(english.ctx, submissionId)
  expect(view.questions.map(({ assignedTo }) => assignedTo === null)).toEqual([true, false])
  expect(view.progress).toMatchObject({ isOwnPart: true, questions: 1, ungraded: [1] })
  const refused = { kind: 'invalid', issues: [{ problem: 'assignedToOther', limit: 2 }] }
  await expect(grade(english.ctx, 2, 1)).rejects.toMatchObject(refused)

  await grade(english.ctx, 1, 4)
  expect([await queued(english.ctx, 'mine'), await queued(english.ctx, 'others')]).toEqual([[], [submissionId]])
  await grade(basque.ctx, 2, 2)
  expect([await queued(english.ctx, 'mine'), await queued(basque.ctx, 'mine')]).toEqual([[submissionId], [submissionId]])
  await release(basque.ctx)
  expect(await queued(english.ctx, 'mine')).toEqual([])
  await reopenResult(basque.ctx, submissionId)
  expect(await queued(english.ctx, 'mine')).toEqual([submissionId])
})

it('chooses the grader with the least open work, and keeps answers of one language together', async () => {
  const questions = ['en', 'en'].map((targetLanguage) => ({ points: 2, targetLanguage }))
  const { grader, setAssigning, sweep, rows, assessment, submissionId } = await createSubmission({ questions })
  const [one, two] = [await grader('en'), await grader('en')]
  await setAssigning(true)
  await sweep()
  const [[, , first], [, , second]] = (await rows()) as [unknown[], unknown[]]
  expect(second).toBe(first)
  const { submissionId: next } = await submitAnother(service, assessment, { answers: 2 })
  expect(next).not.toBe(submissionId)
  await sweep()
  const other = first === one.member.id ? two.member.id : one.member.id
  expect((await rows(next)).map(([, , graderId]) => graderId)).toEqual([other, other])
})

it('takes the source language without a target language, and any grader without either', async () => {
  const questions = [{ points: 1, sourceLanguage: 'es' }, { points: 1 }]
  const { grader, setAssigning, sweep, rows } = await createSubmission({ questions })
  const spanish = await grader('es-MX')
  const general = await grader('es')
  await setAssigning(true)
  await sweep()
  const graders = (await rows()).map(([, , graderId]) => graderId)
  expect(graders).toEqual([general.member.id, spanish.member.id])
})

it('never gives one answer to the same grader twice', async () => {
  const { grader, setAssigning, sweep, rows, submissionId, admin } = await createSubmission({ secondGrader: true })
  const both = await grader('en', 'eu')
  await setAssigning(true)
  await sweep()
  expect((await rows()).filter(([, , graderId]) => graderId !== null)).toEqual([
    [1, 1, both.member.id],
    [2, 1, both.member.id],
  ])
  await expect(
    service.db.gradingAssignment.updateMany({ where: { submissionId, round: 2 }, data: { graderId: both.member.id } }),
  ).rejects.toMatchObject({ code: 'P2002' })
  const second = await grader('en', 'eu')
  await sweep()
  expect((await rows()).map(([, , graderId]) => graderId)).toEqual([
    both.member.id,
    second.member.id,
    both.member.id,
    second.member.id,
  ])
  await reassignGrader(admin.ctx, submissionId, { place: 'second', graderId: both.member.id })
  await sweep()
  expect((await rows()).filter(([, round]) => round === 1).map(([, , graderId]) => graderId)).not.toContain(both.member.id)
})

it('leaves the whole submission to the grader of the invite', async () => {
  const { grader, setAssigning, sweep, rows, assign, submissionId, grade } = await createSubmission()
  const [whole, english] = [await grader(), await grader('en')]
  await assign(whole.member.id)
  await setAssigning(true)
  await sweep()
  expect((await rows()).map(([, , graderId]) => graderId)).toEqual([null, null])
  for (const number of [1, 2]) await grade(whole.ctx, number, 1)
  await assign(null)
  await sweep()
  expect(await queued(english.ctx, 'mine')).toEqual([submissionId])
  await assign(whole.member.id)
  expect(await queued(english.ctx, 'mine')).toEqual([])
})

it('counts answers that nobody fits, and assigns them once somebody does', async () => {
  const { grader, setAssigning, sweep, rows, admin } = await createSubmission()
  const english = await grader('en')
  await setAssigning(true)
  await sweep()
  expect(await countAnswersWithoutGrader(admin.ctx)).toEqual([])
  service.clock.advance(3 * 60_000)
  expect(await countAnswersWithoutGrader(admin.ctx)).toEqual([{ language: 'eu', count: 1 }])
  expect(await queued(english.ctx, 'nobody')).toEqual([])
  const basque = await service.make.language('eu')
  const languageIds = [(await service.make.language('en')).id, basque.id]
  await changeMember(admin.ctx, english.member.id, { languageIds })
  await sweep()
  expect((await rows()).map(([, , graderId]) => graderId)).toEqual([english.member.id, english.member.id])
  expect(await countAnswersWithoutGrader(admin.ctx)).toEqual([])
})

it('moves only answers that nobody began when a grader loses a language or leaves', async () => {
  const questions = ['en', 'en'].map((targetLanguage) => ({ points: 2, targetLanguage }))
  const { grader, setAssigning, sweep, rows, admin, grade } = await createSubmission({ questions })
  const first = await grader('en')
  await setAssigning(true)
  await sweep()
  await grade(first.ctx, 1, null, { comment: 'Begun' })
  const next = await grader('en')
  await changeMember(admin.ctx, first.member.id, { languageIds: [] })
  await sweep()
  expect((await rows()).map(([, , graderId]) => graderId)).toEqual([first.member.id, next.member.id])
  await deactivateMember(admin.ctx, next.member.id)
  await sweep()
  expect((await rows()).map(([, , graderId]) => graderId)).toEqual([first.member.id, null])
})

it('takes back answers that nobody began when the assessment stops assigning', async () => {
  const { grader, setAssigning, sweep, rows, grade } = await createSubmission()
  const english = await grader('en', 'eu')
  await setAssigning(true)
  await sweep()
  await grade(english.ctx, 2, 1)
  await setAssigning(false)
  await sweep()
  expect(await rows()).toEqual([[2, 1, english.member.id]])
})

it('limits the queue to the languages of the grader', async () => {
  const { grader, submissionId } = await createSubmission({
    questions: [
      { points: 1, targetLanguage: 'en' },
      { points: 1, targetLanguage: 'en' },
    ],
  })
  const [english, basque] = [await grader('en'), await grader('eu')]
  const both = async (ctx: Context) => [await queued(ctx, 'nobody'), await queued(ctx, 'nobody', { myLanguages: true })]
  expect(await both(english.ctx)).toEqual([[submissionId], [submissionId]])
  expect(await both(basque.ctx)).toEqual([[submissionId], []])
  await takeGraderSlot(basque.ctx, submissionId)
  expect(await queued(basque.ctx, 'mine', { myLanguages: true })).toEqual([submissionId])
})

it('assigns within the organization only', async () => {
  const { setAssigning, sweep, rows } = await createSubmission()
  const stranger = await service.make.organization()
  const member = await service.make.member(stranger.id, { roles: ['grader'] })
  await join.addGradingLanguages(member, await service.make.language('en'))
  await setAssigning(true)
  await sweep()
  expect((await rows()).map(([, , graderId]) => graderId)).toEqual([null, null])
})

it('shows a variant to graders of its language, and a submission drawn by an earlier release to all', async () => {
  const { grader, submissionId } = await createSubmission({
    questions: [
      { points: 1, sourceLanguage: 'es-MX' },
      { points: 0, targetLanguage: 'eu' },
    ],
  })
  const graders = [await grader('es'), await grader('es-MX'), await grader('eu')]
  const shown = () => Promise.all(graders.map(({ ctx }) => queued(ctx, 'nobody', { myLanguages: true })))
  expect(await shown()).toEqual([[submissionId], [submissionId], []])
  await service.db.$executeRaw`UPDATE submissions SET graded_languages = NULL WHERE id = ${submissionId}::uuid`
  expect(await shown()).toEqual([[submissionId], [submissionId], [submissionId]])
})
