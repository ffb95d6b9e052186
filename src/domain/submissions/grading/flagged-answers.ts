import { anyOf } from '../../../db/query.ts'
import type { Context } from '../../context.ts'
import { chooseAnswer } from '../choose-answer.ts'
import { findRecordingProblem, type RecordingProblem } from '../media/levels.ts'

/** A recorded answer that may be unfit for grading. @property number of its question. */
export type FlaggedAnswer = { number: number; problem: RecordingProblem }

/** Flagged answers by submission, in order of their questions. The levels of a page of submissions are read: 600 bytes a minute of sound. */
export async function findFlaggedAnswers(
  { db, organization }: Context,
  submissionIds: string[],
): Promise<Map<string, FlaggedAnswer[]>> {
  const attempts = await db.answerAttempt.findMany({
    where: {
      organizationId: organization.id,
      submissionId: anyOf(submissionIds),
      question: { attempts: { some: { mediaId: { not: null } } } },
    },
    include: { media: { select: { levels: true, milliseconds: true } } },
    orderBy: [{ questionNumber: 'asc' }, { createdAt: 'asc' }, { id: 'asc' }],
  })
  const flagged = new Map<string, FlaggedAnswer[]>()
  for (const ofQuestion of Map.groupBy(attempts, (attempt) => `${attempt.submissionId} ${attempt.questionNumber}`).values()) {
    const answer = chooseAnswer(ofQuestion)
    const problem = answer?.media ? findRecordingProblem(answer.media) : null
    if (!answer || problem === null) continue
    const earlier = flagged.get(answer.submissionId) ?? []
    flagged.set(answer.submissionId, [...earlier, { number: answer.questionNumber, problem }])
  }
  return flagged
}
