import { sql } from '../../../db/builder.ts'
import { scopeWhere } from '../../../db/queries.ts'
import type { Context } from '../../context.ts'
import { moveIfStillAllowed } from '../../invites/candidate-moves.ts'
import { inTransaction } from '../../transaction.ts'
import { releaseAutomatically } from '../grading/release-result.ts'
import { completeOpenRecordings } from '../media/settle-recordings.ts'
import { scoreAnswers } from '../scores.ts'
import type { CandidateSession } from './session.ts'

/** Submits the answers. Does nothing in other states. */
export async function finishSubmission({ ctx, invite: { id, linkVersion } }: CandidateSession): Promise<void> {
  await inTransaction(ctx, async (inside) => {
    const invite = await moveIfStillAllowed(inside, 'complete', { inviteId: id, linkVersion })
    if (invite?.assessmentSession) await submit(inside, invite.assessmentSession)
  })
}

/** Submits a submission in the transaction that completes its invite. */
export async function submit(ctx: Context, submissionId: string): Promise<void> {
  const { db, deps } = ctx
  const now = deps.clock()
  await db.submission.updateMany({
    where: { ...scopeWhere(ctx), id: submissionId, state: 'in_progress' },
    data: { state: 'submitted', submittedAt: now, updatedAt: now },
  })
  const close = ctx.db
    .updateTable('submissionQuestions')
    .where('submissionQuestions.submissionId', '=', submissionId)
    .where('submissionQuestions.openedAt', 'is not', null)
    .where('submissionQuestions.closedAt', 'is', null)
    .set(({ ref }) => ({ closedAt: sql<Date>`least(${now}::timestamptz, ${ref('submissionQuestions.closesAt')})` }))
  await close.execute()
  await completeOpenRecordings(ctx, submissionId)
  if (await scoreAnswers(ctx, submissionId)) await releaseAutomatically(ctx, submissionId)
}
