import { sql } from '../../../db/builder.ts'
import { anyOfIds } from '../../../db/queries.ts'
import type { InviteStatus } from '../../../generated/prisma/client.ts'
import type { Context } from '../../context.ts'
import { isDue } from '../expiry.ts'
import { authorizeInvites } from '../visibility.ts'

/** How many invites are in each state; those of which there are none are missing. */
export type StateCounts = Map<InviteStatus, number>

type StateCount = { status: InviteStatus; count: number }
export const toStateCounts = (counts: StateCount[]): StateCounts => new Map(counts.map(({ status, count }) => [status, count]))

/**
 * How many of the organization's invites are in each state as of now, by the counts that are kept of what is stored. Those that are due and
 * not set to expired yet, because another transaction has locked them or nobody has come to it, are moved from one count to the other:
 * they are few, since the sweep leaves them for a minute at most.
 */
export function countStates(ctx: Context) {
  const kept = ctx.db.selectFrom('organizationInviteCounts').select(['status', 'count'])
  const moved = dueInvites(ctx).select(['moved.status', 'moved.count'])
  return ctx.db
    .selectFrom(kept.unionAll(moved).as('counts'))
    .select(({ cast, fn }) => ['counts.status', cast<number>(fn.sum('counts.count'), 'integer').as('count')])
    .groupBy('counts.status')
    .having(({ fn }) => fn.sum('counts.count'), '>', 0)
}

/** How many invites are in each state: of an assessment, or of all. @throws DomainError not_permitted. */
export async function readStates(ctx: Context, of: { assessmentId?: string }): Promise<StateCounts> {
  await authorizeInvites(ctx, of)
  const counts = of.assessmentId === undefined ? countStates(ctx) : countStatesOf(ctx, [of.assessmentId])
  return toStateCounts(await counts.execute())
}

/** How many invites of each of these assessments, by its `id`, are in each state as of now, see {@link countStates}. */
export function countStatesOf(ctx: Context, assessmentIds: string[]) {
  const kept = ctx.db
    .selectFrom('assessmentInviteCounts')
    .where('assessmentId', '=', anyOfIds(assessmentIds))
    .select(['assessmentId', 'status', 'count'])
  const moved = dueInvites(ctx)
    .where('assessmentId', '=', anyOfIds(assessmentIds))
    .select(['invites.assessmentId', 'moved.status', 'moved.count'])
  return ctx.db
    .selectFrom(kept.unionAll(moved).as('counts'))
    .select(({ cast, fn }) => [
      'counts.assessmentId as id',
      'counts.status',
      cast<number>(fn.sum('counts.count'), 'integer').as('count'),
    ])
    .groupBy(['counts.assessmentId', 'counts.status'])
    .having(({ fn }) => fn.sum('counts.count'), '>', 0)
}

/** The invites that are due, with what each adds to the counts: one less of what is stored, and one expired more. */
const dueInvites = (ctx: Context) =>
  ctx.db
    .selectFrom('invites')
    .where((eb) => isDue(eb, ctx.deps.clock()))
    .crossJoinLateral(({ ref }) =>
      sql<StateCount>`(values (${ref('invites.status')}, -1), ('expired', 1))`.as<'moved'>(sql`moved (status, count)`),
    )
