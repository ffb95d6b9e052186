import { anyOfIds, scopeWhere } from '../../db/queries.ts'
import { anyOf } from '../../db/query.ts'
import { affectedRows } from '../../db/statements.ts'
import type { Context } from '../context.ts'

/** @property media photos and recordings. A sweep deletes their files minutes later. */
export type DeletedCounts = { invites: number; submissions: number; media: number }

/**
 * Deletes invites with all rows that refer to them: emails, tags, submissions, grades, results, ATS orders, rows of batches and bulk
 * changes. Events stay, because cursors and webhooks depend on them.
 *
 * @param ctx inside the transaction that has locked the invites.
 */
export async function deleteInvites(ctx: Context, ids: string[]): Promise<DeletedCounts> {
  if (ids.length === 0) return { invites: 0, submissions: 0, media: 0 }
  const { db, organization } = ctx
  const submission = { ...scopeWhere(ctx), inviteId: anyOf(ids) }
  const submissions = await db.submission.count({ where: submission })
  const media = await db.mediaFile.count({ where: { organizationId: organization.id, submission, state: { not: 'deleted' } } })
  const invites = await affectedRows(ctx.db.deleteFrom('invites').where('id', '=', anyOfIds(ids)))
  return { invites, submissions, media }
}
