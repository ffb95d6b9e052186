import { queryRows } from '../../db/client.ts'
import { type InviteStatus, Prisma } from '../../generated/prisma/client.ts'
import { authorize } from '../access/permissions.ts'
import type { Context } from '../context.ts'
import { ownRows } from '../listing.ts'
import { expiring } from './lifecycle.ts'
import { countStates, type StateCount, type StateCounts, toStateCounts } from './state-counts.ts'

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
  states: StateCounts
  /** The last 30 days, the oldest first. */
  days: DayCounts[]
  /** Mails of these days that reached nobody, the newest first: one more than are to be shown, if there are so many. */
  failedMails: FailedMail[]
  /** Invites that nobody has started and that expire within three days, the next first: also one more. */
  expiring: ExpiringInvite[]
  /** Since when the mail server has taken no mails at all; null while it does. */
  mailsWaitSince: Date | null
  hasAssessments: boolean
  hasKeys: boolean
}

/** Times in JSON are text. */
type Listed<Row, Field extends keyof Row> = Omit<Row, Field> & Record<Field, string>
type Read = Pick<Overview, 'mailsWaitSince' | 'hasAssessments' | 'hasKeys'> & {
  states: StateCount[]
  invited: number[]
  completed: number[]
  failedMails: Listed<FailedMail, 'createdAt'>[]
  expiring: Listed<ExpiringInvite, 'expiresAt'>[]
}

/**
 * By one statement: several at once would take most of the connections that there are.
 *
 * @throws DomainError not_permitted.
 */
export async function readOverview(ctx: Context): Promise<Overview> {
  authorize(ctx, 'read')
  const own = ownRows(ctx)
  const days = lastDays(ctx)
  const [read] = await queryRows<Read>(
    ctx.db,
    Prisma.sql`
    WITH days AS MATERIALIZED (${selectDays(ctx, days)})
    SELECT (${asList(countStates(ctx))}) AS states,
      ARRAY(SELECT invited FROM days ORDER BY day) AS invited, ARRAY(SELECT completed FROM days ORDER BY day) AS completed,
      (${asList(selectFailedMails(ctx, days[0]!))}) AS "failedMails", (${asList(selectExpiring(ctx))}) AS expiring,
      (SELECT since FROM mail_outages) AS "mailsWaitSince", EXISTS (SELECT FROM assessments ${own}) AS "hasAssessments", EXISTS (SELECT FROM api_keys ${own}) AS "hasKeys"`,
  )
  const { states, invited, completed, failedMails, expiring, ...rest } = read!
  return {
    ...rest,
    states: toStateCounts(states),
    days: days.map((day, i) => ({ day, invited: invited[i]!, completed: completed[i]! })),
    failedMails: failedMails.map((mail) => ({ ...mail, createdAt: new Date(mail.createdAt) })),
    expiring: expiring.map((invite) => ({ ...invite, expiresAt: new Date(invite.expiresAt) })),
  }
}

/** SQL: the rows as JSON. */
const asList = (rows: Prisma.Sql): Prisma.Sql => Prisma.sql`SELECT coalesce(json_agg(listed), '[]') FROM (${rows}) listed`

/** The beginnings of the last days. */
function lastDays({ deps }: Context): Date[] {
  const today = Math.floor(deps.clock().getTime() / DAY_MS) * DAY_MS
  return Array.from({ length: DAYS }, (_, i) => new Date(today - (DAYS - 1 - i) * DAY_MS))
}

const selectDays = ({ organization }: Context, days: Date[]): Prisma.Sql => Prisma.sql`
  SELECT days.day, coalesce(sum(invited), 0)::int AS invited, coalesce(sum(completed), 0)::int AS completed
  FROM unnest(${days}::timestamptz[]) AS days (day)
  LEFT JOIN organization_invite_days kept ON organization_id = ${organization.id}::uuid AND kept.day = utc_day(days.day)
  GROUP BY 1`

/** SQL. Literal: a plan that PostgreSQL keeps is otherwise made for a tenth of all rows. */
const limit = Prisma.raw(`LIMIT ${OVERVIEW_ROWS + 1}`)

/** The states are literals: otherwise PostgreSQL does not use the partial index of failed mails. */
const selectFailedMails = ({ organization }: Context, since: Date): Prisma.Sql => Prisma.sql`
  SELECT invite_id AS "inviteId", recipient_email AS "recipientEmail", assessments.name AS assessment,
    invite_emails.created_at AS "createdAt", reason
  FROM invite_emails JOIN invites ON invites.id = invite_id JOIN assessments ON assessments.id = assessment_id
  WHERE invite_emails.organization_id = ${organization.id}::uuid
    AND state = 'failed' AND failure IS DISTINCT FROM 'obsolete' AND invite_emails.created_at >= ${since}
  ORDER BY invite_emails.created_at DESC, invite_emails.id DESC ${limit}`

function selectExpiring({ organization, deps }: Context): Prisma.Sql {
  const now = deps.clock()
  return Prisma.sql`
    SELECT invites.id AS "inviteId", recipient_email AS "recipientEmail", name AS assessment, expires_at AS "expiresAt", status
    FROM invites JOIN assessments ON assessments.id = assessment_id
    WHERE invites.organization_id = ${organization.id}::uuid AND ${expiring}
      AND expires_at > ${now} AND expires_at <= ${new Date(now.getTime() + SOON_MS)}
    ORDER BY expires_at ${limit}`
}
