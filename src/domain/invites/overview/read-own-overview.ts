import { authorize, may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { statusNow } from '../expiry.ts'
import { type Choice, listClientAssessments } from '../form-options.ts'
import { isVisibleUnblinded } from '../visibility.ts'
import { countStatesOf, type StateCounts, toStateCounts } from './count-states.ts'

/** Figures for a member without access to all invites. Null: no such role. */
export type OwnOverview = {
  /** The invites that are assigned to them. */
  assigned: StateCounts | null
  /** The assessments that they are client of, by name. */
  assessments: (Choice & { states: StateCounts })[] | null
}

/** Work of the actor as a grader and as a client. */
export async function readOwnOverview(ctx: Context): Promise<OwnOverview> {
  const [assigned, assessments] = await Promise.all([
    may(ctx, 'read_as_grader') ? countAssigned(ctx) : null,
    may(ctx, 'read_as_client') ? countOfAssessments(ctx) : null,
  ])
  return { assigned, assessments }
}

/** Assigned invites by status. @throws DomainError not_permitted. */
export async function countAssigned(ctx: Context): Promise<StateCounts> {
  authorize(ctx, 'read_as_grader')
  const { actor, deps } = ctx
  if (actor.kind !== 'member') return new Map()
  const counts = ctx.db
    .selectFrom('invites')
    .where('assignedGraderId', '=', actor.id)
    .where((eb) => isVisibleUnblinded(ctx, eb))
    .select((eb) => [statusNow(eb, deps.clock()).as('status'), eb.cast<number>(eb.fn.countAll(), 'integer').as('count')])
    .groupBy(({ lit }) => lit(1))
  return toStateCounts(await counts.execute())
}

async function countOfAssessments(ctx: Context): Promise<(Choice & { states: StateCounts })[]> {
  const assessments = await listClientAssessments(ctx)
  const ids = assessments.map(({ id }) => id)
  const counts = await countStatesOf(ctx, ids).execute()
  const byId = Map.groupBy(counts, ({ id }) => id)
  return assessments.map((assessment) => ({ ...assessment, states: toStateCounts(byId.get(assessment.id) ?? []) }))
}
