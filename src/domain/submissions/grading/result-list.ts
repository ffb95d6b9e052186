import { sql } from '../../../db/builder.ts'
import { anyOfIds, type Expressions, type SqlBool } from '../../../db/queries.ts'
import type { TenantDb } from '../../../db/tenant-db.ts'
import { authorize, may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import type { Decision } from '../../events/event.ts'
import type { Order, Window } from '../../lists/page.ts'
import { visibleAssessments } from './visible-assessments.ts'

export type ResultFilter = {
  ids?: string[] | undefined
  assessmentId?: string | undefined
  tagId?: string | undefined
  minPercent?: number | undefined
  decision?: Decision | undefined
  band?: string | undefined
  knockedOut?: 'yes' | 'no' | undefined
}
export type ResultOrder = Order<'releasedAt' | 'points' | 'percent' | 'name'>

/** Submissions with a released result that match the filter and that the actor may see. @throws DomainError not_permitted. */
async function matchingResults(ctx: Context, { ids, assessmentId, tagId, minPercent, decision, band, knockedOut }: ResultFilter) {
  // Clients never learn of decisions and knock-outs.
  if (decision !== undefined || knockedOut !== undefined) authorize(ctx, 'read')
  let submissions = ctx.db.selectFrom('submissions').where('submissions.releasedAt', 'is not', null)
  if (!may(ctx, 'read')) submissions = submissions.where('submissions.assessmentId', '=', anyOfIds(await findVisibleIds(ctx)))
  if (assessmentId !== undefined) submissions = submissions.where('submissions.assessmentId', '=', assessmentId)
  if (tagId !== undefined) submissions = submissions.where(({ exists }) => exists(tagsOf(ctx, tagId)))
  if (ids !== undefined) submissions = submissions.where('submissions.id', '=', anyOfIds(ids))
  if (decision !== undefined) submissions = submissions.where('submissions.decision', '=', decision)
  let scored = submissions.innerJoin(ctx.db.table('invites'), 'invites.id', 'submissions.inviteId').innerJoinLateral(
    (eb) => newestRelease(eb, ctx.db),
    (join) => join.onTrue(),
  )
  if (band !== undefined) scored = scored.where('release.band', '=', band)
  if (knockedOut !== undefined)
    scored = scored.where(sql<SqlBool>`(cardinality(release.knocked_out) > 0) = ${knockedOut === 'yes'}`)
  return minPercent === undefined
    ? scored
    : scored.where(sql<SqlBool>`round(100 * release.points / nullif(release.of_points, 0)) >= ${minPercent}`) // as percentOf rounds
}

async function findVisibleIds(ctx: Context): Promise<string[]> {
  const found = await ctx.db.assessment.findMany({ where: visibleAssessments(ctx), select: { id: true } })
  return found.map(({ id }) => id)
}

const tagsOf = (ctx: Context, tagId: string) =>
  ctx.db
    .selectFrom('inviteTags')
    .select('inviteTags.tagId')
    .where('inviteTags.tagId', '=', tagId)
    .where(sql<SqlBool>`invite_tags.invite_id = submissions.invite_id`)

const newestRelease = (eb: Expressions<'submissions'>, db: TenantDb) =>
  eb
    .selectFrom(db.table('releases'))
    .whereRef('releases.submissionId', '=', 'submissions.id')
    .select(['releases.points', 'releases.ofPoints', 'releases.band', 'releases.knockedOut'])
    .orderBy('releases.version', 'desc')
    .limit(eb.lit(1))
    .as('release')

const COLUMNS = {
  releasedAt: sql`submissions.released_at`,
  points: sql`release.points`,
  percent: sql`release.points / nullif(release.of_points, 0)`,
  name: sql`coalesce(invites.recipient_name_search, address_key(invites.recipient_email))`,
}

/** @throws DomainError not_permitted. */
export async function countResults(ctx: Context, filter: ResultFilter): Promise<number> {
  const matches = await matchingResults(ctx, filter)
  return (await matches.select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow()).count
}

/** Ids of a page of the results, in order. Results without points come last. */
export async function findResultIds(
  ctx: Context,
  filter: ResultFilter,
  { field, direction }: ResultOrder,
  { skip, take }: Window,
): Promise<string[]> {
  const matches = await matchingResults(ctx, filter)
  const ordered = matches
    .select('submissions.id')
    .orderBy(COLUMNS[field], (order) => (direction === 'asc' ? order.asc() : order.desc()).nullsLast())
    .orderBy('submissions.id', direction)
  return (await ordered.offset(skip).limit(take).execute()).map(({ id }) => id)
}

/** Ids of the results behind an id, in the order of the ids. */
export async function findResultIdsAfter(
  ctx: Context,
  filter: ResultFilter,
  after: string | undefined,
  take: number,
): Promise<string[]> {
  const matches = await matchingResults(ctx, filter)
  const further = after === undefined ? matches : matches.where('submissions.id', '>', after)
  return (await further.select('submissions.id').orderBy('submissions.id').limit(take).execute()).map(({ id }) => id)
}

/** Ids of the invites of matching results. */
export async function findResultInviteIds(ctx: Context, filter: ResultFilter, take: number): Promise<string[]> {
  const matches = await matchingResults(ctx, filter)
  const found = await matches.select('submissions.inviteId').orderBy('submissions.id').limit(take).execute()
  return [...new Set(found.map(({ inviteId }) => inviteId))]
}
