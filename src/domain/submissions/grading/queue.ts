import { sql } from '../../../db/builder.ts'
import { type Condition, type Expressions, type Rows, scopeWhere } from '../../../db/queries.ts'
import { anyOf } from '../../../db/query.ts'
import { executeByGenericPlan, jsonOf, listOf } from '../../../db/statements.ts'
import type { Prisma } from '../../../generated/prisma/client.ts'
import { authorize, may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { type Choice, type ChoiceFilter, readChoices } from '../../invites/form-options.ts'
import { type ListPage, type PageRequest, readPage } from '../../lists/page.ts'
import { isUuid } from '../../text/uuid.ts'
import { NO_LANGUAGE } from '../graded-languages.ts'
import type { GradableQuestion } from '../scores.ts'
import { gradingFacts } from '../scores.ts'
import { hasAssignment, isRoundCovered, isRoundHeld } from './assignments.ts'
import { type FlaggedAnswer, findFlaggedAnswers } from './flagged-answers.ts'
import {
  assignedAnswers,
  hasThirdGrader,
  isGradedTwice,
  requireVisibleRound,
  roundOf,
  withEffectiveGraders,
} from './graded-submission.ts'
import { newestGrades } from './grades.ts'
import type { GradeRow } from './grading-status.ts'
import { type GradingProgress, gradingProgressOf } from './progress.ts'
import { requireGraderId } from './save-grade.ts'
import { isUndecided, waitsForOthers } from './waits-for-others.ts'

/**
 * Queues. `mine`: graded by the actor, who has something to do; `nobody`: without a grader, or without the second or third one; `others`:
 * graded by the actor, waiting for others; `all`; and `release`: nothing to grade, only to release, which is in none of the rest.
 */
export const QUEUES = ['mine', 'nobody', 'others', 'all', 'release'] as const
export type QueueName = (typeof QUEUES)[number]
/** `myLanguages`: only submissions with an answer in one of the actor's grading languages, or in none. It leaves out nothing that is assigned to the actor. */
export type QueueFilter = { queue: QueueName; assessmentId?: string | undefined; myLanguages?: boolean | undefined }

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
  // Most assessments have no waiting submission, of which PostgreSQL's statistics know nothing: with an equation it reads all waiting submissions
  // for each of these. As a range it takes the index of assessments.
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

/** Submissions that are not released; for all queues but `release` those that people grade. */
const unreleasedSubmissions = (ctx: Context, queue: QueueName): Rows<'submissions'> =>
  ctx.db
    .selectFrom('submissions')
    .where('submissions.state', '=', sql.lit('submitted'))
    .where('submissions.needsGrading', queue === 'release' ? 'is' : 'is not', false)

/** The submissions that the queue has. */
export function waitingSubmissions(ctx: Context, { queue, assessmentId, myLanguages }: QueueFilter): Rows<'submissions'> {
  const unreleased = unreleasedSubmissions(ctx, queue)
  const ofAssessment =
    assessmentId !== undefined && isUuid(assessmentId)
      ? unreleased.where('submissions.assessmentId', '=', assessmentId)
      : unreleased
  const isFiltered = myLanguages === true && FILTERED_BY_LANGUAGE.includes(queue)
  const waiting = isFiltered ? ofAssessment.where((eb) => hasAnswerInMyLanguages(ctx, eb)) : ofAssessment
  if (queue === 'all') return waiting
  if (queue === 'release') {
    return may(ctx, 'read') ? waiting : waiting.where((eb) => isReadableByGrader(ctx, eb))
  }
  return waiting.where((eb) => isInQueue(ctx, eb, queue))
}

/** The other queues contain what somebody assigned to the actor, in any language. */
const FILTERED_BY_LANGUAGE: readonly QueueName[] = ['nobody', 'all']

/** True for members who have grading languages. */
export const hasGradingLanguages = async (ctx: Context): Promise<boolean> =>
  ctx.actor.kind === 'member' && (await codesOf(ctx, ctx.actor.id).limit(1).executeTakeFirst()) !== undefined

const codesOf = ({ db }: Context, memberId: string) =>
  db
    .selectFrom('memberGradingLanguages')
    .innerJoin(db.table('languages'), 'languages.id', 'memberGradingLanguages.languageId')
    .where('memberGradingLanguages.memberId', '=', memberId)
    .select('languages.code')

/** SQL condition: a question with points is in one of the actor's grading languages, or in none. Without recorded languages it holds for everybody. */
function hasAnswerInMyLanguages(ctx: Context, eb: Expressions<'submissions'>): Condition {
  const languages = eb.ref('submissions.gradedLanguages')
  const codes = listOf(codesOf(ctx, requireGraderId(ctx)))
  return sql<boolean>`coalesce(${languages} && array_append(${codes}, ${sql.lit(NO_LANGUAGE)}), true)`
}

function isInQueue(ctx: Context, eb: Expressions<'submissions'>, queue: 'mine' | 'nobody' | 'others'): Condition {
  const me = requireGraderId(ctx)
  const waits = waitsForOthers(ctx.db, eb, me)
  if (queue === 'mine') return eb.and([isAssigned(ctx, eb), eb.not(waits)])
  if (queue === 'others') return eb.and([isAssigned(ctx, eb), waits])
  const isFreeBeside = eb.and([
    eb('submissions.graderId', 'is distinct from', me),
    eb('submissions.secondGraderId', 'is distinct from', me),
    eb.not(hasAssignment(ctx.db, eb, me)),
    isSlotFree(ctx, eb, 'secondGraderId'),
    isGradedTwice(eb, ctx.db),
  ])
  const isFree = eb.and([isSlotFree(ctx, eb, 'graderId'), eb.not(hasAssignment(ctx.db, eb, me))])
  return eb.or([isFree, isFreeBeside, waitsForThirdGrader(ctx, eb, me)])
}

/** SQL condition: a grader may read the submitted answers, as mayReadSubmission has it. */
export const isReadableByGrader = (ctx: Context, eb: Expressions<'submissions'>): Condition =>
  eb.or([isAssigned(ctx, eb), isSlotFree(ctx, eb, 'graderId')])

/** SQL condition: the two graders differ, and the member is none of them. The few ids come first, because they have an index of their own. */
function waitsForThirdGrader({ db }: Context, eb: Expressions<'submissions'>, me: string): Condition {
  const undecided = db
    .selectFrom('submissions')
    .where('submissions.needsThirdGrader', '=', sql.lit(true))
    .where('submissions.graderId', 'is distinct from', me)
    .where('submissions.secondGraderId', 'is distinct from', me)
    .where((submissionEb) =>
      submissionEb.and([
        submissionEb.not(hasAssignment(db, submissionEb, me)),
        hasThirdGrader(submissionEb, db),
        isUndecided(db, submissionEb),
      ]),
    )
    .select('submissions.id')
  return eb('submissions.id', '=', sql<string>`any(array(${undecided}))`)
}

/** SQL condition: the submission, or one of its answers, is assigned to the actor. */
export function isAssigned(ctx: Context, eb: Expressions<'submissions'>): Condition {
  const me = requireGraderId(ctx)
  return eb.or([eb('submissions.graderId', '=', me), eb('submissions.secondGraderId', '=', me), hasAssignment(ctx.db, eb, me)])
}

/** SQL condition: as isSlotOpen. */
export function isSlotFree(ctx: Context, eb: Expressions<'submissions'>, place: 'graderId' | 'secondGraderId'): Condition {
  const round = place === 'graderId' ? 1 : 2
  const isUnheld = eb.or([eb(`submissions.${place}`, 'is', null), eb.not(isRoundHeld(ctx.db, eb, round))])
  return eb.and([isUnheld, eb.not(isRoundCovered(ctx.db, eb, round))])
}
