import { assetIdIn } from '../assets/references.ts'
import type { Context } from '../context.ts'
import type { QuestionKinds } from '../ports/question-kind.ts'

/** Facts about an assessment's questions that candidates read before the start. */
export type AssessmentFacts = {
  questions: number
  /** How many questions have a time limit, and how long these limits are together, in seconds without extra time. */
  timed: number
  timedSeconds: number
  playsMedia: boolean
  takesRecordings: boolean
}

type FactsOfQuestion = { responseType: string; timeLimit: number; audioUrl: string; videoUrl: string }

export const toAssessmentFacts = (
  kinds: Pick<QuestionKinds, 'answering'>,
  questions: readonly FactsOfQuestion[],
): AssessmentFacts => ({
  questions: questions.length,
  timed: questions.filter(({ timeLimit }) => timeLimit > 0).length,
  timedSeconds: questions.reduce((sum, { timeLimit }) => sum + timeLimit, 0),
  playsMedia: questions.some(({ audioUrl, videoUrl }) => isMedium(audioUrl) || isMedium(videoUrl)),
  takesRecordings: questions.some(({ responseType }) => kinds.answering(responseType).records.length > 0),
})

const isMedium = (address: string): boolean => /^https?:\/\//i.test(address) || assetIdIn(address) !== null

export async function findAssessmentFacts(
  { db, deps, organization }: Context,
  { assessmentId }: { assessmentId: string },
): Promise<AssessmentFacts> {
  const select = { responseType: true, timeLimit: true, audioUrl: true, videoUrl: true }
  return toAssessmentFacts(
    deps.kinds,
    await db.question.findMany({ where: { organizationId: organization.id, assessmentId }, select }),
  )
}
