import { sql } from '../../../db/builder.ts'
import { type Condition, type Expressions, type Rows, scopeWhere } from '../../../db/queries.ts'
import { anyOf } from '../../../db/query.ts'
import { jsonOf } from '../../../db/statements.ts'
import type { Prisma } from '../../../generated/prisma/client.ts'
import { authorize, may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { type Named, readNames, type Wanted } from '../../invites/form-options.ts'
import { type ListPage, type PageRequest, readPage } from '../../lists/page.ts'
import { graders } from '../../members/graders.ts'
import { isUuid } from '../../values/uuid.ts'
import type { Gradable } from '../scores.ts'
import { gradingFacts } from '../scores.ts'
import { newestGrades } from './grades.ts'
import { type Progress, progressOf } from './progress.ts'
import { asGraded, requireView, roundOf } from './rounds.ts'
import { graderOf } from './save-grade.ts'
import type { GradeRow } from './totals.ts'
import { isGradedTwice, waitsForOthers } from './waits-for-others.ts'

/**
 * Queues. `mine`: graded by the actor, who has something to do; `nobody`: without a grader, or without the second one; `others`:
 * graded by the actor, waiting for others; `all`; and `release`: nothing to grade, only to release, which is in none of the rest.
 */
export const QUEUES = ['mine', 'nobody', 'others', 'all', 'release'] as const
export type Whose = (typeof QUEUES)[number]
export type QueueFilter = { whose: Whose; assessmentId?: string | undefined }

const include = {
  invite: { select: { recipientName: true, recipientEmail: true } },
  assessment: { select: { name: true, secondGrader: true, blindGrading: true } },
  grader: { include: { user: true } },
  secondGrader: { include: { user: true } },
} satisfies Prisma.SubmissionInclude

const LONGEST_FIRST = [{ submittedAt: 'asc' }, { id: 'asc' }] satisfies Prisma.SubmissionOrderByWithRelationInput[]

type Row = Prisma.SubmissionGetPayload<{ include: typeof include }>

/** A submission that waits to be graded. `progress`: null for those who may not grade it (yet). */
export type Queued = Row & { progress: Progress | null }

/**
 * Submitted and not released, longest waiting first. @throws DomainError not_permitted, also for a queue that the actor may not
 * see.
 */
export async function listQueue(ctx: Context, filter: QueueFilter, page: PageRequest): Promise<ListPage<Queued>> {
  if (!queuesOf(ctx).includes(filter.whose)) throw new DomainError('not_permitted')
  const { db } = ctx
  const waiting = waitingIn(ctx, filter)
  return readPage(
    page,
    () => countWaiting(ctx, filter),
    async ({ skip, take }) => {
      // First which: related rows would otherwise be looked up for all the pages before, too.
      const longest = waiting.orderBy('submissions.submittedAt').orderBy('submissions.id').limit(take).offset(skip)
      const found = await longest.select('submissions.id').execute()
      const ids = found.map(({ id }) => id)
      const where = { ...scopeWhere(ctx), id: anyOf(ids) }
      const rows = await db.submission.findMany({ where, include, orderBy: LONGEST_FIRST, relationLoadStrategy: 'join' })
      const given = await findGiven(ctx, ids)
      return rows.map((row) => toQueued(ctx, row, given.get(row.id)!))
    },
  )
}

/** Waiting submission of an invite in the actor's queue, for admins in any; null: none. */
export async function findQueued(ctx: Context, inviteId: string): Promise<Queued | null> {
  if (!may(ctx, 'grade') && !may(ctx, 'release_results')) return null
  const waiting = waitingIn(ctx, { whose: 'all' }).where('submissions.inviteId', '=', inviteId)
  const ofActor = may(ctx, 'read') ? waiting : waiting.where((eb) => isAssigned(ctx, eb))
  const found = await ofActor.select('submissions.id').limit(1).executeTakeFirst()
  if (!found) return null
  const row = await ctx.db.submission.findFirst({
    where: { ...scopeWhere(ctx), id: found.id },
    include,
    relationLoadStrategy: 'join',
  })
  return row && toQueued(ctx, row, (await findGiven(ctx, [row.id])).get(row.id)!)
}

/** The paper of a submission and what counts of its grades. */
type Given = { paper: Gradable[]; grades: GradeRow[] }

function toQueued(ctx: Context, found: Row, { paper, grades }: Given): Queued {
  const row = asGraded(found)
  const seesIt = may(ctx, 'release_results') || roundOf(ctx, row) !== null
  return { ...row, progress: seesIt ? progressOf(requireView(ctx, row), row, paper, grades) : null }
}

/** By the ids of the submissions. A page of them has thousands of questions and grades: as JSON these cost a tenth of what typed rows do. */
async function findGiven(ctx: Context, ids: string[]): Promise<Map<string, Given>> {
  const these = sql<{ id: string }>`unnest(${ids}::uuid[])`.as<'these'>(sql`these (id)`)
  const rows = await ctx.db
    .selectFrom(these)
    .select((eb) => {
      const paper = ctx.db
        .selectFrom('submissionQuestions')
        .where('submissionId', '=', eb.ref('these.id'))
        .select(['number', 'points'])
        .select((paper) => gradingFacts(paper, ctx.db))
      return [
        'these.id',
        jsonOf(paper.orderBy('number')).as('paper'),
        jsonOf(newestGrades(ctx.db, eb.ref('these.id'))).as('grades'),
      ]
    })
    .execute()
  return new Map(rows.map(({ id, ...given }) => [id, given]))
}

/** How many wait in each queue that the context's actor may see. @throws DomainError not_permitted. */
export async function countQueues(ctx: Context): Promise<{ whose: Whose; count: number }[]> {
  const queues = queuesOf(ctx)
  if (queues.length === 0) throw new DomainError('not_permitted')
  const counts = ctx.db.selectNoFrom(({ cast }) =>
    queues.map((whose) => cast<number>(lengthOf(waitingIn(ctx, { whose })), 'integer').as(whose)),
  )
  const counted = await counts.executeTakeFirstOrThrow()
  return queues.map((whose) => ({ whose, count: counted[whose] }))
}

/** Since when what has waited longest of the actor's queue waits, an admin's being all there are; null: nothing waits. @throws DomainError not_permitted. */
export async function waitsSince(ctx: Context): Promise<Date | null> {
  authorize(ctx, 'grade')
  const waiting = waitingIn(ctx, { whose: may(ctx, 'read') ? 'all' : 'mine' })
  const longest = waiting.orderBy('submissions.submittedAt').limit(1).select('submissions.submittedAt')
  return (await longest.executeTakeFirst())?.submittedAt ?? null
}

/** Number beside the menu's link to grading: submissions that wait for the actor. */
export type MenuCounts = { waiting?: string }

/** Counted no further than this, so that it costs the same however many wait. */
const COUNTED = 99

/** Returns nothing for actors who do not grade. */
export async function countForMenu(ctx: Context): Promise<MenuCounts> {
  if (!may(ctx, 'grade')) return {}
  const waiting = waitingIn(ctx, { whose: may(ctx, 'read') ? 'all' : 'mine' })
  const count = (
    await waiting
      .select('submissions.id')
      .limit(COUNTED + 1)
      .execute()
  ).length
  if (count === 0) return {}
  return { waiting: count > COUNTED ? `${COUNTED}+` : String(count) }
}

const lengthOf = (waiting: Rows<'submissions'>) => waiting.select(({ fn }) => fn.countAll().as('count')).$asScalar()

async function countWaiting(ctx: Context, filter: QueueFilter): Promise<number> {
  const count = ctx.db.selectNoFrom(({ cast }) => cast<number>(lengthOf(waitingIn(ctx, filter)), 'integer').as('count'))
  return (await count.executeTakeFirstOrThrow()).count
}

/** The queues that the context's actor may see. */
export const queuesOf = (ctx: Context): Whose[] => QUEUES.filter((queue) => mayWork(ctx, queue))

function mayWork(ctx: Context, queue: Whose): boolean {
  if (queue === 'all') return may(ctx, 'release_results')
  return may(ctx, 'grade') || (queue === 'release' && may(ctx, 'release_results'))
}

/** The assessments of which something waits in that queue, by name. @throws DomainError not_permitted. */
export async function listQueuedAssessments(ctx: Context, whose: Whose, wanted: Wanted = {}): Promise<Named[]> {
  if (!queuesOf(ctx).includes(whose)) throw new DomainError('not_permitted')
  const waiting = waitingIn(ctx, { whose }).select('submissions.assessmentId')
  return readNames(
    ctx,
    ctx.db.selectFrom('assessments').where('id', 'in', waiting).select(['id', 'name', 'nameSearch as search']),
    wanted,
  )
}

/** The submissions that the queue has. */
export function waitingIn(ctx: Context, { whose, assessmentId }: QueueFilter): Rows<'submissions'> {
  const submitted = ctx.db.selectFrom('submissions').where('submissions.state', '=', sql.lit('submitted'))
  const isReady = whose === 'release'
  const handedIn = submitted.where('submissions.needsGrading', isReady ? 'is' : 'is not', false)
  const waiting =
    assessmentId !== undefined && isUuid(assessmentId) ? handedIn.where('submissions.assessmentId', '=', assessmentId) : handedIn
  if (whose === 'all') return waiting
  if (whose === 'release') {
    return may(ctx, 'read') ? waiting : waiting.where((eb) => eb.or([isAssigned(ctx, eb), isFree(ctx, eb, 'graderId')]))
  }
  return waiting.where((eb) => isOf(ctx, eb, whose))
}

function isOf(ctx: Context, eb: Expressions<'submissions'>, whose: 'mine' | 'nobody' | 'others'): Condition {
  const me = graderOf(ctx)
  const waits = waitsForOthers(ctx.db, eb, me)
  if (whose === 'mine') return eb.and([isAssigned(ctx, eb), eb.not(waits)])
  if (whose === 'others') return eb.and([isAssigned(ctx, eb), waits])
  const isFreeBeside = eb.and([
    eb('submissions.graderId', '<>', me),
    isFree(ctx, eb, 'secondGraderId'),
    isGradedTwice(eb, ctx.db),
  ])
  return eb.or([isFree(ctx, eb, 'graderId'), isFreeBeside])
}

function isAssigned(ctx: Context, eb: Expressions<'submissions'>): Condition {
  const me = graderOf(ctx)
  return eb.or([eb('submissions.graderId', '=', me), eb('submissions.secondGraderId', '=', me)])
}

/** The place of one who may not grade any more is free, see holderOf. */
function isFree(ctx: Context, eb: Expressions<'submissions'>, place: 'graderId' | 'secondGraderId'): Condition {
  const id = eb.ref(`submissions.${place}`)
  return eb.or([eb(id, 'is', null), eb.not(eb.exists(graders(ctx.db).where('members.id', '=', id.$notNull())))])
}
