import { scopeWhere } from '../../../db/queries.ts'
import type { Context } from '../../context.ts'
import { moveIfStillAllowed } from '../../invites/candidate-moves.ts'
import { withExtraTime } from '../../time/extra-time.ts'
import { inTransaction } from '../../transaction.ts'
import { findNeeds, findPhotos } from '../find-needs.ts'
import { consentedMedia, missingToStart, toNeeds } from '../needs.ts'
import { copyPaper } from './paper.ts'
import { refuseSession } from './refuse-session.ts'
import { refuseWithoutSpace } from './refuse-without-space.ts'
import type { CandidateSession } from './session.ts'

/**
 * Starts the assessment: invite, submission with deadline, and paper, all or none. Does nothing in other states.
 *
 * @throws DomainError session_refused: not_ready with the missing checks; quota if there is no space for the recordings.
 */
export async function startSubmission(entered: CandidateSession): Promise<void> {
  const { ctx, submission } = entered
  const { id, linkVersion } = entered.invite
  const isRecorded = consentedMedia(await findNeeds(ctx, entered.invite, null)).length > 0
  if (entered.invite.status === 'accepted' && isRecorded) await refuseWithoutSpace(ctx)
  const session = submission?.id ?? ctx.deps.newId()
  await inTransaction(ctx, async (inside) => {
    const invite = await moveIfStillAllowed(inside, 'start', { inviteId: id, linkVersion }, { assessmentSession: session })
    if (!invite) return
    const started = await beginSubmission(inside, { ...invite, assessmentSession: session })
    await copyPaper(inside, { submissionId: session, assessmentId: invite.assessmentId })
    const where = { organizationId: ctx.organization.id, submissionId: session }
    const questions = await inside.db.submissionQuestion.groupBy({ by: ['responseType'], where })
    const missing = missingToStart({
      needs: toNeeds(ctx.deps.kinds, invite, questions),
      submission: started,
      photos: await findPhotos(inside, session),
      waived: invite.waivedChecks,
    })
    if (missing.length > 0) refuseSession('not_ready', missing)
  })
}

type StartingInvite = {
  assessmentId: string
  assessmentSession: string
  questionReplayLimit: number
  answerRecordLimit: number
  extraTimePercent: number
}

/** @throws DomainError session_refused (not_ready), without consent. */
async function beginSubmission(ctx: Context, invite: StartingInvite) {
  const { db, deps, organization } = ctx
  const { assessmentId, assessmentSession, questionReplayLimit, answerRecordLimit, extraTimePercent } = invite
  const now = deps.clock()
  const { timeLimit } = await db.assessment.findFirstOrThrow({
    where: { organizationId: organization.id, id: assessmentId },
    select: { timeLimit: true },
  })
  const [submission] = await db.submission.updateManyAndReturn({
    where: { ...scopeWhere(ctx), id: assessmentSession, state: 'preparing' },
    data: {
      state: 'in_progress',
      questionReplayLimit,
      answerRecordLimit,
      extraTimePercent,
      startedAt: now,
      deadlineAt: timeLimit > 0 ? new Date(now.getTime() + withExtraTime(timeLimit, extraTimePercent) * 1_000) : null,
      updatedAt: now,
    },
  })
  return submission ?? refuseSession('not_ready', ['consent'])
}
