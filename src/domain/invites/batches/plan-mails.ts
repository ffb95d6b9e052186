import { sql } from '../../../db/builder.ts'
import type { Prisma } from '../../../generated/prisma/client.ts'
import type { Context } from '../../context.ts'
import { DEFAULT_EXPIRES_IN_DAYS } from '../../limits.ts'
import { DAY_MS } from '../../time/days.ts'
import { readMailSchedule } from '../mail-schedule.ts'
import { parseTerms } from './term-names.ts'

/**
 * When the mails of a list leave.
 *
 * @property perDay mails that the organization may send within 24 hours; 0: any number. @property days until the last mail leaves, begun ones
 *   counted. @property tooLate the first group of rows whose last mail would leave after half of their invites' time; null: none.
 */
export type MailPlan = { perDay: number; mails: number; lastAt: Date; days: number; tooLate: { expiresInDays: number } | null }

/** Plans when the emails of a new batch would be sent: after waiting emails and running batches. */
export async function planMails(ctx: Context, batch: { id: string; terms: Prisma.JsonValue }): Promise<MailPlan> {
  const now = ctx.deps.clock()
  const { perDay, leavesAt } = await readMailSchedule(ctx)
  const groups = parseTerms(batch.terms).sendEmail === false ? [] : await readGroups(ctx, batch)
  const mails = Math.max(0, ...groups.map(({ last }) => last))
  if (perDay === 0 || mails === 0) return { perDay, mails, lastAt: now, days: 0, tooLate: null }
  const ahead = await countRowsAhead(ctx)
  let tooLate: MailPlan['tooLate'] = null
  for (const { expiresInDays, last } of groups) {
    const leaves = await leavesAt(ahead + last - 1)
    tooLate ??= leaves.getTime() - now.getTime() > (expiresInDays * DAY_MS) / 2 ? { expiresInDays } : null
  }
  const lastAt = await leavesAt(ahead + mails - 1)
  return { perDay, mails, lastAt, days: Math.ceil((lastAt.getTime() - now.getTime()) / DAY_MS), tooLate }
}

/** Rows to invite by days of validity, shortest first, with the position of each group's last row. */
function readGroups(ctx: Context, { id, terms }: { id: string; terms: Prisma.JsonValue }) {
  const everybody = parseTerms(terms).expiresInDays ?? DEFAULT_EXPIRES_IN_DAYS
  const rows = ctx.db
    .selectFrom('inviteBatchRows')
    .where('batchId', '=', id)
    .where('state', '=', 'ready')
    .select(({ ref }) => [
      sql<number>`coalesce((${ref('terms')}->>'expiresInDays')::int, ${everybody}::int)`.as('expiresInDays'),
      sql<number>`row_number() over (order by ${ref('number')})`.as('place'),
    ])
  const groups = ctx.db
    .selectFrom(rows.as('rows'))
    .groupBy('rows.expiresInDays')
    .orderBy('rows.expiresInDays')
    .select(({ ref }) => ['rows.expiresInDays', sql<number>`max(${ref('rows.place')})::int`.as('last')])
  return groups.execute()
}

/** Rows of the organization's lists that are started and not yet invited. */
async function countRowsAhead(ctx: Context): Promise<number> {
  const started = ctx.db
    .selectFrom('inviteBatches')
    .where('startedAt', 'is not', null)
    .where('finishedAt', 'is', null)
    .select('id')
  const rows = ctx.db
    .selectFrom('inviteBatchRows')
    .where('state', '=', 'ready')
    .where((eb) => eb('batchId', 'in', started))
    .select(sql<number>`count(*)::int`.as('count'))
  return (await rows.executeTakeFirstOrThrow()).count
}
