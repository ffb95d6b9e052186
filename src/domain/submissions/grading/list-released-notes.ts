import { authorize } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { newestRelease } from '../newest-release.ts'
import { whereInviteSubmission } from '../reading/list-submissions.ts'
import type { ReleasedNote } from './notes.ts'
import { gradesOf } from './results.ts'

/**
 * Graders' notes on an invite's recorded answers, as the newest result released them, in the order of the questions.
 *
 * @throws DomainError not_permitted; invite_not_found; submission_not_found; result_not_released.
 */
export async function listReleasedNotes(ctx: Context, inviteId: string): Promise<(ReleasedNote & { questionNumber: number })[]> {
  authorize(ctx, 'read')
  const where = await whereInviteSubmission(ctx, inviteId)
  const submission = await ctx.db.submission.findFirst({ where, select: { releases: newestRelease } })
  if (!submission) throw new DomainError('submission_not_found')
  const [release] = submission.releases
  if (!release) throw new DomainError('result_not_released')
  return gradesOf(release).flatMap(({ number, notes = [] }) => notes.map((note) => ({ ...note, questionNumber: number })))
}
