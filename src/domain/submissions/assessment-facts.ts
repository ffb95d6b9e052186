import { assetIdIn } from '../assets/references.ts'
import type { Context } from '../context.ts'
import type { QuestionKinds } from '../ports/question-kind.ts'

/** Facts about an assessment's questions that candidates read before the start. */
export type AssessmentFacts = {
  questions: number
  /** Questions with a time limit, and the sum of their limits and preparation in seconds without extra time. */
  timed: number
  timedSeconds: number
  /** Number of questions with a preparation time. */
  prepared: number
  playsMedia: boolean
  takesRecordings: boolean
}

type FactsOfQuestion = { responseType: string; timeLimit: number; preparationTime: number; audioUrl: string; videoUrl: string }

export const toAssessmentFacts = (
  kinds: Pick<QuestionKinds, 'answering'>,
  questions: readonly FactsOfQuestion[],
): AssessmentFacts => ({
  questions: questions.length,
  timed: questions.filter(({ timeLimit }) => timeLimit > 0).length,
  timedSeconds: questions.reduce((sum, one) => sum + (one.timeLimit > 0 ? one.preparationTime + one.timeLimit : 0), 0),
  prepared: questions.filter(({ preparationTime }) => preparationTime > 0).length,
  playsMedia: questions.some(({ audioUrl, videoUrl }) => isMedium(audioUrl) || isMedium(videoUrl)),
  takesRecordings: questions.some(({ responseType }) => kinds.answering(responseType).records.length > 0),
})

const isMedium = (address: string): boolean => /^https?:\/\//i.test(address) || assetIdIn(address) !== null

export async function findAssessmentFacts(
  { db, deps, organization }: Context,
  { assessmentId }: { assessmentId: string },
): Promise<AssessmentFacts> {
  const select = { responseType: true, timeLimit: true, preparationTime: true, audioUrl: true, videoUrl: true }
  return toAssessmentFacts(
    deps.kinds,
    await db.question.findMany({ where: { organizationId: organization.id, assessmentId }, select }),
  )
}
