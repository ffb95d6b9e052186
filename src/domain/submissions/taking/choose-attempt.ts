import { sql } from '../../../db/builder.ts'
import type { Expressions, SqlBool } from '../../../db/queries.ts'
import { affectedRows } from '../../../db/statements.ts'
import { UPLOAD_GRACE_SECONDS } from '../../limits.ts'
import { isUuid } from '../../text/uuid.ts'
import { findOpenQuestion, isOpenAt } from './paper.ts'
import { refuseSession } from './refuse-session.ts'
import { type PreparedSession, refuseUnlessWritable, writableBy } from './session.ts'

// Stops and selects attempts. The page sends how long ago the candidate did so, because the request may have waited for a
// connection, and the candidate's clock may be wrong. A retry sends the original time.

/**
 * Records when the candidate stopped a recording. Repeatable. Accepted as long as its uploads are.
 *
 * @param ago milliseconds before now. @throws DomainError session_refused: not_found; closed, also if it was abandoned.
 */
export async function stopAttempt({ ctx, submission }: PreparedSession, mediaId: string, ago: number): Promise<void> {
  const { db, deps, organization } = ctx
  const now = deps.clock()
  const where = { organizationId: organization.id, submissionId: submission.id, mediaId }
  const attempt = isUuid(mediaId) ? await db.answerAttempt.findFirst({ where }) : null
  if (!attempt) return refuseSession('not_found')
  if (attempt.completedAt && !attempt.wasInterrupted) return
  const stop = ctx.db
    .updateTable('answerAttempts')
    .from([ctx.db.table('submissions'), ctx.db.table('submissionQuestions')])
    .set(({ ref }) => ({
      completedAt: sql<Date>`greatest(${ref('answerAttempts.createdAt')}, ${millisecondsBefore(now, ago)}::timestamptz)`,
      wasInterrupted: false,
    }))
    .where(isOfItsQuestion)
    .where('answerAttempts.id', '=', attempt.id)
    .where('answerAttempts.state', '<>', 'abandoned')
    .where((eb) => eb.or([eb('answerAttempts.completedAt', 'is', null), eb('answerAttempts.wasInterrupted', '=', true)]))
    .where((eb) => acceptsReportsAt(eb, now))
  if ((await affectedRows(stop)) > 0) return
  const present = await db.answerAttempt.findFirstOrThrow({ where: { ...where, id: attempt.id } })
  if (present.state === 'abandoned' || present.wasInterrupted || !present.completedAt) refuseSession('closed')
}

/**
 * Chooses an attempt as the answer to an open question, until the candidate stops another recording, changes the text, or chooses again.
 *
 * @param ago milliseconds before now. @param attemptId an answered attempt, see answer.ts.
 * @throws DomainError session_refused: not_found, closed, submitted, taken_over.
 */
export async function chooseAttempt(
  session: PreparedSession,
  number: number,
  { attempt: attemptId, ago }: { attempt: string; ago: number },
): Promise<void> {
  const { ctx, submission } = session
  const now = ctx.deps.clock()
  const choose = ctx.db
    .updateTable('answerAttempts')
    .from([ctx.db.table('submissions'), ctx.db.table('submissionQuestions')])
    .set(({ ref }) => ({
      selectedAt: sql<Date>`greatest(${ref('answerAttempts.createdAt')}, ${ref('answerAttempts.selectedAt')}, ${millisecondsBefore(now, ago)}::timestamptz)`,
    }))
    .where(isOfItsQuestion)
    .where('answerAttempts.submissionId', '=', submission.id)
    .where('answerAttempts.id', '=', attemptId)
    .where('answerAttempts.questionNumber', '=', number)
    .where('answerAttempts.state', '=', 'complete')
    .where((eb) => writableBy(session)(eb))
    .where((eb) => isOpenAt(eb, now))
  if ((await affectedRows(choose)) > 0) return
  await refuseUnlessWritable(session)
  refuseSession((await findOpenQuestion(session, number)) ? 'not_found' : 'closed')
}

/** True until the grace period for uploads ends. */
export const acceptsReportsAt = ({ ref }: Expressions<'submissions' | 'submissionQuestions'>, now: Date) => {
  const graceStart = new Date(now.getTime() - UPLOAD_GRACE_SECONDS * 1_000)
  const ends = [ref('submissionQuestions.closedAt'), ref('submissionQuestions.closesAt'), ref('submissions.submittedAt')]
  return sql<SqlBool>`coalesce(least(${sql.join([...ends, ref('submissions.deadlineAt')])}) > ${graceStart}, true)`
}

/** Joins an attempt to its question and submission. */
export const isOfItsQuestion = ({ and, eb, ref }: Expressions<'answerAttempts' | 'submissions' | 'submissionQuestions'>) =>
  and([
    eb('submissions.id', '=', ref('answerAttempts.submissionId')),
    eb('submissionQuestions.submissionId', '=', ref('answerAttempts.submissionId')),
    eb('submissionQuestions.number', '=', ref('answerAttempts.questionNumber')),
  ])

const millisecondsBefore = (now: Date, ago: number): Date => new Date(Math.max(0, now.getTime() - ago))
