import type { Context } from '../../context.ts'

/**
 * Locks the invite of a submission, for a sweep that locks the submission next: the invite comes first everywhere, so that no two wait for each
 * other.
 *
 * @returns whether it has: one that somebody holds is left to the next sweep.
 */
export async function lockInvite(ctx: Context, submissionId: string): Promise<boolean> {
  const of = ctx.db.selectFrom('submissions').where('submissions.id', '=', submissionId).select('submissions.inviteId')
  const held = await ctx.db
    .selectFrom('invites')
    .select('id')
    .where('id', 'in', of)
    .forNoKeyUpdate()
    .skipLocked()
    .executeTakeFirst()
  return held !== undefined
}
