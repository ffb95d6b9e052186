import { sql } from '../../../db/builder.ts'
import type { Context } from '../../context.ts'
import { omitUndefined } from '../../fields/omit-undefined.ts'
import { authorizeInvites } from '../visibility.ts'
import { matchingInvites } from './invite-filter.ts'

/** Number of pending invites whose mails were not delivered, of an assessment or of all. @throws DomainError not_permitted. */
export async function countUndelivered(ctx: Context, assessmentId: string | undefined): Promise<number> {
  const filter = omitUndefined({ assessmentId })
  await authorizeInvites(ctx, filter)
  const invites = matchingInvites(ctx.db, { ...filter, isUndelivered: true }, ctx.deps.clock())
  const { count } = await invites.select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow()
  return count
}
