import type { InviteStatus } from '../../generated/prisma/client.ts'
import { authorize } from '../access/permissions.ts'
import type { Context } from '../context.ts'
import { expireDueInvites, expiring } from './lifecycle.ts'
import { countInvites } from './paging.ts'

// What an organization's invites come to, from kept counts and the ends of indexes: it costs the same however many there are.

const DAY_MS = 86_400_000
const DAYS = 30
/** An invite is about to expire within this time. */
const SOON_MS = 3 * DAY_MS
/** Rows of a list. */
export const OVERVIEW_ROWS = 10

/** @property day its beginning, in UTC. */
export type DayCounts = { day: Date; invited: number; completed: number }

export type FailedMail = { inviteId: string; recipientEmail: string; assessment: string; createdAt: Date; reason: string }
export type ExpiringInvite = {
  inviteId: string
  recipientEmail: string
  assessment: string
  expiresAt: Date
  status: InviteStatus
}

export type Overview = {
  /** How many invites are in each state; those of which there are none are missing. */
  states: Map<InviteStatus, number>
  /** The last 30 days, the oldest first. */
  days: DayCounts[]
  /** Mails of these days that reached nobody, the newest first: one more than are to be shown, if there are so many. */
  failedMails: FailedMail[]
  /** Invites that nobody has started and that expire within three days, the next first: also one more. */
  expiring: ExpiringInvite[]
  hasAssessments: boolean
  hasKeys: boolean
}

/** @throws DomainError not_permitted. */
export async function readOverview(ctx: Context): Promise<Overview> {
  authorize(ctx, 'read')
  const { db, organization } = ctx
  const where = { organizationId: organization.id }
  if ((await countInvites(ctx, {})) === null) await expireDueInvites(ctx)
  const [states, days, failedMails, expiringInvites, assessment, key] = await Promise.all([
    countStates(ctx),
    countDays(ctx),
    findFailedMails(ctx),
    findExpiring(ctx),
    db.assessment.findFirst({ where, select: { id: true } }),
    db.apiKey.findFirst({ where, select: { id: true } }),
  ])
  return { states, days, failedMails, expiring: expiringInvites, hasAssessments: assessment !== null, hasKeys: key !== null }
}

async function countStates({ db, organization }: Context): Promise<Map<InviteStatus, number>> {
  const rows = await db.$queryRaw<{ status: InviteStatus; count: number }[]>`
    SELECT status, sum(count)::int AS count FROM organization_invite_counts
    WHERE organization_id = ${organization.id}::uuid GROUP BY status`
  return new Map(rows.map(({ status, count }) => [status, count]))
}

/** The beginnings of the last days. */
function lastDays({ deps }: Context): Date[] {
  const today = Math.floor(deps.clock().getTime() / DAY_MS) * DAY_MS
  return Array.from({ length: DAYS }, (_, i) => new Date(today - (DAYS - 1 - i) * DAY_MS))
}

function countDays(ctx: Context): Promise<DayCounts[]> {
  return ctx.db.$queryRaw<DayCounts[]>`
    SELECT days.day, coalesce(sum(invited), 0)::int AS invited, coalesce(sum(completed), 0)::int AS completed
    FROM unnest(${lastDays(ctx)}::timestamptz[]) AS days (day)
    LEFT JOIN organization_invite_days kept ON organization_id = ${ctx.organization.id}::uuid AND kept.day = utc_day(days.day)
    GROUP BY 1 ORDER BY 1`
}

/** The states are literals: otherwise PostgreSQL does not use the partial index of failed mails. */
function findFailedMails(ctx: Context): Promise<FailedMail[]> {
  return ctx.db.$queryRaw<FailedMail[]>`
    SELECT invite_id AS "inviteId", recipient_email AS "recipientEmail", assessments.name AS assessment,
      invite_emails.created_at AS "createdAt", reason
    FROM invite_emails JOIN invites ON invites.id = invite_id JOIN assessments ON assessments.id = assessment_id
    WHERE invite_emails.organization_id = ${ctx.organization.id}::uuid
      AND state = 'failed' AND failure IS DISTINCT FROM 'obsolete' AND invite_emails.created_at >= ${lastDays(ctx)[0]!}
    ORDER BY invite_emails.created_at DESC, invite_emails.id DESC LIMIT ${OVERVIEW_ROWS + 1}`
}

function findExpiring(ctx: Context): Promise<ExpiringInvite[]> {
  const now = ctx.deps.clock()
  return ctx.db.$queryRaw<ExpiringInvite[]>`
    SELECT invites.id AS "inviteId", recipient_email AS "recipientEmail", name AS assessment, expires_at AS "expiresAt", status
    FROM invites JOIN assessments ON assessments.id = assessment_id
    WHERE invites.organization_id = ${ctx.organization.id}::uuid AND ${expiring}
      AND expires_at > ${now} AND expires_at <= ${new Date(now.getTime() + SOON_MS)}
    ORDER BY expires_at LIMIT ${OVERVIEW_ROWS + 1}`
}
