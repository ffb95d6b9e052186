import type { Context } from '../context.ts'
import { moveUnlessOvertaken } from '../invites/candidate.ts'
import { inTransaction } from '../transaction.ts'
import type { Session } from './session.ts'
import { completeOpenRecordings } from './settle.ts'

/** Hands in what is there. In a state that does not allow it nothing happens. */
export async function finishSubmission({ ctx, invite: { id, linkVersion } }: Session): Promise<void> {
  await inTransaction(ctx, async (inside) => {
    const invite = await moveUnlessOvertaken(inside, 'complete', { inviteId: id, linkVersion })
    if (invite?.assessmentSession) await handIn(inside, invite.assessmentSession)
  })
}

/** Ends a submission whose invite is completed by the same transaction. */
export async function handIn(ctx: Context, submissionId: string): Promise<void> {
  const { db, deps, organization } = ctx
  const now = deps.clock()
  await db.submission.updateMany({
    where: { organizationId: organization.id, id: submissionId, state: 'in_progress' },
    data: { state: 'submitted', submittedAt: now, updatedAt: now },
  })
  await db.$executeRaw`
    UPDATE paper_questions SET closed_at = LEAST(${now}::timestamptz, closes_at)
    WHERE organization_id = ${organization.id}::uuid AND submission_id = ${submissionId}::uuid AND opened_at IS NOT NULL AND closed_at IS NULL`
  await completeOpenRecordings(ctx, submissionId)
}
