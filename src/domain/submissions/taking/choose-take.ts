import { sql } from '../../../db/builder.ts'
import { type Expressions, ownUpdate, type SqlBool, sameOwner } from '../../../db/own.ts'
import { run } from '../../../db/statements.ts'
import { UPLOAD_GRACE_SECONDS } from '../../limits.ts'
import { isUuid } from '../../values/uuid.ts'
import { findOpenQuestion, openAt } from './paper.ts'
import { refuseSession } from './refuse-session.ts'
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
  if (take.completedAt && !take.wasInterrupted) return
  const stop = ownUpdate(ctx, 'takes')
    .from(['submissions', 'submissionQuestions'])
    .set(({ ref }) => ({
      completedAt: sql<Date>`greatest(${ref('takes.createdAt')}, ${before(now, ago)}::timestamptz)`,
      wasInterrupted: false,
    }))
    .where(isOfItsQuestion)
    .where('takes.id', '=', take.id)
    .where('takes.state', '<>', 'abandoned')
    .where((eb) => eb.or([eb('takes.completedAt', 'is', null), eb('takes.wasInterrupted', '=', true)]))
    .where(({ ref }) => {
      const ends = [ref('submissionQuestions.closedAt'), ref('submissionQuestions.closesAt'), ref('submissions.submittedAt')]
      return sql<SqlBool>`coalesce(least(${sql.join([...ends, ref('submissions.deadlineAt')])}) > ${over}, true)`
    })
  if ((await run(db, stop)) > 0) return
  const present = await db.take.findFirstOrThrow({ where: { ...where, id: take.id } })
  if (present.state === 'abandoned' || present.wasInterrupted || !present.completedAt) refuseSession('closed')
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
  const now = ctx.deps.clock()
  const choose = ownUpdate(ctx, 'takes')
    .from(['submissions', 'submissionQuestions'])
    .set(({ ref }) => ({
      selectedAt: sql<Date>`greatest(${ref('takes.createdAt')}, ${ref('takes.selectedAt')}, ${before(now, ago)}::timestamptz)`,
    }))
    .where(isOfItsQuestion)
    .where('takes.submissionId', '=', submission.id)
    .where('takes.id', '=', takeId)
    .where('takes.questionNumber', '=', number)
    .where('takes.state', '=', 'complete')
    .where((eb) => writableBy(session)(eb as never))
    .where((eb) => openAt(eb as never, now))
  if ((await run(ctx.db, choose)) > 0) return
  await refuseUnlessWritable(session)
  refuseSession((await findOpenQuestion(session, number)) ? 'not_found' : 'closed')
}

/** Joins a take to its question and its submission. */
const isOfItsQuestion = ({ and, eb, ref }: Expressions<'takes' | 'submissions' | 'submissionQuestions'>) =>
  and([
    sameOwner('submissions', 'takes'),
    eb('submissions.id', '=', ref('takes.submissionId')),
    sameOwner('submissionQuestions', 'takes'),
    eb('submissionQuestions.submissionId', '=', ref('takes.submissionId')),
    eb('submissionQuestions.number', '=', ref('takes.questionNumber')),
  ])

const before = (now: Date, ago: number): Date => new Date(Math.max(0, now.getTime() - ago))
