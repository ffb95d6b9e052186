import { UPLOAD_GRACE_SECONDS } from '../limits.ts'
import { isUuid } from '../uuid.ts'
import { findOpenQuestion, openAt } from './paper.ts'
import { refuseSession } from './refusals.ts'
import { type PreparedSession, refuseUnlessWritable, writableBy } from './session.ts'

// What a candidate does with an attempt. When they did it is told as how long ago that was: a request may have waited for the connection,
// and their clock may be wrong. Repeated, it says the time of the first again.

/**
 * Keeps that the candidate has stopped the recording of an answer, at the moment that they did. Once more changes nothing. It is taken as long as
 * what was recorded is.
 *
 * @param ago milliseconds before now.
 * @throws DomainError session_refused: not_found; closed, also for one that was abandoned.
 */
export async function stopTake({ ctx, submission }: PreparedSession, mediaId: string, ago: number): Promise<void> {
  const { db, deps, organization } = ctx
  const now = deps.clock()
  const over = new Date(now.getTime() - UPLOAD_GRACE_SECONDS * 1_000)
  const where = { organizationId: organization.id, submissionId: submission.id, mediaId }
  const take = isUuid(mediaId) ? await db.take.findFirst({ where }) : null
  if (!take) return refuseSession('not_found')
  if (take.completedAt && !take.cutOff) return
  const stopped = await db.$executeRaw`
    UPDATE takes t SET completed_at = GREATEST(t.created_at, ${before(now, ago)}::timestamptz), cut_off = false
    FROM submissions s, paper_questions q
    WHERE t.organization_id = ${organization.id}::uuid AND t.id = ${take.id}::uuid AND t.state <> 'abandoned'
      AND (t.completed_at IS NULL OR t.cut_off)
      AND s.organization_id = t.organization_id AND s.id = t.submission_id
      AND q.organization_id = t.organization_id AND q.submission_id = t.submission_id AND q.number = t.question_number
      AND COALESCE(LEAST(q.closed_at, q.closes_at, s.submitted_at, s.deadline_at) > ${over}, true)`
  if (stopped > 0) return
  const present = await db.take.findFirstOrThrow({ where: { ...where, id: take.id } })
  if (present.state === 'abandoned' || present.cutOff || !present.completedAt) refuseSession('closed')
}

/**
 * Makes one of the attempts at an open question its answer, until the candidate stops another recording, changes the text, or chooses
 * again.
 *
 * @param ago milliseconds before now. @param takeId of one that stands, see answer.ts.
 * @throws DomainError session_refused: not_found, closed, submitted, taken_over.
 */
export async function chooseTake(
  session: PreparedSession,
  number: number,
  { take: takeId, ago }: { take: string; ago: number },
): Promise<void> {
  const { ctx, submission } = session
  const { db, deps, organization } = ctx
  const now = deps.clock()
  const chosen = await db.$executeRaw`
    UPDATE takes t SET chosen_at = GREATEST(t.created_at, t.chosen_at, ${before(now, ago)}::timestamptz)
    FROM submissions s, paper_questions p
    WHERE t.organization_id = ${organization.id}::uuid AND t.submission_id = ${submission.id}::uuid AND t.id = ${takeId}::uuid
      AND t.question_number = ${number} AND t.state = 'complete'
      AND s.organization_id = t.organization_id AND s.id = t.submission_id AND ${writableBy(session)}
      AND p.organization_id = t.organization_id AND p.submission_id = t.submission_id AND p.number = t.question_number AND ${openAt(now)}`
  if (chosen > 0) return
  await refuseUnlessWritable(session)
  refuseSession((await findOpenQuestion(session, number)) ? 'not_found' : 'closed')
}

const before = (now: Date, ago: number): Date => new Date(Math.max(0, now.getTime() - ago))
