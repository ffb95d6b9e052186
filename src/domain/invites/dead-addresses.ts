import { sql } from '../../db/builder.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import { type Context, inMode } from '../context.ts'
import { inTransaction } from '../transaction.ts'

/** Only the newest mails count. */
const COUNTED_MAILS = 500
/** Fewer mails say nothing about the addresses. */
const MIN_MAILS = 20
/** Share of missing mailboxes from which mail servers suspect a bought list. */
const WARNING_SHARE = 0.05
/** Share of missing mailboxes above which lists pause. */
const PAUSING_SHARE = 0.1

/**
 * Counts the organization's newest mails, and those to missing mailboxes. Null below the warning share, or below 20 mails.
 *
 * @throws DomainError not_permitted.
 */
export async function countDeadAddresses(ctx: Context): Promise<{ dead: number; of: number } | null> {
  authorize(ctx, 'read')
  const { dead, all } = await countNewest(ctx)
  return all >= MIN_MAILS && dead > all * WARNING_SHARE ? { dead, of: all } : null
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
  return all >= MIN_MAILS && dead > all * PAUSING_SHARE
}

/** Resumes paused lists, and restarts the count of mails. @throws DomainError not_permitted. */
export async function resumeLists(ctx: Context): Promise<void> {
  authorize(ctx, 'manage_settings')
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    await db.organization.update({ where: { id: organization.id }, data: { bouncesReviewedAt: deps.clock() } })
    await recordAudit(inside, { action: 'looked_into_bounces' })
  })
}

async function countNewest(ctx: Context, since: Date | null = null): Promise<{ dead: number; all: number }> {
  const emails = ctx.db.selectFrom('inviteEmails')
  const counted = since ? emails.where('inviteEmails.createdAt', '>', since) : emails
  const newest = counted
    .innerJoin(ctx.db.selectFrom('invites').select(['organizationId', 'id']).as('invite'), 'invite.id', 'inviteEmails.inviteId')
    .select('inviteEmails.bounce')
    .orderBy('inviteEmails.id', 'desc')
    .limit(COUNTED_MAILS)
  return ctx.db
    .with('newest', () => newest)
    .selectFrom('newest')
    .select([sql<number>`(count(*) filter (where bounce = 'address'))::int`.as('dead'), sql<number>`count(*)::int`.as('all')])
    .executeTakeFirstOrThrow()
}
