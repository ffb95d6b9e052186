import type { Rubric } from '../../src/domain/assessments/rubric.ts'
import type { Service } from './service.ts'

type Asked = { points?: number; rubric?: Rubric; script?: string; targetLanguage?: string }
type Options = Asked & { assignedGraderId?: string; secondGrader?: boolean }

/** Adds rows of submissions with text answers to the only question of an assessment. The question has ten points by default. */
export async function makeAnswers(
  service: Service,
  texts: string[],
  { assignedGraderId, secondGrader = false, ...asked }: Options = {},
) {
  const organization = await service.make.organization()
  const organizationId = organization.id
  const assessment = await service.make.assessment(organizationId, { secondGrader })
  const { points = 10, rubric = null, script = 'What would you do first?', targetLanguage } = asked
  const question = await service.make.question(assessment, { points, script, ...(rubric && { rubric }) })
  const submissions: { id: string; inviteId: string }[] = []
  for (const [i, text] of texts.entries()) {
    const invite = await service.make.invite(assessment, { status: 'completed', recipientName: `Candidate number ${i + 1}` })
    if (assignedGraderId) await service.db.invite.update({ where: { id: invite.id }, data: { assignedGraderId } })
    submissions.push({ id: await addAnswer(invite.id, text), inviteId: invite.id })
  }

  async function addAnswer(inviteId: string, text: string): Promise<string> {
    const [id, at] = [service.deps.newId(), service.clock.now()]
    const limits = { questionReplayLimit: 1, answerRecordLimit: 1 }
    const times = { startedAt: at, submittedAt: at, createdAt: at, updatedAt: at }
    const of = { organizationId, assessmentId: assessment.id, inviteId }
    await service.db.submission.create({ data: { id, ...of, ...limits, ...times, state: 'submitted' } })
    const own = { organizationId, submissionId: id }
    const { inputType, responseType, audioUrl, videoUrl, timeLimit } = question
    const copied = { inputType, responseType, audioUrl, videoUrl, timeLimit, script, points, ...(rubric && { rubric }) }
    const paper = { ...own, number: 1, questionId: question.id, ...copied, ...(targetLanguage && { targetLanguage }) }
    await service.db.submissionQuestion.create({ data: paper })
    const attempt = { kind: 'text', state: 'complete', text, createdAt: at, completedAt: at } as const
    await service.db.answerAttempt.create({ data: { id: service.deps.newId(), ...own, questionNumber: 1, ...attempt } })
    return id
  }

  const grades = () => service.db.grade.findMany({ where: { organizationId }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] })
  return { organization, assessment, question, submissions, grades }
}
