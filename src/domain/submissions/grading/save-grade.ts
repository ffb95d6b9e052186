import { isDeepStrictEqual } from 'node:util'
import { scopeWhere } from '../../../db/queries.ts'
import { pointsOf, type Rubric } from '../../assessments/rubric.ts'
import type { Context } from '../../context.ts'
import type { Issue, Violation } from '../../errors.ts'
import { MAX_COMMENT_LENGTH } from '../../limits.ts'
import type { GradingProblem } from '../../ports/problems.ts'
import { inTransaction } from '../../transaction.ts'
import { checkText, findIssues } from '../../validation/checks.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'
import type { GradableQuestion } from '../scores.ts'
import {
  findPaper,
  type GradingRound,
  lockSubmitted,
  otherGraderOf,
  requireRound,
  type SubmissionToGrade,
  throwSubmissionNotFound,
} from './graded-submission.ts'
import { findGrades, type GradeByPerson, visibleGrades } from './grades.ts'
import { countGrades, haveBothGraded } from './grading-status.ts'
import { findRubrics } from './rubrics.ts'
import { recordViewer } from './viewers.ts'

/** Time within which a grader's change of their own grade corrects it; a later change is a new grade. */
const CORRECTED_WITHIN_MS = 15 * 60_000
/** Other points within so long are the same number being typed, "1" and then "10"; later ones are another grade, and the history has both. */
const TYPED_WITHIN_MS = 5_000

/**
 * @param points in steps of 0.5; null: not graded (yet).
 * @param stood points of others that a grader without a grade was shown; leaving them unchanged is no grade.
 * @param seen time up to which the grader has seen the existing grades.
 */
export type NewGrade = {
  submissionId: string
  number: number
  points: number | null
  stood?: number | null
  comment: string
  /** Chosen levels of the rubric, from 1; 0: none. Undefined: as before, if the points are. */
  levels?: readonly number[] | undefined
  seen: Date
}

export type SaveGradeOutcome = {
  /** False where the grader has graded the question since `seen`, in another window: nothing was changed. */
  isSaved: boolean
  /** The grader's newest grade of the question, as it is now. */
  ownGrade: GradeByPerson | undefined
  /** The grades that others have given for it in the same place since `seen`. */
  otherGrades: GradeByPerson[]
  /** Up to when the grader has seen its grades with this answer. */
  seen: Date
}

/**
 * Saves a grade of an answer. Other graders' grades stay.
 *
 * @throws DomainError not_permitted; submission_not_found, also for a question that the paper does not have; invalid (rule `account`:
 *   points, released; assignedToOther; levels; uncommented, unlikeRubric: other points than the key or the levels give, without a comment).
 */
export async function saveGrade(ctx: Context, { submissionId, seen: seenAt, ...grade }: NewGrade): Promise<SaveGradeOutcome> {
  return inTransaction(ctx, async (inside) => {
    const sheet = await lockGrading(inside, submissionId)
    const { submission, round, paper, me } = sheet
    const isSaved = (await writeGrades(inside, sheet, [grade], seenAt)) === null
    await recordViewer(inside, submissionId)
    const visible = visibleGrades(round, submission, paper, await findGrades(inside, submissionId))
    const visibleForQuestion = visible.filter(({ questionNumber }) => questionNumber === grade.number)
    return {
      isSaved,
      ownGrade: visibleForQuestion.findLast((grade) => grade.graderId === me && grade.round === round),
      otherGrades: visibleForQuestion.filter(
        (grade) => grade.round === round && grade.graderId !== me && !(grade.updatedAt <= seenAt),
      ),
      seen: visibleForQuestion.reduce((last, { updatedAt }) => (last >= updatedAt ? last : updatedAt), seenAt),
    }
  })
}

export type QuestionGrade = Pick<NewGrade, 'number' | 'points' | 'stood' | 'comment' | 'levels'>

/**
 * Saves grades of several answers, each question once: all or none.
 *
 * @param seen time until which the grader has seen grades; undefined: overwrite any. @returns the number of the first question that the
 *   grader has graded since `seen`, if any: then nothing is saved.
 * @throws DomainError as saveGrade.
 */
export const saveGrades = (
  ctx: Context,
  { submissionId, grades, seen: seenAt }: { submissionId: string; grades: readonly QuestionGrade[]; seen?: Date | undefined },
): Promise<number | null> =>
  inTransaction(ctx, async (inside) => writeGrades(inside, await lockGrading(inside, submissionId), grades, seenAt))

export type LockedGrading = { submission: SubmissionToGrade; round: GradingRound; paper: GradableQuestion[]; me: string }

/** Locks a submission that the member may grade. */
export async function lockGrading(inside: Context, submissionId: string): Promise<LockedGrading> {
  const submission = await lockSubmitted(inside, submissionId)
  const round = requireRound(inside, submission)
  refuseReleased(submission)
  return { submission, round, paper: await findPaper(inside, submissionId), me: requireGraderId(inside) }
}

/** @throws DomainError invalid (rule `account`: released). */
export function refuseReleased({ state }: Pick<SubmissionToGrade, 'state'>): void {
  throwIfIssues(state === 'released' ? [createGradingIssue('released')] : [])
}

/** Issue of grading or of a result. @param limit the number of the question, or the points. */
export const createGradingIssue = (problem: GradingProblem, limit = 0): Issue => ({ field: '', rule: 'account', problem, limit })

/** In steps of 0.5; null: not graded. */
export const checkPoints = (points: number | null, most: number): Violation | undefined =>
  points === null || (Number.isInteger(points * 2) && points >= 0 && points <= most)
    ? undefined
    : { rule: 'account', problem: 'points', limit: most }

/** Id of the grading member. @throws DomainError submission_not_found for other actors. */
export function requireGraderId({ actor }: Context): string {
  return actor.kind === 'member' ? actor.id : throwSubmissionNotFound()
}

/** Answers that are assigned one by one are graded by their graders only. */
export function refuseOthersAnswers(
  ctx: Context,
  { submission, round }: LockedGrading,
  answers: readonly { number: number }[],
): void {
  const foreign = answers.find(({ number }) => otherGraderOf(ctx, submission, round, number))
  throwIfIssues(foreign ? [createGradingIssue('assignedToOther', foreign.number)] : [])
}

/** Points other than the key's need a comment: the candidate or an earlier grader may ask. */
function refuseUncommented(paper: readonly GradableQuestion[], grades: readonly QuestionGrade[]): void {
  const scoredOf = new Map(paper.map(({ number, scored }) => [number, scored]))
  for (const { number, points, comment } of grades) {
    const scored = scoredOf.get(number) ?? null
    const isOther = scored !== null && points !== null && points !== scored
    throwIfIssues(isOther && comment.trim() === '' ? [{ ...createGradingIssue('uncommented', scored), field: 'comment' }] : [])
  }
}

type LeveledGrade = QuestionGrade & { levels: readonly number[] }

/**
 * Adds the points that the chosen levels make, unless the grader gave others.
 *
 * @param before the grader's newest grade. @throws DomainError invalid (rule `account`: levels, unlikeRubric).
 */
function applyRubric(grade: QuestionGrade, rubric: Rubric, before: GradeByPerson | undefined): LeveledGrade {
  const { levels: enteredLevels = grade.points === before?.points ? before.levels : [] } = grade
  if (enteredLevels.every((level) => level === 0)) return { ...grade, levels: [] }
  // Forms leave out criteria without a level.
  const chosen = rubric.map((_, i) => enteredLevels[i] ?? 0)
  const isValid = enteredLevels.length <= rubric.length && rubric.every(({ levels }, i) => chosen[i]! <= levels.length)
  throwIfIssues(isValid ? [] : [createGradingIssue('levels', grade.number)])
  const rubricPoints = pointsOf(rubric, chosen)
  // Without scripts the field still has the points of the levels before.
  const isOutdated = before !== undefined && grade.points === before.points && !isDeepStrictEqual(chosen, before.levels)
  const points = rubricPoints !== null && (grade.points === null || isOutdated) ? rubricPoints : grade.points
  const isUnlike = rubricPoints !== null && points !== rubricPoints && grade.comment.trim() === ''
  throwIfIssues(isUnlike ? [{ ...createGradingIssue('unlikeRubric', rubricPoints), field: 'comment' }] : [])
  return { ...grade, points, levels: chosen }
}

/** Records that one grader began: the submission keeps one grader, also if the assessment gets two later. */
async function keepOneGrader(ctx: Context, submission: SubmissionToGrade): Promise<void> {
  if (submission.keepsOneGrader || submission.assessment.secondGrader) return
  const where = { ...scopeWhere(ctx), id: submission.id }
  await ctx.db.submission.updateMany({ where, data: { keepsOneGrader: true } })
}

/** @returns as {@link saveGrades}. */
async function writeGrades(
  ctx: Context,
  sheet: LockedGrading,
  grades: readonly QuestionGrade[],
  seenAt: Date | undefined,
): Promise<number | null> {
  const { db, deps, organization } = ctx
  const { submission, round, paper, me: graderId } = sheet
  const maximumOf = new Map(paper.map(({ number, points }) => [number, points]))
  for (const { number, points, comment } of grades)
    throwIfIssues(
      findIssues([
        ['points', checkPoints(points, maximumOf.get(number) ?? throwSubmissionNotFound())],
        ['comment', checkText(comment, MAX_COMMENT_LENGTH)],
      ]),
    )
  const ownGrades = (await findGrades(ctx, submission.id)).filter((grade) => grade.graderId === graderId && grade.round === round)
  const newest = new Map(ownGrades.map((grade) => [grade.questionNumber, grade]))
  const hasGiven = (number: number) => (newest.get(number)?.points ?? null) !== null
  const usesLevels = [...grades, ...ownGrades].some(({ levels = [] }) => levels.length > 0)
  const rubrics = usesLevels ? await findRubrics(ctx, submission.id) : new Map<number, Rubric>()
  const completedGrades = grades
    .map((grade) => (grade.points === (grade.stood ?? null) && !hasGiven(grade.number) ? { ...grade, points: null } : grade))
    .map((grade) => applyRubric(grade, rubrics.get(grade.number) ?? [], newest.get(grade.number)))
  const changed = completedGrades.filter(({ number, points, comment, levels }) => {
    const { points: before = null, comment: earlierComment = '', levels: chosen = [] } = newest.get(number) ?? {}
    return points !== before || comment !== earlierComment || !isDeepStrictEqual(levels, chosen)
  })
  refuseOthersAnswers(ctx, sheet, changed)
  refuseUncommented(paper, changed)
  const unseen = changed.find(({ number }) => seenAt && newest.has(number) && !(newest.get(number)!.updatedAt <= seenAt))
  if (unseen) return unseen.number
  if (changed.length > 0) await keepOneGrader(ctx, submission)
  const now = deps.clock()
  const key = { organizationId: organization.id, submissionId: submission.id, graderId, round }
  const corrected = ({ number, points }: QuestionGrade) => {
    const before = newest.get(number)
    if (!before) return undefined
    const isTyping = now.getTime() - before.updatedAt.getTime() < TYPED_WITHIN_MS
    const hasSamePoints = before.points === null || before.points === points || isTyping
    return hasSamePoints && now.getTime() - before.createdAt.getTime() < CORRECTED_WITHIN_MS ? before.id : undefined
  }
  for (const grade of changed) {
    const id = corrected(grade)
    const { points, comment } = grade
    const data = { points, comment, levels: [...grade.levels], updatedAt: now }
    if (id !== undefined) await db.grade.updateMany({ where: { ...key, id }, data })
  }
  const added = changed.filter((grade) => corrected(grade) === undefined)
  await db.grade.createMany({
    data: added.map(({ number, points, comment, levels }) => ({
      ...key,
      ...{ id: deps.newId(), questionNumber: number, points, comment, levels: [...levels], createdAt: now, updatedAt: now },
    })),
  })
  if (changed.length > 0) await callThirdGrader(ctx, submission, paper)
  return null
}

/** Records that a third grader is needed because two who have graded everything differ too much. It stays so for that grader's access. */
async function callThirdGrader(ctx: Context, submission: SubmissionToGrade, paper: readonly GradableQuestion[]): Promise<void> {
  const { id, assessment, needsThirdGrader } = submission
  if (needsThirdGrader || !assessment.secondGrader || !assessment.thirdGrader) return
  const grades = await findGrades(ctx, id)
  const isUndecided = countGrades(paper, grades, assessment).some(({ status }) => status.state === 'undecided')
  if (!isUndecided || !haveBothGraded(paper, grades)) return
  await ctx.db.submission.updateMany({ where: { ...scopeWhere(ctx), id }, data: { needsThirdGrader: true } })
}
