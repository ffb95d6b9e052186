import { sql } from '../../../db/builder.ts'
import { jsonOf } from '../../../db/statements.ts'
import type { InviteStatus } from '../../../generated/prisma/client.ts'
import { authorize } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DAY_MS } from '../../time/days.ts'
import { canExpire } from '../expiry.ts'
import { countStates, type StateCounts, toStateCounts } from './count-states.ts'

// Figures for the home page, from counters and ends of indexes: the cost doesn't grow with the organization.

const DAYS = 30
/** Sample for the median time: the newest completed invites of a period. */
const SAMPLE = sql.lit(100)
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
  /** The 30 days before those, all together. */
  before: Omit<DayCounts, 'day'>
  /** Median milliseconds from invitation to completion, in the last 30 days and the 30 days before; null: no completions. */
  medianTime: { last: number | null; before: number | null }
  /** Undelivered emails of these days, newest first; one more than the page shows. */
  failedMails: FailedMail[]
  /** Invites that nobody has started and that expire within three days, the earliest first; one more than the page shows. */
  expiring: ExpiringInvite[]
  /** Since when the mail server has taken no mails at all; null while it does. */
  mailsWaitSince: Date | null
  hasAssessments: boolean
  hasKeys: boolean
}

/** Uses one statement, because several simultaneous ones would occupy most connections. @throws DomainError not_permitted. */
export async function readOverview(ctx: Context): Promise<Overview> {
  authorize(ctx, 'read')
  const counted = lastDays(ctx, 2 * DAYS)
  const [past, days] = [counted.slice(0, DAYS), counted.slice(DAYS)]
  const statement = ctx.db
    .with(
      (cte) => cte('days').materialized(),
      () => countDays(ctx, counted),
    )
    .selectNoFrom(({ exists, selectFrom }) => [
      jsonOf(countStates(ctx)).as('states'),
      sql<number[]>`array(${selectFrom('days').select('days.invited').orderBy('days.day')})`.as('invited'),
      sql<number[]>`array(${selectFrom('days').select('days.completed').orderBy('days.day')})`.as('completed'),
      jsonOf(failedMailsSince(ctx, days[0]!)).as('failedMails'),
      jsonOf(expiringSoon(ctx)).as('expiring'),
      medianTime(ctx, days[0]!, null).$asScalar().as('medianLast'),
      medianTime(ctx, past[0]!, days[0]!).$asScalar().as('medianBefore'),
      ctx.db.selectFrom('mailOutages').select('since').as('mailsWaitSince'),
      exists(ctx.db.selectFrom('assessments')).$castTo<boolean>().as('hasAssessments'),
      exists(ctx.db.selectFrom('apiKeys')).$castTo<boolean>().as('hasKeys'),
    ])
  const { states, invited, completed, failedMails, expiring, medianLast, medianBefore, ...otherFigures } =
    await statement.executeTakeFirstOrThrow()
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
  return {
    ...otherFigures,
    states: toStateCounts(states),
    days: days.map((day, i) => ({ day, invited: invited[DAYS + i]!, completed: completed[DAYS + i]! })),
    before: { invited: sum(invited.slice(0, DAYS)), completed: sum(completed.slice(0, DAYS)) },
    medianTime: { last: medianLast, before: medianBefore },
    failedMails: failedMails.map((mail) => ({ ...mail, createdAt: new Date(mail.createdAt) })),
    expiring: expiring.map((invite) => ({ ...invite, expiresAt: new Date(invite.expiresAt) })),
  }
}

/** Starts of the last days, today's last. */
function lastDays({ deps }: Context, count: number): Date[] {
  const today = Math.floor(deps.clock().getTime() / DAY_MS) * DAY_MS
  return Array.from({ length: count }, (_, i) => new Date(today - (count - 1 - i) * DAY_MS))
}

/** Milliseconds from the invitation to the end: half of the newest that were completed in that time took less. */
function medianTime(ctx: Context, from: Date, until: Date | null) {
  const completed = ctx.db.selectFrom('invites').where('invites.completedAt', '>=', from)
  const inPeriod = until ? completed.where('invites.completedAt', '<', until) : completed
  const newest = inPeriod
    .orderBy('invites.completedAt', 'desc')
    .limit(SAMPLE)
    .select(({ ref }) =>
      sql<number>`extract(epoch from ${ref('invites.completedAt')} - coalesce(${ref('invites.sentAt')}, ${ref('invites.createdAt')}))`.as(
        'seconds',
      ),
    )
  return ctx.db
    .selectFrom(newest.as('newest'))
    .select(({ ref }) =>
      sql<number | null>`1000 * percentile_cont(0.5) within group (order by ${ref('newest.seconds')})`.as('median'),
    )
}

function countDays(ctx: Context, days: Date[]) {
  const dayRows = sql<{ day: Date }>`unnest(${days}::timestamptz[])`.as<'days'>(sql`days (day)`)
  const storedCounts = ctx.db.selectFrom('organizationDailyInviteCounts').select(['day', 'invited', 'completed'])
  return ctx.db
    .selectFrom(dayRows)
    .leftJoin(storedCounts.as('kept'), (join) =>
      join.on(({ eb, ref }) => eb('kept.day', '=', sql<Date>`utc_day(${ref('days.day')})`)),
    )
    .select(({ ref }) => [
      'days.day',
      sql<number>`coalesce(sum(${ref('kept.invited')}), 0)::int`.as('invited'),
      sql<number>`coalesce(sum(${ref('kept.completed')}), 0)::int`.as('completed'),
    ])
    .groupBy('days.day')
}

/** Literal: a plan that PostgreSQL keeps is otherwise made for a tenth of all rows. */
const limit = sql.lit(OVERVIEW_ROWS + 1)

/** The states are literals: otherwise PostgreSQL does not use the partial index of failed mails. */
const failedMailsSince = (ctx: Context, since: Date) =>
  ctx.db
    .selectFrom('invites')
    .innerJoin(ctx.db.table('inviteEmails'), 'inviteEmails.inviteId', 'invites.id')
    .innerJoin(ctx.db.table('assessments'), 'assessments.id', 'invites.assessmentId')
    .where('inviteEmails.state', '=', sql.lit('failed' as const))
    .where('inviteEmails.failure', 'is distinct from', sql.lit('obsolete' as const))
    .where('inviteEmails.createdAt', '>=', since)
    .select(['inviteEmails.inviteId', 'invites.recipientEmail', 'assessments.name as assessment'])
    .select(['inviteEmails.createdAt', 'inviteEmails.reason'])
    .orderBy('inviteEmails.createdAt', 'desc')
    .orderBy('inviteEmails.id', 'desc')
    .limit(limit)

function expiringSoon(ctx: Context) {
  const now = ctx.deps.clock()
  return ctx.db
    .selectFrom('invites')
    .innerJoin(ctx.db.table('assessments'), 'assessments.id', 'invites.assessmentId')
    .where(canExpire)
    .where('invites.expiresAt', '>', now)
    .where('invites.expiresAt', '<=', new Date(now.getTime() + SOON_MS))
    .select(['invites.id as inviteId', 'invites.recipientEmail', 'assessments.name as assessment'])
    .select(['invites.expiresAt', 'invites.status'])
    .orderBy('invites.expiresAt')
    .limit(limit)
}
