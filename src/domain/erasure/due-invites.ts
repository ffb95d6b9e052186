import { sql } from '../../db/builder.ts'
import type { Rows } from '../../db/queries.ts'
import { tenantDb } from '../../db/tenant-db.ts'
import type { Context, KeyMode } from '../context.ts'
import { DAY_MS, daysAfter } from '../time/days.ts'

// Invites past their organization's retention.

/** End of an invite. Declined means revoked by the candidate. */
export const RETENTION_RULES = ['completed', 'expired', 'revoked'] as const
export type RetentionRule = (typeof RETENTION_RULES)[number]
/** Days for which ended invites are kept, by how they ended; null: forever. */
export type RetentionDays = Record<RetentionRule, number | null>

export const MODES = ['live', 'test'] as const satisfies KeyMode[]

const ENDED_AT = { completed: 'invites.completedAt', expired: 'invites.expiresAt', revoked: 'invites.revokedAt' } as const

/** Start of the day in UTC. Retention ends at the end of a day. */
export const startOfDay = (time: Date): Date => new Date(Math.floor(time.getTime() / DAY_MS) * DAY_MS)

/** Invites of one rule and mode that are due on a day, in the order of an index: the cost follows the number of due invites. */
export function dueInvites(
  ctx: Pick<Context, 'organization' | 'db'>,
  { mode, rule, days, day }: { mode: KeyMode; rule: RetentionRule; days: number; day: Date },
): Rows<'invites'> {
  const endedAt = ENDED_AT[rule]
  return tenantDb(ctx.db, { ...ctx, mode })
    .selectFrom('invites')
    .where('invites.status', '=', sql.lit(rule))
    .where(endedAt, '<', daysAfter(day, -days))
    .orderBy(endedAt)
    .orderBy('invites.id')
}

/** Invites counted per rule. The caller waits, and a statement has a few seconds. */
export const MAX_COUNTED_DUE = 10_000

/** Counts invites that are due on the day, by rule. Stops at one more than {@link MAX_COUNTED_DUE}. */
export async function countDue(ctx: Context, retentionDays: RetentionDays, day: Date): Promise<Record<RetentionRule, number>> {
  const counts = { completed: 0, expired: 0, revoked: 0 }
  for (const rule of RETENTION_RULES)
    for (const mode of MODES) {
      const days = retentionDays[rule]
      const atMost = MAX_COUNTED_DUE + 1 - counts[rule]
      if (days === null || atMost === 0) continue
      const dueIds = dueInvites(ctx, { mode, rule, days, day }).select('invites.id').limit(atMost)
      const counting = ctx.db.selectFrom(dueIds.as('due')).select(sql<number>`count(*)::int`.as('count'))
      counts[rule] += (await counting.executeTakeFirst())!.count
    }
  return counts
}
