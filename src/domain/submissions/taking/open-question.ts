import { sql } from '../../../db/builder.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../transaction.ts'
import { limitWithExtra } from './paper.ts'
import { readPosition } from './position.ts'
import { refuseSession } from './refuse-session.ts'
import type { PreparedSession } from './session.ts'

/** Locks a submission whose questions can be opened. @returns undefined if there is none, or if its time is over. */
export function lockRunning(inside: Context, { submission }: PreparedSession, now: Date) {
  const running = inside.db
    .selectFrom('submissions')
    .where('id', '=', submission.id)
    .where('state', '=', 'in_progress')
    .where('consentAt', 'is not', null)
    .where((eb) => eb.or([eb('deadlineAt', 'is', null), eb('deadlineAt', '>', now)]))
  return running.select(['deadlineAt', 'extraTimePercent', 'isDeadlineOfQuestion']).forNoKeyUpdate().executeTakeFirst()
}

/**
 * Opens a question: its preparation time or time limit starts, within the end of its section and of the whole. Does nothing unless it is the
 * next question and all earlier ones are closed.
 *
 * @throws DomainError session_refused (not_shared).
 */
export async function openQuestion(session: PreparedSession, number: number): Promise<void> {
  const { ctx, submission } = session
  const now = ctx.deps.clock()
  await inTransaction(ctx, async (inside) => {
    const lockedSubmission = await lockRunning(inside, session, now)
    if (!lockedSubmission) return
    const ofPaper = inside.db.selectFrom('submissionQuestions').where('submissionQuestions.submissionId', '=', submission.id)
    const { next, section } = await readPosition(inside, submission.id)
    if (next?.number !== number || section?.openedAt === null) return
    const update = inside.db
      .updateTable('submissionQuestions')
      .where('submissionQuestions.submissionId', '=', submission.id)
      .where('submissionQuestions.number', '=', number)
      .set(({ ref }) => {
        const percent = sql`${lockedSubmission.extraTimePercent}::integer`
        const endOfWhole = lockedSubmission.isDeadlineOfQuestion ? null : lockedSubmission.deadlineAt
        const deadline = sql`least(${endOfWhole}::timestamptz, ${section?.closesAt ?? null}::timestamptz)`
        const prepared = sql`${now}::timestamptz + ${limitWithExtra(ref('submissionQuestions.preparationTime'), percent)}`
        const endOfTime = sql`coalesce(${prepared}, ${now}::timestamptz) + ${limitWithExtra(ref('submissionQuestions.timeLimit'), percent)}`
        return {
          openedAt: now,
          answersAt: sql<Date | null>`case when ${prepared} is not null then least(${prepared}, ${deadline}) end`,
          closesAt: sql<Date | null>`least(${endOfTime}, ${deadline})`,
        }
      })
    const opened = await update.returning('submissionQuestions.closesAt').executeTakeFirst()
    if (!opened) return
    await requireSharedScreen(inside, session)
    if (!opened.closesAt || (lockedSubmission.deadlineAt && !lockedSubmission.isDeadlineOfQuestion)) return
    // The submission is due at the end of the last question.
    const later = ofPaper.where('submissionQuestions.number', '>', number).select('submissionQuestions.number')
    const end = inside.db
      .updateTable('submissions')
      .where('submissions.id', '=', submission.id)
      .where(({ exists, not }) => not(exists(later)))
      .set({ deadlineAt: opened.closesAt, isDeadlineOfQuestion: true })
    await end.execute()
  })
}

/**
 * Refuses to go on unless the screen is being recorded, if the assessment requires it and the organization has not waived it.
 *
 * @throws DomainError session_refused (not_shared).
 */
export async function requireSharedScreen(
  { db, organization }: Context,
  { invite, submission }: Pick<PreparedSession, 'invite' | 'submission'>,
): Promise<void> {
  if (!invite.screenRecording || invite.waivedChecks.includes('screen') || !submission.consentMedia.includes('screen')) return
  const where = { organizationId: organization.id, submissionId: submission.id, kind: 'screen', state: 'uploading' } as const
  if ((await db.mediaFile.count({ where })) === 0) refuseSession('not_shared')
}
