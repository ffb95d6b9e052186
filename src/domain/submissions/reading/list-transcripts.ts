import { authorize } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { chooseAnswer } from '../choose-answer.ts'
import { findTranscripts, type Transcript } from '../transcripts/read-transcripts.ts'
import { whereInviteSubmission } from './list-submissions.ts'

/** Transcript of the answer to a question. */
export type AnswerTranscript = Transcript & { questionNumber: number }

/**
 * Transcripts of the recorded answers of an invite's submission, in the order of the questions.
 *
 * @throws DomainError not_permitted; invite_not_found; submission_not_found before the start, and after a withdrawal.
 */
export async function listInviteTranscripts(ctx: Context, inviteId: string): Promise<AnswerTranscript[]> {
  authorize(ctx, 'read')
  authorize(ctx, 'read_transcripts')
  const where = await whereInviteSubmission(ctx, inviteId)
  const submission = await ctx.db.submission.findFirst({
    where,
    select: {
      id: true,
      paper: {
        orderBy: { number: 'asc' },
        select: { number: true, attempts: { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] } },
      },
    },
  })
  if (!submission) throw new DomainError('submission_not_found')
  const transcripts = await findTranscripts(ctx, submission.id)
  return submission.paper.flatMap(({ number, attempts }) => {
    const transcript = transcripts.get(chooseAnswer(attempts)?.mediaId ?? '')
    return transcript ? [{ ...transcript, questionNumber: number }] : []
  })
}
