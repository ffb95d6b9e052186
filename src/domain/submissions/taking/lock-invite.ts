import { own } from '../../../db/own.ts'
import { first } from '../../../db/statements.ts'
import type { Context } from '../../context.ts'

/**
 * Locks the invite of a submission, for a sweep that locks the submission next: the invite comes first everywhere, so that no two wait for each
 * other.
 *
 * @returns whether it has: one that somebody holds is left to the next sweep.
 */
export async function lockInvite(ctx: Context, submissionId: string): Promise<boolean> {
  const of = own(ctx, 'submissions').where('submissions.id', '=', submissionId).select('submissions.inviteId')
  const held = await first(ctx.db, own(ctx, 'invites').select('id').where('id', 'in', of).forNoKeyUpdate().skipLocked())
  return held !== undefined
}
