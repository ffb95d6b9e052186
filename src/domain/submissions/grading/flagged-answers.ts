import { anyOfIds } from '../../../db/queries.ts'
import type { Context } from '../../context.ts'
import { chooseAnswer } from '../choose-answer.ts'
import { findRecordingProblem, type RecordingProblem } from '../media/levels.ts'

/** A recorded answer that may be unfit for grading. @property number of its question. */
export type FlaggedAnswer = { number: number; problem: RecordingProblem }

/** Flagged answers by submission, in order of their questions. The levels of a page of submissions are read: 600 bytes a minute of sound. */
export async function findFlaggedAnswers({ db }: Context, submissionIds: string[]): Promise<Map<string, FlaggedAnswer[]>> {
  const attempts = await db
    .selectFrom('answerAttempts')
    .leftJoin(db.table('mediaFiles'), 'mediaFiles.id', 'answerAttempts.mediaId')
    .where('answerAttempts.submissionId', '=', anyOfIds(submissionIds))
    .where(({ exists, ref }) =>
      exists(
        db
          .selectFrom('answerAttempts as recorded')
          .select('recorded.id')
          .where('recorded.submissionId', '=', ref('answerAttempts.submissionId'))
          .where('recorded.questionNumber', '=', ref('answerAttempts.questionNumber'))
          .where('recorded.mediaId', 'is not', null),
      ),
    )
    .select(['answerAttempts.submissionId', 'answerAttempts.questionNumber', 'answerAttempts.kind', 'answerAttempts.state'])
    .select(['answerAttempts.text', 'answerAttempts.createdAt', 'answerAttempts.completedAt', 'answerAttempts.wasInterrupted'])
    .select(['answerAttempts.selectedAt', 'answerAttempts.restarted', 'mediaFiles.levels', 'mediaFiles.milliseconds'])
    .orderBy('answerAttempts.questionNumber')
    .orderBy('answerAttempts.createdAt')
    .orderBy('answerAttempts.id')
    .execute()
  const flagged = new Map<string, FlaggedAnswer[]>()
  for (const ofQuestion of Map.groupBy(
    attempts,
    ({ submissionId, questionNumber }) => `${submissionId} ${questionNumber}`,
  ).values()) {
    const answer = chooseAnswer(ofQuestion)
    const problem = answer ? findRecordingProblem(answer) : null
    if (!answer || problem === null) continue
    const earlier = flagged.get(answer.submissionId) ?? []
    flagged.set(answer.submissionId, [...earlier, { number: answer.questionNumber, problem }])
  }
  return flagged
}
