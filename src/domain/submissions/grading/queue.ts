import { sql } from '../../../db/builder.ts'
import { type Condition, type Expressions, type Rows, scopeWhere } from '../../../db/queries.ts'
import { anyOf } from '../../../db/query.ts'
import { jsonOf } from '../../../db/statements.ts'
import type { Prisma } from '../../../generated/prisma/client.ts'
import { authorize, may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { type Choice, type ChoiceFilter, readChoices } from '../../invites/form-options.ts'
import { type ListPage, type PageRequest, readPage } from '../../lists/page.ts'
import { graders } from '../../members/graders.ts'
import { isUuid } from '../../text/uuid.ts'
import type { GradableQuestion } from '../scores.ts'
import { gradingFacts } from '../scores.ts'
import { requireVisibleRound, roundOf, withEffectiveGraders } from './graded-submission.ts'
import { newestGrades } from './grades.ts'
import type { GradeRow } from './grading-status.ts'
import { type GradingProgress, gradingProgressOf } from './progress.ts'
import { requireGraderId } from './save-grade.ts'
import { isGradedTwice, waitsForOthers } from './waits-for-others.ts'

/**
 * Queues. `mine`: graded by the actor, who has something to do; `nobody`: without a grader, or without the second one; `others`:
 * graded by the actor, waiting for others; `all`; and `release`: nothing to grade, only to release, which is in none of the rest.
 */
export const QUEUES = ['mine', 'nobody', 'others', 'all', 'release'] as const
export type QueueName = (typeof QUEUES)[number]
export type QueueFilter = { queue: QueueName; assessmentId?: string | undefined }

const include = {
  invite: { select: { recipientName: true, recipientEmail: true } },
  assessment: { select: { name: true, secondGrader: true, blindGrading: true } },
  grader: { include: { user: true } },
  secondGrader: { include: { user: true } },
} satisfies Prisma.SubmissionInclude

const LONGEST_FIRST = [{ submittedAt: 'asc' }, { id: 'asc' }] satisfies Prisma.SubmissionOrderByWithRelationInput[]

type Row = Prisma.SubmissionGetPayload<{ include: typeof include }>

/** A submission that waits to be graded. `progress`: null for those who may not grade it (yet). */
export type QueuedSubmission = Row & { progress: GradingProgress | null }

/**
 * Submitted and not released, longest waiting first. @throws DomainError not_permitted, also for a queue that the actor may not
 * see.
 */
export async function listQueue(ctx: Context, filter: QueueFilter, page: PageRequest): Promise<ListPage<QueuedSubmission>> {
  if (!visibleQueues(ctx).includes(filter.queue)) throw new DomainError('not_permitted')
  const { db } = ctx
  const waiting = waitingSubmissions(ctx, filter)
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
      const given = await findPapersAndGrades(ctx, ids)
      return rows.map((row) => toQueuedSubmission(ctx, row, given.get(row.id)!))
    },
  )
}

/** Waiting submission of an invite in the actor's queue, for admins in any; null: none. */
export async function findQueuedSubmission(ctx: Context, inviteId: string): Promise<QueuedSubmission | null> {
  if (!may(ctx, 'grade') && !may(ctx, 'release_results')) return null
  const waiting = waitingSubmissions(ctx, { queue: 'all' }).where('submissions.inviteId', '=', inviteId)
  const ofActor = may(ctx, 'read') ? waiting : waiting.where((eb) => isAssigned(ctx, eb))
  const found = await ofActor.select('submissions.id').limit(1).executeTakeFirst()
  if (!found) return null
  const row = await ctx.db.submission.findFirst({
    where: { ...scopeWhere(ctx), id: found.id },
    include,
    relationLoadStrategy: 'join',
  })
  return row && toQueuedSubmission(ctx, row, (await findPapersAndGrades(ctx, [row.id])).get(row.id)!)
}

/** The paper of a submission and what counts of its grades. */
type PaperAndGrades = { paper: GradableQuestion[]; grades: GradeRow[] }

function toQueuedSubmission(ctx: Context, found: Row, { paper, grades }: PaperAndGrades): QueuedSubmission {
  const row = withEffectiveGraders(found)
  const seesIt = may(ctx, 'release_results') || roundOf(ctx, row) !== null
  return { ...row, progress: seesIt ? gradingProgressOf(requireVisibleRound(ctx, row), row, paper, grades) : null }
}

/** By the ids of the submissions. A page of them has thousands of questions and grades: as JSON these cost a tenth of what typed rows do. */
async function findPapersAndGrades(ctx: Context, ids: string[]): Promise<Map<string, PaperAndGrades>> {
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

/** Number of waiting submissions in each queue that the actor may see. @throws DomainError not_permitted. */
export async function countQueues(ctx: Context): Promise<{ queue: QueueName; count: number }[]> {
  const queues = visibleQueues(ctx)
  if (queues.length === 0) throw new DomainError('not_permitted')
  const counts = ctx.db.selectNoFrom(({ cast }) =>
    queues.map((queue) => cast<number>(lengthOf(waitingSubmissions(ctx, { queue })), 'integer').as(queue)),
  )
  const counted = await counts.executeTakeFirstOrThrow()
  return queues.map((queue) => ({ queue, count: counted[queue] }))
}

/** Submission time of the oldest waiting submission in the actor's queue, for admins in all; null: none. @throws DomainError not_permitted. */
export async function findOldestWaiting(ctx: Context): Promise<Date | null> {
  authorize(ctx, 'grade')
  const waiting = waitingSubmissions(ctx, { queue: may(ctx, 'read') ? 'all' : 'mine' })
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
  const waiting = waitingSubmissions(ctx, { queue: may(ctx, 'read') ? 'all' : 'mine' })
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
  const count = ctx.db.selectNoFrom(({ cast }) => cast<number>(lengthOf(waitingSubmissions(ctx, filter)), 'integer').as('count'))
  return (await count.executeTakeFirstOrThrow()).count
}

/** The queues that the context's actor may see. */
export const visibleQueues = (ctx: Context): QueueName[] => QUEUES.filter((queue) => maySeeQueue(ctx, queue))

function maySeeQueue(ctx: Context, queue: QueueName): boolean {
  if (queue === 'all') return may(ctx, 'release_results')
  return may(ctx, 'grade') || (queue === 'release' && may(ctx, 'release_results'))
}

/** The assessments of which something waits in that queue, by name. @throws DomainError not_permitted. */
export async function listQueuedAssessments(ctx: Context, queue: QueueName, wanted: ChoiceFilter = {}): Promise<Choice[]> {
  if (!visibleQueues(ctx).includes(queue)) throw new DomainError('not_permitted')
  const waiting = waitingSubmissions(ctx, { queue: queue }).select('submissions.assessmentId')
  return readChoices(
    ctx,
    ctx.db.selectFrom('assessments').where('id', 'in', waiting).select(['id', 'name', 'nameSearch as search']),
    wanted,
  )
}

/** The submissions that the queue has. */
export function waitingSubmissions(ctx: Context, { queue: whose, assessmentId }: QueueFilter): Rows<'submissions'> {
  const submitted = ctx.db.selectFrom('submissions').where('submissions.state', '=', sql.lit('submitted'))
  const isReady = whose === 'release'
  const handedIn = submitted.where('submissions.needsGrading', isReady ? 'is' : 'is not', false)
  const waiting =
    assessmentId !== undefined && isUuid(assessmentId) ? handedIn.where('submissions.assessmentId', '=', assessmentId) : handedIn
  if (whose === 'all') return waiting
  if (whose === 'release') {
    return may(ctx, 'read') ? waiting : waiting.where((eb) => eb.or([isAssigned(ctx, eb), isSlotFree(ctx, eb, 'graderId')]))
  }
  return waiting.where((eb) => isInQueue(ctx, eb, whose))
}

function isInQueue(ctx: Context, eb: Expressions<'submissions'>, whose: 'mine' | 'nobody' | 'others'): Condition {
  const me = requireGraderId(ctx)
  const waits = waitsForOthers(ctx.db, eb, me)
  if (whose === 'mine') return eb.and([isAssigned(ctx, eb), eb.not(waits)])
  if (whose === 'others') return eb.and([isAssigned(ctx, eb), waits])
  const isFreeBeside = eb.and([
    eb('submissions.graderId', '<>', me),
    isSlotFree(ctx, eb, 'secondGraderId'),
    isGradedTwice(eb, ctx.db),
  ])
  return eb.or([isSlotFree(ctx, eb, 'graderId'), isFreeBeside])
}

function isAssigned(ctx: Context, eb: Expressions<'submissions'>): Condition {
  const me = requireGraderId(ctx)
  return eb.or([eb('submissions.graderId', '=', me), eb('submissions.secondGraderId', '=', me)])
}

/** The place of one who may not grade any more is free, see effectiveGraderOf. */
function isSlotFree(ctx: Context, eb: Expressions<'submissions'>, place: 'graderId' | 'secondGraderId'): Condition {
  const id = eb.ref(`submissions.${place}`)
  return eb.or([eb(id, 'is', null), eb.not(eb.exists(graders(ctx.db).where('members.id', '=', id.$notNull())))])
}
