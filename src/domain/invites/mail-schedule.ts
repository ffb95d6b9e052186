import { sql } from '../../db/builder.ts'
import type { Rows } from '../../db/queries.ts'
import type { TenantDb } from '../../db/tenant-db.ts'
import { modeOf } from '../authorization/author.ts'
import type { Context } from '../context.ts'
import { DAY_MS } from '../time/days.ts'

// An organization may send a limited number of mails to candidates within 24 hours. Each further mail gets the time at which the limit allows
// one more, after all mails that wait already. So each is looked at once, and they leave in the order in which they were queued.

/** Mails that wait without a time are counted up to this many days' worth. */
const MAX_DAYS_COUNTED = 10

/**
 * The time of the nth latest mail (from 0) that the organization sent since then or is to send. It reads n + 1 rows of either kind by their
 * index, so its cost does not grow with the number of mails that wait.
 */
export function nthMailTime(db: TenantDb, since: Date, n: number) {
  const planned = db
    .selectFrom('inviteEmails')
    .where('state', '=', sql.lit('queued'))
    .where('delayedUntil', '>', since)
    .orderBy('delayedUntil', 'desc')
    .select(({ ref }) => sql<Date>`${ref('delayedUntil')}`.as('at'))
  return nthLatest(firstOf(sentMails(db, since), n + 1, db).unionAll(firstOf(planned, n + 1, db)), n, db)
}

/** The time of the nth latest mail (from 0) that the organization sent since then. */
export const nthSentTime = (db: TenantDb, since: Date, n: number) => sentMails(db, since).offset(n).limit(1)

/** The latest first. */
const sentMails = (db: TenantDb, since: Date) =>
  db
    .selectFrom('inviteEmails')
    .where('state', '=', sql.lit('sent'))
    .where('sentAt', '>', since)
    .orderBy('sentAt', 'desc')
    .select(({ ref }) => sql<Date>`${ref('sentAt')}`.as('at'))

type MailTimes = Rows<'inviteEmails', { at: Date }>

const firstOf = (mails: MailTimes, count: number, db: TenantDb) =>
  db.selectFrom(mails.limit(count).as('mails')).select('mails.at')

const nthLatest = (mails: ReturnType<typeof firstOf>, n: number, db: TenantDb) =>
  db.selectFrom(mails.as('mails')).select('mails.at').orderBy('mails.at', 'desc').offset(n).limit(1)

/** Emails per 24 hours (0: no limit), and the number of waiting emails without a time. */
async function readLoad({ db, deps }: Context): Promise<{ perDay: number; waiting: number }> {
  const load = db.selectFrom('organizations').select(({ ref }) => {
    const perDay = sql<number>`coalesce(${ref('organizations.mailsPerDay')}, ${deps.candidateMails.perDay}::int)`
    const queued = db
      .selectFrom('inviteEmails')
      .where('state', '=', sql.lit('queued'))
      .where('delayedUntil', 'is', null)
      .select('id')
    const waiting = sql<number>`(select count(*)::int from (${queued.limit(sql<number>`${perDay}::bigint * ${MAX_DAYS_COUNTED}`)}) as waiting)`
    return [perDay.as('perDay'), waiting.as('waiting')]
  })
  return load.executeTakeFirstOrThrow()
}

/** When mails of an organization leave, and how many it may send within 24 hours (0: any number). */
export type MailSchedule = { perDay: number; leavesAt: (ahead: number) => Promise<Date> }

/** Estimates when new mails of the organization leave. @property leavesAt takes the number of other new mails before it. */
export async function readMailSchedule(ctx: Context): Promise<MailSchedule> {
  const { db, deps } = ctx
  const now = deps.clock()
  if (deps.candidateMails.isCaptured(modeOf(ctx))) return { perDay: 0, leavesAt: async () => now }
  const { perDay, waiting } = await readLoad(ctx)
  if (perDay === 0) return { perDay, leavesAt: async () => now }
  const dayAgo = new Date(now.getTime() - DAY_MS)
  return {
    perDay,
    async leavesAt(ahead) {
      const place = waiting + ahead
      // A place becomes free when this mail is a day old. Mails behind the first day's worth wait whole days longer.
      const before = await nthMailTime(db, dayAgo, perDay - 1 - (place % perDay)).executeTakeFirst()
      const from = before ? before.at.getTime() + DAY_MS : now.getTime()
      return new Date(from + Math.floor(place / perDay) * DAY_MS)
    },
  }
}
