import { sql } from '../../db/builder.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import { type Context, inMode } from '../context.ts'
import { inTransaction } from '../transaction.ts'

/** The newest mails of an organization that are looked at, and how many at least tell something. */
const NEWEST = 500
const AT_LEAST = 20
/** Share of missing mailboxes from which mail servers suspect a bought list, and share at which lists pause. */
const MANY = 0.05
const TOO_MANY = 0.1

/**
 * How many of the organization's newest mails were to mailboxes that are not there; null where that is not many, or too few were sent.
 *
 * @throws DomainError not_permitted.
 */
export async function countDeadAddresses(ctx: Context): Promise<{ dead: number; of: number } | null> {
  authorize(ctx, 'read')
  const { dead, all } = await countNewest(ctx)
  return all >= AT_LEAST && dead > all * MANY ? { dead, of: all } : null
}

/**
 * True if lists of live invites pause until an admin has checked: more than a tenth of the newest mails since the last check went
 * to missing mailboxes.
 */
export async function areListsPaused(ctx: Context): Promise<boolean> {
  const { bouncesReviewedAt } = await ctx.db.organization.findUniqueOrThrow({
    where: { id: ctx.organization.id },
    select: { bouncesReviewedAt: true },
  })
  const { dead, all } = await countNewest(inMode(ctx, 'live'), bouncesReviewedAt)
  return all >= AT_LEAST && dead > all * TOO_MANY
}

/** Has lists go on: from then on mails are counted anew. @throws DomainError not_permitted. */
export async function resumeLists(ctx: Context): Promise<void> {
  authorize(ctx, 'manage_settings')
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    await db.organization.update({ where: { id: organization.id }, data: { bouncesReviewedAt: deps.clock() } })
    await recordAudit(inside, { action: 'looked_into_bounces' })
  })
}

async function countNewest(ctx: Context, since: Date | null = null): Promise<{ dead: number; all: number }> {
  const all = ctx.db.selectFrom('inviteEmails')
  const counting = since ? all.where('inviteEmails.createdAt', '>', since) : all
  const newest = counting
    .innerJoin(ctx.db.selectFrom('invites').select(['organizationId', 'id']).as('invite'), 'invite.id', 'inviteEmails.inviteId')
    .select('inviteEmails.bounce')
    .orderBy('inviteEmails.id', 'desc')
    .limit(NEWEST)
  const counted = ctx.db.with('newest', () => newest).selectFrom('newest')
  return counted
    .select([sql<number>`(count(*) filter (where bounce = 'address'))::int`.as('dead'), sql<number>`count(*)::int`.as('all')])
    .executeTakeFirstOrThrow()
}
