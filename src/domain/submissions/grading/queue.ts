import { sql } from '../../../db/builder.ts'
import { type Expressions, scopeWhere } from '../../../db/queries.ts'
import { anyOf } from '../../../db/query.ts'
import { executeByGenericPlan, jsonOf } from '../../../db/statements.ts'
import type { Prisma } from '../../../generated/prisma/client.ts'
import { authorize, may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { type Choice, type ChoiceFilter, readChoices } from '../../invites/form-options.ts'
import { type ListPage, type PageRequest, readPage } from '../../lists/page.ts'
import type { GradableQuestion } from '../scores.ts'
import { gradingFacts } from '../scores.ts'
import { type FlaggedAnswer, findFlaggedAnswers } from './flagged-answers.ts'
import { assignedAnswers, requireVisibleRound, roundOf, withEffectiveGraders } from './graded-submission.ts'
import { newestGrades } from './grades.ts'
import type { GradeRow } from './grading-status.ts'
import { type GradingProgress, gradingProgressOf } from './progress.ts'
import { requireGraderId } from './save-grade.ts'
import {
  isAssigned,
  QUEUES,
  type QueueFilter,
  type QueueName,
  unreleasedSubmissions,
  waitingSubmissions,
} from './waiting-submissions.ts'
import { waitsForOthers } from './waits-for-others.ts'

const include = {
  invite: { select: { recipientName: true, recipientEmail: true } },
  assessment: { select: { name: true, secondGrader: true, thirdGrader: true, blindGrading: true } },
  grader: { include: { user: true } },
  secondGrader: { include: { user: true } },
  gradingAssignments: assignedAnswers,
} satisfies Prisma.SubmissionInclude

const LONGEST_FIRST = [{ submittedAt: 'asc' }, { id: 'asc' }] satisfies Prisma.SubmissionOrderByWithRelationInput[]

type Row = Prisma.SubmissionGetPayload<{ include: typeof include }>

/**
 * A waiting submission in a grading queue.
 *
 * @property progress null for actors who may not grade it (yet).
 * @property flagged recorded answers that may be unfit for grading.
 */
export type QueuedSubmission = Row & { progress: GradingProgress | null; flagged: FlaggedAnswer[] }

/**
 * Submitted and not released, longest waiting first, up to MAX_WAITING.
 *
 * @param counted length of the queue, if it is known. @throws DomainError not_permitted, also for a queue that the actor may not see.
 */
export async function listQueue(
  ctx: Context,
  filter: QueueFilter,
  page: PageRequest,
  counted?: number,
): Promise<ListPage<QueuedSubmission>> {
  if (!visibleQueues(ctx).includes(filter.queue)) throw new DomainError('not_permitted')
  const { db } = ctx
  const waiting = waitingSubmissions(ctx, filter)
  const count = counted ?? (await countWaiting(ctx, filter))
  const list = await readPage(
    page,
    async () => Math.min(count, MAX_WAITING),
    async ({ skip, take }) => {
      // First which: related rows would otherwise be looked up for all the pages before, too.
      const longest = waiting.orderBy('submissions.submittedAt').orderBy('submissions.id').limit(take).offset(skip)
      const found = await longest.select('submissions.id').execute()
      const ids = found.map(({ id }) => id)
      const where = { ...scopeWhere(ctx), id: anyOf(ids) }
      const rows = await db.submission.findMany({ where, include, orderBy: LONGEST_FIRST, relationLoadStrategy: 'join' })
      const papersAndGrades = await findPapersAndGrades(ctx, ids)
      const flagged = await findFlaggedAnswers(ctx, ids)
      return rows.map((row) =>
        toQueuedSubmission(ctx, row, { ...papersAndGrades.get(row.id)!, flagged: flagged.get(row.id) ?? [] }),
      )
    },
  )
  return { ...list, isMore: count > MAX_WAITING }
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
  if (!row) return null
  const papersAndGrades = await findPapersAndGrades(ctx, [row.id])
  const flagged = await findFlaggedAnswers(ctx, [row.id])
  return toQueuedSubmission(ctx, row, { ...papersAndGrades.get(row.id)!, flagged: flagged.get(row.id) ?? [] })
}

/** The paper of a submission, and the grades that count. */
type PaperAndGrades = { paper: GradableQuestion[]; grades: GradeRow[] }

type QueuedFacts = PaperAndGrades & { flagged: FlaggedAnswer[] }

function toQueuedSubmission(ctx: Context, found: Row, { paper, grades, flagged }: QueuedFacts): QueuedSubmission {
  const row = withEffectiveGraders(found)
  const seesIt = may(ctx, 'release_results') || roundOf(ctx, row) !== null
  const progress = seesIt ? gradingProgressOf(ctx, requireVisibleRound(ctx, row), row, paper, grades) : null
  return { ...row, progress, flagged }
}

/** Keyed by submission id. A page of submissions has thousands of questions and grades: as JSON they cost a tenth of typed rows. */
async function findPapersAndGrades(ctx: Context, ids: string[]): Promise<Map<string, PaperAndGrades>> {
  const submissionIds = sql<{ id: string }>`unnest(${ids}::uuid[])`.as<'these'>(sql`these (id)`)
  const query = ctx.db.selectFrom(submissionIds).select((eb) => {
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
  const rows = await executeByGenericPlan(ctx.db, query)
  return new Map(rows.map(({ id, ...papersAndGrades }) => [id, papersAndGrades]))
}

/** Number of waiting submissions in each queue that the actor may see, see MAX_WAITING. @throws DomainError not_permitted. */
export async function countQueues(
  ctx: Context,
  { myLanguages }: Pick<QueueFilter, 'myLanguages'> = {},
): Promise<{ queue: QueueName; count: number }[]> {
  const queues = visibleQueues(ctx)
  if (queues.length === 0) throw new DomainError('not_permitted')
  // A statement for each: PostgreSQL would plan a single one anew for every request, which takes ten times as long as counting.
  const [counts, ofActor] = await Promise.all([
    Promise.all(
      queues.map(async (queue) => ({ queue, count: isOfActor(queue) ? 0 : await countWaiting(ctx, { queue, myLanguages }) })),
    ),
    queues.some(isOfActor) ? countOfActor(ctx) : null,
  ])
  return counts.map(({ queue, count }) => ({ queue, count: ofActor?.get(queue) ?? count }))
}

const isOfActor = (queue: QueueName): boolean => queue === 'mine' || queue === 'others'

/** Counts both queues of the actor together, because it takes as long as counting one. */
async function countOfActor(ctx: Context): Promise<Map<QueueName, number>> {
  const waits = (eb: Expressions<'submissions'>) => sql<boolean>`${waitsForOthers(ctx.db, eb, requireGraderId(ctx))}`
  const ofActor = unreleasedSubmissions(ctx, 'mine')
    .where((eb) => isAssigned(ctx, eb))
    .select((eb) => [waits(eb).as('waits'), sql<number>`count(*)::int`.as('count')])
    .groupBy('waits')
  const counts = await executeByGenericPlan(ctx.db, ofActor)
  return new Map(
    QUEUES.filter(isOfActor).map((queue) => [
      queue,
      counts.find(({ waits: isWaiting }) => isWaiting === (queue === 'others'))?.count ?? 0,
    ]),
  )
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

/** A queue is counted, and read, no further than this, so that it costs the same however many wait. */
export const MAX_WAITING = 1_000

/** Returns one more than MAX_WAITING for any longer queue. */
async function countWaiting(ctx: Context, filter: QueueFilter): Promise<number> {
  const waiting = waitingSubmissions(ctx, filter)
    .select('submissions.id')
    .limit(sql.lit(MAX_WAITING + 1))
  const count = ctx.db
    .selectFrom(waiting.as('waiting'))
    .select(({ cast, fn }) => cast<number>(fn.countAll(), 'integer').as('count'))
  const [found] = await executeByGenericPlan(ctx.db, count)
  return found!.count
}

/** The queues that the context's actor may see. */
export const visibleQueues = (ctx: Context): QueueName[] => QUEUES.filter((queue) => maySeeQueue(ctx, queue))

function maySeeQueue(ctx: Context, queue: QueueName): boolean {
  if (queue === 'all') return may(ctx, 'release_results')
  return may(ctx, 'grade') || (queue === 'release' && may(ctx, 'release_results'))
}

/** Assessments with submissions in the queue, by name. @throws DomainError not_permitted. */
export async function listQueuedAssessments(ctx: Context, filter: QueueFilter, wanted: ChoiceFilter = {}): Promise<Choice[]> {
  if (!visibleQueues(ctx).includes(filter.queue)) throw new DomainError('not_permitted')
  // Most assessments have no waiting submissions, but PostgreSQL's statistics don't show that: with `=` it reads all waiting submissions for each of
  // them. With a range it uses the index on assessments.
  const queued = ctx.db.selectFrom('assessments').where((eb) =>
    eb.exists(
      waitingSubmissions(ctx, filter)
        .where(({ between }) => between('submissions.assessmentId', eb.ref('assessments.id'), eb.ref('assessments.id')))
        .select('submissions.id')
        .offset(sql.lit(0)), // with it PostgreSQL looks for one of each assessment, and doesn't read them all
    ),
  )
  return readChoices(ctx, queued.select(['id', 'name', 'nameSearch as search']), wanted)
}
