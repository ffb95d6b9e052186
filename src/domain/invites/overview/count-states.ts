import { sql } from '../../../db/builder.ts'
import { anyOfIds } from '../../../db/queries.ts'
import type { InviteStatus } from '../../../generated/prisma/client.ts'
import type { Context } from '../../context.ts'
import { isDue } from '../expiry.ts'
import { authorizeInvites } from '../visibility.ts'

/** Number of invites by state. States without invites are missing. */
export type StateCounts = Map<InviteStatus, number>

type StateCount = { status: InviteStatus; count: number }
export const toStateCounts = (counts: StateCount[]): StateCounts => new Map(counts.map(({ status, count }) => [status, count]))

/**
 * Counts the organization's invites by state as of now: the stored counts, corrected for invites past their expiry that are not stored as
 * expired yet. Those are few, because the sweep runs every minute.
 */
export function countStates(ctx: Context) {
  const stored = ctx.db.selectFrom('organizationInviteCounts').select(['status', 'count'])
  const corrections = dueInvites(ctx).select(['moved.status', 'moved.count'])
  return ctx.db
    .selectFrom(stored.unionAll(corrections).as('counts'))
    .select(({ cast, fn }) => ['counts.status', cast<number>(fn.sum('counts.count'), 'integer').as('count')])
    .groupBy('counts.status')
    .having(({ fn }) => fn.sum('counts.count'), '>', 0)
}

/** Counts the invites of an assessment, or all, by state. @throws DomainError not_permitted. */
export async function readStateCounts(ctx: Context, filter: { assessmentId?: string }): Promise<StateCounts> {
  await authorizeInvites(ctx, filter)
  const counts = filter.assessmentId === undefined ? countStates(ctx) : countStatesOf(ctx, [filter.assessmentId])
  return toStateCounts(await counts.execute())
}

/** Like {@link countStates}, for each of the assessments; `id` is the assessment's. */
export function countStatesOf(ctx: Context, assessmentIds: string[]) {
  const stored = ctx.db
    .selectFrom('assessmentInviteCounts')
    .where('assessmentId', '=', anyOfIds(assessmentIds))
    .select(['assessmentId', 'status', 'count'])
  const corrections = dueInvites(ctx)
    .where('assessmentId', '=', anyOfIds(assessmentIds))
    .select(['invites.assessmentId', 'moved.status', 'moved.count'])
  return ctx.db
    .selectFrom(stored.unionAll(corrections).as('counts'))
    .select(({ cast, fn }) => [
      'counts.assessmentId as id',
      'counts.status',
      cast<number>(fn.sum('counts.count'), 'integer').as('count'),
    ])
    .groupBy(['counts.assessmentId', 'counts.status'])
    .having(({ fn }) => fn.sum('counts.count'), '>', 0)
}

/** Corrections of the stored counts: -1 for the stored state of each invite past its expiry, +1 for expired. */
const dueInvites = (ctx: Context) =>
  ctx.db
    .selectFrom('invites')
    .where((eb) => isDue(eb, ctx.deps.clock()))
    .crossJoinLateral(({ ref }) =>
      sql<StateCount>`(values (${ref('invites.status')}, -1), ('expired', 1))`.as<'moved'>(sql`moved (status, count)`),
    )
