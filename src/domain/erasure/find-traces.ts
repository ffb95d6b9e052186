import { sql } from '../../db/builder.ts'
import type { SqlBool } from '../../db/queries.ts'
import { authorize } from '../authorization/permissions.ts'
import { type Context, inMode } from '../context.ts'
import { getInvite } from '../invites/invites.ts'
import { whereAddress } from '../invites/suppressions.ts'
import { isSentTo } from './collect-invites.ts'
import { countListRows } from './erase-invites.ts'
import { normalizeAddress } from './request-erasure.ts'

/** Preview of an erasure. @property open invites that are revoked first. */
export type Traces = {
  invites: number
  open: number
  submissions: number
  media: number
  mails: number
  listRows: number
  suppressions: number
}

/** The candidate of an invite, and what an erasure finds of them, in live and test data. @throws DomainError not_permitted, invite_not_found. */
export async function findTracesOf(ctx: Context, inviteId: string): Promise<{ email: string; traces: Traces }> {
  authorize(ctx, 'erase_candidates')
  const { recipientEmail: email } = await getInvite(ctx, inviteId)
  return { email, traces: await findTraces(ctx, email) }
}

/** Counts are 0 for an unknown address. @throws DomainError not_permitted. */
export async function findTraces(callerCtx: Context, typedAddress: string): Promise<Traces> {
  authorize(callerCtx, 'erase_candidates')
  const ctx: Context = inMode(callerCtx, 'all')
  const { db, deps, organization } = ctx
  const address = normalizeAddress(typedAddress)
  const invites = ctx.db.selectFrom('invites').where((eb) => isSentTo(eb, address))
  const submissions = invites.innerJoin(ctx.db.table('submissions'), 'submissions.inviteId', 'invites.id')
  const media = submissions
    .innerJoin(ctx.db.table('mediaFiles'), 'mediaFiles.submissionId', 'submissions.id')
    .where('mediaFiles.state', '<>', 'deleted')
  const mails = invites.innerJoin(ctx.db.table('inviteEmails'), 'inviteEmails.inviteId', 'invites.id')
  const counted = sql<number>`count(*)::int`.as('count')
  const isOpen = ({ ref }: { ref: (column: 'invites.status') => unknown }) =>
    sql<SqlBool>`${ref('invites.status')} in ('pending', 'accepted', 'started')`
  return {
    invites: (await invites.select(counted).executeTakeFirst())!.count,
    open: (await invites
      .where((eb) => isOpen(eb))
      .select(counted)
      .executeTakeFirst())!.count,
    submissions: (await submissions.select(counted).executeTakeFirst())!.count,
    media: (await media.select(counted).executeTakeFirst())!.count,
    mails: (await mails.select(counted).executeTakeFirst())!.count,
    listRows: await countListRows(ctx, address, deps.clock()),
    suppressions: await db.suppression.count({
      where: { organizationId: organization.id, ...whereAddress(deps, organization, address) },
    }),
  }
}
