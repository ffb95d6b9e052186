import { hash } from 'node:crypto'
import { sql } from '../../../db/builder.ts'
import type { Expressions, Rows } from '../../../db/queries.ts'
import type { Context } from '../../context.ts'
import { isUuid } from '../../text/uuid.ts'
import { type AskedQuestion, answersTo, findAssessment, gradableSubmissions } from './answers-to-grade.ts'
import { throwSubmissionNotFound } from './graded-submission.ts'
import { requireGraderId } from './save-grade.ts'

// All answers to one question, one after the other. All graders have the same grading order, which ids make random, but start at different
// positions.

/** Ungraded answers that are counted, and submissions that are searched for them at first, so that the cost is constant. */
const MAX_COUNTED = 200
const MAX_SEARCHED = 1_000
const ALL = 1_000_000

/** Position of a submission in the grading order: the random end of its id first. Served by submissions_walk_idx. */
const positionIn = ({ ref }: Expressions<'submissions'>) => sql<string>`reverse(${ref('submissions.id')}::text) collate "C"`
const positionOf = (id: string): string => [...id].reverse().join('')

/** The actor's first position in the grading order. */
const startOf = (ctx: Context, { questionId }: AskedQuestion): string =>
  hash('md5', `${questionId}${requireGraderId(ctx)}`).slice(0, 12)

/** A part of the grading order. @property after, until positions; undefined: the beginning, or the end. */
type Range = { after?: string; until?: string }
/** @property searched number of submissions that are looked at. @property found limit. */
type Search = Range & { direction: 'asc' | 'desc'; isGraded?: boolean; searched: number; found: number }

/** Submissions with an answer for the actor, in the order of their positions. @param isGraded see answersTo. */
async function findInRange(ctx: Context, question: AskedQuestion, search: Search): Promise<string[]> {
  const { after, until, direction, isGraded, searched, found } = search
  // The limit and the order keep the costly conditions to the nearest submissions.
  const nearest = gradableSubmissions(ctx, question.assessmentId)
    .$if(after !== undefined, (query) => query.where((eb) => eb(positionIn(eb), '>', after!)))
    .$if(until !== undefined, (query) => query.where((eb) => eb(positionIn(eb), '<=', until!)))
    .selectAll('submissions')
    .select((eb) => positionIn(eb).as('position'))
    .orderBy((eb) => positionIn(eb), direction)
    .limit(sql.lit(searched))
  const rows = ctx.db.selectFrom(nearest.as('submissions')) as unknown as Rows<'submissions'>
  const matching = rows
    .where((eb) => eb.exists(answersTo(ctx, eb, question, isGraded).select('submissionQuestions.number')))
    .orderBy(sql.ref('submissions.position'), direction)
    .limit(sql.lit(found))
  return (await matching.select('submissions.id').execute()).map(({ id }) => id)
}

/** True if all submissions are searched at once, so that progress is exact. */
async function isSearchedWhole(ctx: Context, { assessmentId }: AskedQuestion): Promise<boolean> {
  const first = gradableSubmissions(ctx, assessmentId).limit(sql.lit(MAX_SEARCHED + 1))
  return (await first.select('submissions.id').execute()).length <= MAX_SEARCHED
}

/** Ungraded answers after a position, and then from the beginning, up to a limit. The others are searched only if there is none among the nearest. */
async function findUngraded(
  ctx: Context,
  question: AskedQuestion,
  { position, isWhole, found }: { position: string; isWhole: boolean; found: number },
): Promise<string[]> {
  const search = { direction: 'asc', isGraded: false } as const
  const ids: string[] = []
  for (const range of [{ after: position }, { until: position }]) {
    const missing = found - ids.length
    if (missing > 0)
      ids.push(...(await findInRange(ctx, question, { ...search, ...range, searched: MAX_SEARCHED, found: missing })))
    if (ids.length === 0 && !isWhole)
      ids.push(...(await findInRange(ctx, question, { ...search, ...range, searched: ALL, found: 1 })))
  }
  return ids
}

/** The next ungraded answer after one: its submission; undefined: everything is graded. */
export async function findNextAnswer(ctx: Context, question: AskedQuestion, submissionId: string): Promise<string | undefined> {
  const [next] = await findUngraded(ctx, question, { position: positionOf(submissionId), isWhole: false, found: 1 })
  return next
}

/** The answer before a position in the actor's order, graded or not. @param current the submission at the position, which is left out. */
async function findPrevious(
  ctx: Context,
  question: AskedQuestion,
  position: string,
  current?: string,
): Promise<string | undefined> {
  const start = startOf(ctx, question)
  const ranges = position > start ? [{ after: start, until: position }] : [{ until: position }, { after: start }]
  for (const range of ranges) {
    const ids = await findInRange(ctx, question, { ...range, direction: 'desc', searched: MAX_SEARCHED, found: 2 })
    const previous = ids.find((id) => id !== current)
    if (previous) return previous
  }
  return undefined
}

/** Grades from which the pace is measured; longer pauses are not work. */
const PACE_GRADES = 30
const MAX_PAUSE_MS = 10 * 60_000

/** @property newest submission that the actor graded last. @property pace mean milliseconds from one grade to the next; null: unknown. */
type OwnGrades = { graded: number; newest: string | undefined; pace: number | null }

/** Reads grades_grader_idx only. */
async function readOwnGrades(ctx: Context, { questionId }: AskedQuestion): Promise<OwnGrades> {
  const ownGrades = ctx.db
    .selectFrom('grades')
    .where('grades.graderId', '=', requireGraderId(ctx))
    .where('grades.questionId', '=', questionId)
    .where('grades.points', 'is not', null)
  const newest = await ownGrades
    .select(['grades.submissionId', 'grades.createdAt'])
    .orderBy('grades.createdAt', 'desc')
    .orderBy('grades.submissionId', 'desc')
    .limit(sql.lit(PACE_GRADES))
    .execute()
  const { graded } = await ownGrades
    .select(({ cast, fn }) => cast<number>(fn.count('grades.submissionId').distinct(), 'integer').as('graded'))
    .executeTakeFirstOrThrow()
  const times = newest.map(({ createdAt }) => createdAt.getTime())
  const pauses = times.slice(1).map((time, i) => times[i]! - time)
  const worked = pauses.filter((pause) => pause <= MAX_PAUSE_MS)
  const pace = worked.length < 2 ? null : worked.reduce((sum, pause) => sum + pause, 0) / worked.length
  return { graded, newest: newest[0]?.submissionId, pace }
}

/**
 * The actor's way through the answers to a question.
 *
 * @property current the submission asked for, else the first to grade; undefined: everything is graded. @property next the next to grade.
 * @property previous the one before in the actor's order, graded or not. @property graded answers to the question, in any wording, that the
 *   actor has graded. @property toGrade number of answers without the actor's points, the current one included. @property isMore true if
 *   not all of these were counted. @property pace see OwnGrades.
 */
export type QuestionWalk = {
  assessment: { id: string; name: string }
  current: string | undefined
  next: string | undefined
  previous: string | undefined
  graded: number
  toGrade: number
  isMore: boolean
  pace: number | null
}

/**
 * @param currentId submission; undefined: where the actor stopped.
 * @throws DomainError not_permitted; assessment_not_found; submission_not_found if there is no such question or submission.
 */
export async function walkQuestion(ctx: Context, question: AskedQuestion, currentId?: string): Promise<QuestionWalk> {
  const assessment = await findAssessment(ctx, question.assessmentId)
  if (!isUuid(question.questionId) || (currentId !== undefined && !isUuid(currentId))) throwSubmissionNotFound()
  const { graded, newest, pace } = await readOwnGrades(ctx, question)
  const last = currentId ?? newest
  const position = last === undefined ? startOf(ctx, question) : positionOf(last)
  const isWhole = await isSearchedWhole(ctx, question)
  const ungraded = await findUngraded(ctx, question, { position, isWhole, found: MAX_COUNTED })
  const current = currentId ?? ungraded[0]
  const previous = await findPrevious(ctx, question, current === undefined ? position : positionOf(current), current)
  const next = ungraded.find((id) => id !== current)
  const isMore = ungraded.length === MAX_COUNTED || !isWhole
  return { assessment, current, next, previous, graded, toGrade: ungraded.length, isMore, pace }
}
